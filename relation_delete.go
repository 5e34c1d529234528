package vast

import (
	"cmp"
	"math/bits"
	"slices"
)

// linked has the methods of a relation, or of edges, that deletions, moves and checks need. Each uint32 is a
// slot.
type linked interface {
	columns() (sources, targets *column)
	rule() OnDelete
	// appendSources appends the sources of a target.
	appendSources(to []uint32, target uint32) []uint32
	// appendTargets appends the targets of a source.
	appendTargets(to []uint32, source uint32) []uint32
	// leads reports whether a target of a slot's entity is in a set.
	leads(source uint32, to members) bool
	// countSources returns the number of links to a target, and markSources sets the bits of their sources.
	countSources(target uint32) int
	markSources(bits []uint64, target uint32)
	// unlinkSource removes all links of a source that is deleted. The caller clears the source's presence
	// bit.
	unlinkSource(slot uint32)
	// unlinkTarget removes all links to a target that is deleted, and returns how many sources lost their
	// last link.
	unlinkTarget(slot uint32) (orphans int)
	// trimEnd decommits the memory that the links use besides the two columns, for the slots from end on.
	// These slots hold no entities.
	trimEnd(end int) error
	// roomAt makes room in slot dst for the links of the entity in slot src.
	roomAt(dst, src uint32) error
	// renew renews the slots in links after some entities were moved.
	renew(n *renewal)
	check(must func(bool, string, ...any))
}

func (k *relation) columns() (sources, targets *column) { return k.sources, k.targets }
func (k *relation) rule() OnDelete                      { return k.onDelete }

func (k *relation) appendTargets(to []uint32, slot uint32) []uint32 {
	if k.sources.set.Test(uint(slot)) {
		to = append(to, k.target(slot).slot)
	}
	return to
}

func (k *relation) unlinkSource(slot uint32) { k.unlink(slot) }

func (k *relation) unlinkTarget(target uint32) (orphans int) {
	for slot := k.first(target); slot != none; orphans++ {
		next := k.link(slot).next
		k.unlink(slot)
		k.sources.lose(slot/64, 1<<(slot%64))
		if !k.cyclic {
			k.relevel(slot)
		}
		slot = next
	}
	return orphans
}

// sever removes all links from and to the doomed entities, and returns how many surviving sources lost their
// last link. It unlinks the doomed sources first, so that only surviving descendants of an orphan move to new
// levels.
func sever(l linked, doomed []wordMask) (orphans int) {
	sources, targets := l.columns()
	for _, g := range doomed {
		if g.word >= sources.slots/64 {
			break
		}
		lost := g.mask & sources.set.Word(uint(g.word))
		for m := lost; m != 0; m &= m - 1 {
			l.unlinkSource(g.word*64 + trailingZeros(m))
		}
		if lost != 0 {
			sources.lose(g.word, lost)
		}
	}
	for _, g := range doomed {
		if g.word >= targets.slots/64 {
			break
		}
		for m := g.mask & targets.set.Word(uint(g.word)); m != 0; m &= m - 1 {
			orphans += l.unlinkTarget(g.word*64 + trailingZeros(m))
		}
	}
	return orphans
}

// deletion is the set of entities that one call deletes.
type deletion struct {
	world *World
	marks []uint64 // one bit for each slot: whether the slot's entity is in the set
	words []uint32 // indices of the words in which marks has bits
	queue []uint32 // targets in the set whose sources the method close must still add
	slots []uint32 // buffer
}

// startDeletion returns an empty set with the buffers of the last deletion, which w.deletion keeps. While a
// deletion calls hooks, w.deletion is nil: if a hook panics, the buffers are lost.
func (w *World) startDeletion() *deletion {
	d := w.deletion
	w.deletion = nil
	if d == nil {
		d = &deletion{world: w}
	}
	if n := int(w.frontier) - len(d.marks); n > 0 {
		d.marks = append(d.marks, make([]uint64, n)...)
	}
	return d
}

func (d *deletion) clear() {
	for _, word := range d.words {
		d.marks[word] = 0
	}
	d.words = d.words[:0]
}

func (d *deletion) has(slot uint32) bool { return d.marks[slot/64]>>(slot%64)&1 != 0 }

// add adds the slots of mask in a word to the set.
func (d *deletion) add(word uint32, mask uint64) {
	mask &^= d.marks[word]
	if mask == 0 {
		return
	}
	if d.marks[word] == 0 {
		d.words = append(d.words, word)
	}
	d.marks[word] |= mask
	var targets uint64
	for _, l := range d.world.relations {
		if _, t := l.columns(); l.rule() == Cascade && word < t.slots/64 {
			targets |= mask & t.set.Word(uint(word))
		}
	}
	for ; targets != 0; targets &= targets - 1 {
		d.queue = append(d.queue, word*64+trailingZeros(targets))
	}
}

// close adds the entities that Cascade deletes together with the entities in the set.
func (d *deletion) close() {
	for len(d.queue) > 0 {
		slot := d.queue[len(d.queue)-1]
		d.queue = d.queue[:len(d.queue)-1]
		for _, l := range d.world.relations {
			if l.rule() != Cascade {
				continue
			}
			d.slots = l.appendSources(d.slots[:0], slot)
			for _, s := range d.slots {
				d.add(s/64, 1<<(s%64))
			}
		}
	}
}

// refused appends the slots of those entities in the set that must live because entities outside the set
// refer to them.
func (d *deletion) refused(to []uint32) []uint32 {
	for _, l := range d.world.relations {
		if l.rule() != Refuse {
			continue
		}
		_, t := l.columns()
		for _, word := range d.words {
			if word >= t.slots/64 {
				continue
			}
			for m := d.marks[word] & t.set.Word(uint(word)); m != 0; m &= m - 1 {
				slot := word*64 + trailingZeros(m)
				d.slots = l.appendSources(d.slots[:0], slot)
				if slices.ContainsFunc(d.slots, func(s uint32) bool { return !d.has(s) }) {
					to = append(to, slot)
				}
			}
		}
	}
	return to
}

// spare removes the entities of the given slots, which must live, from the seeds. It also removes each seed
// whose deletion would delete one of these entities, or would be refused because one of these entities lives.
func (d *deletion) spare(seeds []wordMask, slots []uint32) []wordMask {
	spared := make(map[uint32]uint64)
	for len(slots) > 0 {
		slot := slots[len(slots)-1]
		slots = slots[:len(slots)-1]
		if spared[slot/64]>>(slot%64)&1 != 0 || !d.has(slot) {
			continue
		}
		spared[slot/64] |= 1 << (slot % 64)
		for _, l := range d.world.relations {
			if l.rule() != Orphan {
				slots = l.appendTargets(slots, slot)
			}
		}
	}
	for i := range seeds {
		seeds[i].mask &^= spared[seeds[i].word]
	}
	return seeds
}

// doomed returns the set, in the order of its words.
func (d *deletion) doomed() []wordMask {
	slices.Sort(d.words)
	all := make([]wordMask, len(d.words))
	for i, word := range d.words {
		all[i] = wordMask{word, d.marks[word]}
	}
	return all
}

// orphans returns the surviving sources that lose their target in a relation, in the order of their words.
func (d *deletion) orphans(l linked, doomed []wordMask) []wordMask {
	k, ok := l.(*relation)
	if !ok || k.onDelete != Orphan {
		return nil
	}
	var slots []uint32
	for _, g := range doomed {
		if g.word >= k.targets.slots/64 {
			break
		}
		for m := g.mask & k.targets.set.Word(uint(g.word)); m != 0; m &= m - 1 {
			d.slots = k.appendSources(d.slots[:0], g.word*64+trailingZeros(m))
			for _, s := range d.slots {
				if !d.has(s) {
					slots = append(slots, s)
				}
			}
		}
	}
	return gainsFrom(slots)
}

func gainsFrom(slots []uint32) []wordMask { return appendGains(nil, slots) }

// appendGains appends the slots to gains, which must be empty. It sorts the slots.
func appendGains(gains []wordMask, slots []uint32) []wordMask {
	slices.Sort(slots)
	for _, s := range slots {
		if n := len(gains); n > 0 && gains[n-1].word == s/64 {
			gains[n-1].mask |= 1 << (s % 64)
		} else {
			gains = append(gains, wordMask{s / 64, 1 << (s % 64)})
		}
	}
	return gains
}

func (w *World) isTarget(slot uint32) bool {
	for _, l := range w.relations {
		if _, t := l.columns(); t.set.Test(uint(slot)) {
			return true
		}
	}
	return false
}

// deleteLinked deletes the entities of the seeds and all entities that must be deleted with them, and returns
// how many it deleted. If a relation refuses the deletion and allOrNothing is true, deleteLinked deletes
// nothing. If allOrNothing is false, it spares the entities that must live.
func (w *World) deleteLinked(op operation, seeds []wordMask, allOrNothing bool) (n int) {
	d := w.startDeletion()
	for {
		for _, g := range seeds {
			d.add(g.word, g.mask)
		}
		d.close()
		refused := d.refused(nil)
		if len(refused) == 0 {
			break
		}
		if allOrNothing {
			seeds = nil
		} else {
			seeds = d.spare(seeds, refused)
		}
		d.clear()
	}
	doomed := d.doomed()
	relations := w.relations // hooks may register more relations
	lost := make([][]wordMask, len(relations))
	for i, l := range relations {
		lost[i] = d.orphans(l, doomed)
	}
	d.clear()
	w.tellDoomed(doomed, relations, lost)
	w.deletion = d
	changes := 0
	for _, l := range relations {
		changes += sever(l, doomed)
	}
	for _, g := range doomed {
		w.dropLosses(g.word, g.mask)
		count := bits.OnesCount64(g.mask)
		w.deleteIn(g.word, g.mask, uint32(count))
		n += count
	}
	w.changedAll(op, n+changes)
	return n
}

// tellDoomed calls the hooks for the components of the doomed entities, and for the targets that surviving
// sources lose.
func (w *World) tellDoomed(doomed []wordMask, relations []linked, lost [][]wordMask) {
	for _, c := range w.watched {
		all := doomed
		for i, l := range relations {
			if sources, _ := l.columns(); sources == c && len(lost[i]) > 0 {
				all = merge(doomed, lost[i])
			}
		}
		for _, g := range all {
			if g.word < c.slots/64 {
				c.tell(c.onRemove, "OnRemove", g.word, g.mask&c.set.Word(uint(g.word)))
			}
		}
	}
}

func merge(a, b []wordMask) []wordMask {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(a, b wordMask) int { return cmp.Compare(a.word, b.word) })
	joined := all[:0]
	for _, g := range all {
		if n := len(joined); n > 0 && joined[n-1].word == g.word {
			joined[n-1].mask |= g.mask
		} else {
			joined = append(joined, g)
		}
	}
	return joined
}

// deleteAllLinked does the work of DeleteAll in a world with relations or edges, and in a world that has both
// Disabled tags and observed columns (see World.observe). It collects the matches before it removes the first
// link or calls the first hook, because removed links and hooks that disable entities change which entities
// match.
func (w *World) deleteAllLinked(k *walk) int {
	var seeds []wordMask
	for k.next() {
		for lo, end := uint32(k.cursor.Lo), uint32(k.cursor.Hi); lo < end; {
			word, mask, hi := wordOf(lo, end)
			seeds = append(seeds, wordMask{word, mask})
			lo = hi
		}
	}
	return w.deleteLinked(opDeleteAll, seeds, false)
}
