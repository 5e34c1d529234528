package vast

import (
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
)

// deep is the largest level. The level of a source is its depth in the hierarchy, but at most deep. More
// levels would cost more addresses, because each level has a set of slots. Walks find the entities at larger
// depths by their links.
const deep = 64

// link returns the link of a slot. It is sound for slots below k.linkRoom: these links are committed, never
// move and hold no Go pointers. The methods target and family are sound for the usable slots of their
// columns, for the same reasons.
func (k *relation) link(slot uint32) *link {
	return (*link)(unsafe.Add(k.linkBase, uintptr(slot)*unsafe.Sizeof(link{})))
}

func (k *relation) target(slot uint32) *Entity {
	return (*Entity)(unsafe.Add(k.sources.base, uintptr(slot)*unsafe.Sizeof(Entity{})))
}

func (k *relation) family(slot uint32) *family {
	return (*family)(unsafe.Add(k.targets.base, uintptr(slot)*unsafe.Sizeof(family{})))
}

func (k *relation) entity(slot uint32) Entity {
	return Entity{slot: slot, generation: *k.world.generation(slot)}
}

// first returns the slot of the first source of a slot's entity, or none.
func (k *relation) first(slot uint32) uint32 {
	if !k.targets.set.Test(uint(slot)) {
		return none
	}
	return k.family(slot).first
}

// level returns the level of a slot's entity, or 0 if the entity has no target.
func (k *relation) level(slot uint32) uint32 {
	if slot >= k.linkRoom {
		return 0
	}
	return k.link(slot).level
}

// below returns the level of the sources of a slot's entity.
func (k *relation) below(slot uint32) uint32 { return min(k.level(slot)+1, deep) }

// try calls f, which makes room for links. If f fails, try gives back what f committed.
func (k *relation) try(f func() error) error {
	return k.world.try([]*column{k.sources, k.targets}, f)
}

// room makes room for a link from source to target. On failure nothing has changed.
func (k *relation) room(source, target uint32) error {
	level := uint32(0)
	if !k.cyclic {
		level = k.below(target)
	}
	if k.reaches(source+1, level) && target < k.targets.slots &&
		(level == k.level(source) || k.first(source) == none) {
		return nil
	}
	return k.try(func() error { return k.makeRoom(source, target, level) })
}

// reaches reports whether the slots below end are usable as sources at all levels up to level.
func (k *relation) reaches(end, level uint32) bool {
	return end <= min(k.sources.slots, k.linkRoom) &&
		(level == 0 || int(level) <= len(k.levels) && int(end) <= k.levels[level-1].Len())
}

// makeRoom makes room for a link from source to target, which moves source to the given level. After a
// failure, the caller gives back the room.
func (k *relation) makeRoom(source, target, level uint32) error {
	if err := k.reach(source+1, level); err != nil {
		return err
	}
	if target >= k.targets.slots {
		if err := k.targets.grow(target + 1); err != nil {
			return err
		}
	}
	if level == k.level(source) || k.first(source) == none {
		return nil
	}
	// The descendants of source move to new levels too, except below an entity whose level stays the same.
	for slot, at := k.first(source), level+1; ; {
		down := none
		if to := min(at, deep); k.link(slot).level != to {
			if err := k.reach(slot+1, to); err != nil {
				return err
			}
			down = k.first(slot)
		}
		if down != none {
			slot = down
			at++
			continue
		}
		for slot != source && k.link(slot).next == none {
			slot = k.target(slot).slot
			at--
		}
		if slot == source {
			return nil
		}
		slot = k.link(slot).next
	}
}

// reach makes the slots below end usable as sources at all levels up to level. The set of a level reaches at
// least as far as the sets of larger levels, so that an entity can move to a smaller level without new room.
func (k *relation) reach(end, level uint32) error {
	if end > k.sources.slots {
		if err := k.sources.grow(end); err != nil {
			return err
		}
	}
	if end > k.linkRoom {
		if err := k.links.CommitTo(int(end)*int(unsafe.Sizeof(link{})), 0); err != nil {
			return err
		}
		k.linkRoom = uint32(k.links.Committed() / int(unsafe.Sizeof(link{})))
	}
	if k.cyclic {
		return nil
	}
	for i := range int(level) {
		if i == len(k.levels) {
			n := k.world.options.MaxEntities
			r, err := k.world.memory.room(k.world.options, bitset.Size(n))
			if err != nil {
				return err
			}
			set, err := bitset.New(r, n)
			if err != nil {
				return err
			}
			k.levels = append(k.levels, set)
		}
		if int(end) > k.levels[i].Len() {
			if err := k.levels[i].Grow(int(end)); err != nil {
				return err
			}
			if i > 0 && k.levels[i].Len() > k.levels[i-1].Len() {
				// The memory limit allowed a larger step for this level than for the level before.
				k.levels[i].Shrink(k.levels[i-1].Len())
			}
		}
	}
	return nil
}

func (k *relation) trimEnd(slots int) error {
	err := k.shrinkLinks(slots * int(unsafe.Sizeof(link{})))
	for _, level := range k.levels {
		level.Shrink(slots)
	}
	return err
}

func (k *relation) shrinkLinks(bytes int) error {
	err := k.links.DecommitTo(bytes)
	k.linkRoom = uint32(k.links.Committed() / int(unsafe.Sizeof(link{})))
	return err
}

// enter links a source to a target, and moves the source's descendants to their new levels. The source must
// have no target yet. There must be room.
func (k *relation) enter(slot uint32, target Entity) {
	k.join(slot, target)
	if !k.cyclic {
		k.setLevel(slot, k.below(target.slot))
		k.relevel(slot)
	}
}

// join does the work of enter except for the levels.
func (k *relation) join(slot uint32, target Entity) {
	t := k.targets
	if !t.set.Test(uint(target.slot)) {
		t.giveIn(target.slot/64, 1<<(target.slot%64))
		*k.family(target.slot) = family{first: none, last: none}
		t.tell(t.onAdd, "OnAdd", target.slot/64, 1<<(target.slot%64))
	}
	f := k.family(target.slot)
	l := k.link(slot)
	l.next, l.prev = none, f.last
	if f.last == none {
		f.first = slot
	} else {
		k.link(f.last).next = slot
	}
	f.last = slot
	f.count++
	*k.target(slot) = target
}

// unlink removes a source from the list of its target. The descendants of the source keep their levels.
func (k *relation) unlink(slot uint32) {
	target := k.target(slot).slot
	l, f := k.link(slot), k.family(target)
	if l.prev == none {
		f.first = l.next
	} else {
		k.link(l.prev).next = l.next
	}
	if l.next == none {
		f.last = l.prev
	} else {
		k.link(l.next).prev = l.prev
	}
	if f.count--; f.count == 0 {
		t := k.targets
		t.tell(t.onRemove, "OnRemove", target/64, 1<<(target%64))
		t.lose(target/64, 1<<(target%64))
	}
	k.setLevel(slot, 0)
}

// setLevel moves a slot to the set of another level. Level 0 has no set.
func (k *relation) setLevel(slot, level uint32) {
	l := k.link(slot)
	if l.level == level {
		return
	}
	if l.level > 0 {
		k.levels[l.level-1].Clear(uint(slot))
	}
	if level > 0 {
		k.levels[level-1].Set(uint(slot))
	}
	l.level = level
}

// relevel moves all descendants of root to the levels that follow from the level of root. It skips the
// descendants of an entity whose level stays the same, such as an entity that stays at the level deep.
func (k *relation) relevel(root uint32) {
	for slot := k.first(root); slot != none; {
		level := k.below(k.target(slot).slot)
		moved := k.link(slot).level != level
		k.setLevel(slot, level)
		slot = k.following(slot, root, moved)
	}
}

// following returns the next slot of the walk over all descendants of root, parents before children. The walk
// enters the descendants of slot only if down is set. following returns none at the end. It needs no stack,
// because each source leads back to its target.
func (k *relation) following(slot, root uint32, down bool) uint32 {
	if down {
		if first := k.first(slot); first != none {
			return first
		}
	}
	for slot != root {
		if next := k.link(slot).next; next != none {
			return next
		}
		slot = k.target(slot).slot
	}
	return none
}

// sourceStore is the store of a relation's sources. It removes and moves links. Relation.Set and the bulk
// methods make room and add links.
type sourceStore struct {
	inPlace
	k *relation
}

func (s sourceStore) mark() (undo func()) {
	k := s.k
	links := k.links.Committed()
	levels := make([]int, len(k.levels))
	for i, level := range k.levels {
		levels[i] = level.Len()
	}
	return func() {
		// After an error the memory stays committed, and the next growth uses it.
		_ = k.shrinkLinks(links)
		for i, level := range k.levels {
			if i < len(levels) {
				level.Shrink(levels[i])
			} else {
				level.Shrink(0) // the level is newer than the mark
			}
		}
	}
}

// empty forgets all links. Emptying the column of targets forgets the families.
func (s sourceStore) empty() {
	k := s.k
	set := k.sources.set
	for slot := set.Next(0); slot < uint(k.sources.slots); slot = set.Next(slot + 1) {
		k.link(uint32(slot)).level = 0
	}
	for _, level := range k.levels {
		level.Reset()
	}
}

func (s sourceStore) drop(slot uint32) {
	k := s.k
	k.unlink(slot)
	if !k.cyclic && k.first(slot) != none {
		k.detached = append(k.detached, slot)
	}
}

func (s sourceStore) move(old, new Entity) {
	k, from, to := s.k, old.slot, new.slot
	level := k.link(from).level
	*k.link(to) = *k.link(from)
	k.setLevel(from, 0)
	if level > 0 {
		k.link(to).level = 0
		k.setLevel(to, level)
	}
}

func (k *relation) roomAt(dst, src uint32) error {
	if k.sources.hasAt(src) {
		if err := k.reach(dst+1, k.level(src)); err != nil {
			return err
		}
	}
	if k.targets.hasAt(src) {
		return k.targets.grow(dst + 1)
	}
	return nil
}

// renew replaces the slots of moved entities in links and families by their new slots. Targets are
// components, and column.renew replaces them.
func (k *relation) renew(n *renewal) {
	for slot := range k.sources.present() {
		l := k.link(slot)
		l.next, l.prev = n.slot(l.next), n.slot(l.prev)
	}
	for slot := range k.targets.present() {
		f := k.family(slot)
		f.first, f.last = n.slot(f.first), n.slot(f.last)
	}
}

// dropped moves the descendants of the detached sources to their new levels.
func (s sourceStore) dropped() {
	k := s.k
	for _, slot := range k.detached {
		k.relevel(slot)
	}
	k.detached = k.detached[:0]
}
