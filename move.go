package vast

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/invariants"
)

// OnMove registers a callback. [Archetype.Pack] and [World.Regroup] call it for each entity that they move.
// The callback gets the entity's old reference, which is stale now, and the new reference. Use the callback
// to renew references that the world does not see: those in an index of package bulk, in a map of the
// program, or in a query with [Query.To] or [Query.Among].
//
// The callbacks run after all entities of the call have moved and the world has renewed its own references.
// They may write values, but must not change the structure of the world. If a callback panics, the world
// stays consistent: all entities of the call have moved, but the remaining callbacks do not run.
func (w *World) OnMove(f func(old, new Entity)) {
	w.mustBeOpen("World.OnMove")
	w.onMove = append(w.onMove, f)
}

// mustRenewKept panics if OnMove has no callback and a slot of from has a component with OnAdd or OnRemove
// callbacks. Such callbacks may have stored the reference of the entity that is about to move.
func (w *World) mustRenewKept(op operation, from []uint32) {
	if len(w.onMove) > 0 {
		return
	}
	for _, c := range w.watched {
		if len(c.onAdd)+len(c.onRemove) == 0 {
			continue
		}
		if slices.ContainsFunc(from, c.hasAt) {
			panic(fmt.Sprintf("vast: %s: column %s has callbacks, which may keep entities in an index or a "+
				"map: register a callback with World.OnMove that renews these entities, or that does "+
				"nothing if there are none", operations[op].name, c.name))
		}
	}
}

// move moves entities to free slots and renews the references that the world sees. There must be room in all
// columns, and the free slots must have generations left. After move, the caller calls tellMoves.
func (w *World) move(op operation, m *Moves) {
	if len(m.pairs) == 0 {
		return
	}
	linked := false
	for _, c := range w.columnsIn(m) {
		linked = c.move(m) && c.linked != "" || linked
	}
	w.moveLives(m)
	n := renewal{Moves: *m}
	if linked {
		for _, l := range w.relations {
			l.renew(&n)
		}
	}
	w.renew(&n)
	w.changed(op, len(m.pairs))
}

// columnsIn returns the columns that moved entities may have.
func (w *World) columnsIn(m *Moves) (columns []*column) {
	has := make([]bool, len(w.columns))
	last, extra := (*Archetype)(nil), uint64(0)
	for i, old := range m.words {
		if old.mask == 0 {
			continue
		}
		o := w.owner(m.first + uint32(i))
		extra |= o.extra
		if a := w.extents[o.extent].archetype; a != last {
			last = a
			for _, c := range a.columns {
				has[c.id] = true
			}
		}
	}
	for id, c := range w.columns {
		if has[id] || extra>>(id%64)&1 != 0 {
			columns = append(columns, c)
		}
	}
	return columns
}

// move moves the column's components of the moved entities, and reports whether a moved entity had the
// component.
func (c *column) move(m *Moves) (any bool) {
	c.moveElements(m)
	// gained collects slots of the word dst whose presence bits giveIn will set.
	dst, gained := uint32(0), uint64(0)
	for i := range m.words {
		old := &m.words[i]
		word := m.first + uint32(i)
		mask := old.mask & c.now(word)
		if mask == 0 {
			continue
		}
		any = true
		at := old.at
		for left := old.mask; left != 0; left &= left - 1 {
			slot := m.pairs[at].new.slot
			at++
			if mask&left&-left == 0 {
				continue
			}
			if slot/64 != dst {
				c.giveIn(dst, gained)
				dst, gained = slot/64, 0
			}
			gained |= 1 << (slot % 64)
		}
		if invariants.Enabled {
			c.poison(word, mask)
		}
		c.lose(word, mask)
	}
	if any { // if not, the column may have no memory
		c.giveIn(dst, gained)
	}
	return any
}

// moveElements moves the elements of the moved entities that have the component.
func (c *column) moveElements(m *Moves) {
	if c.bytes == 0 && c.store == nil {
		return
	}
	first := uint32(0) // index of the first pair that was neither moved nor skipped
	for i := range m.words {
		old := &m.words[i]
		mask := old.mask & c.now(m.first+uint32(i))
		if mask == old.mask {
			continue
		}
		at := old.at
		c.movePairs(m.pairs[first:at])
		for left := old.mask; left != 0; left &= left - 1 {
			if mask&left&-left != 0 {
				c.movePairs(m.pairs[at : at+1])
			}
			at++
		}
		first = at
	}
	c.movePairs(m.pairs[first:])
}

// movePairs moves the elements of entities, which must have the component. The loops for the common sizes are
// so short that the processor loads several elements at the same time.
func (c *column) movePairs(pairs []movedEntity) {
	if invariants.Enabled {
		for i := range pairs {
			c.mustBeFree(pairs[i].new.slot, pairs[i].new.slot+1)
		}
	}
	base, bytes := c.base, uintptr(c.bytes)
	switch bytes {
	case 0:
	case 8:
		moveSized[[1]uint64](base, pairs)
	case 16:
		moveSized[[2]uint64](base, pairs)
	case 24:
		moveSized[[3]uint64](base, pairs)
	case 32:
		moveSized[[4]uint64](base, pairs)
	default:
		for i := range pairs {
			copy(unsafe.Slice((*byte)(unsafe.Add(base, uintptr(pairs[i].new.slot)*bytes)), bytes),
				unsafe.Slice((*byte)(unsafe.Add(base, uintptr(pairs[i].old.slot)*bytes)), bytes))
		}
	}
	if c.store != nil {
		for i := range pairs {
			c.store.move(pairs[i].old, pairs[i].new)
		}
	}
}

// moveSized moves elements of the size of T. T must not hold Go pointers, and the slots must be usable.
func moveSized[T any](base unsafe.Pointer, pairs []movedEntity) {
	size := unsafe.Sizeof(*(*T)(nil))
	for i := range pairs {
		*(*T)(unsafe.Add(base, uintptr(pairs[i].new.slot)*size)) =
			*(*T)(unsafe.Add(base, uintptr(pairs[i].old.slot)*size))
	}
}

// moveLives moves the live bits of the moved entities to the new slots, and gives these slots the new
// generations.
func (w *World) moveLives(m *Moves) {
	for i := range m.pairs {
		p := &m.pairs[i]
		*w.generation(p.new.slot) = p.new.generation
		if generation.Exhausted(p.new.generation) {
			w.worn++
		}
		w.live.Set(uint(p.new.slot))
		w.extents[w.owner(p.new.slot/64).extent].used++
	}
	var emptied []*extent
	for i, old := range m.words {
		if old.mask == 0 {
			continue
		}
		word := m.first + uint32(i)
		o := w.owner(word)
		x := w.extents[o.extent]
		w.live.AndNot(uint(word), old.mask)
		x.used -= uint32(bits.OnesCount64(old.mask))
		if w.live.Word(uint(word)) == 0 {
			o.extra = 0
		}
		if w.worn > 0 {
			x.used += w.wornIn(x, word, old.mask)
		}
		if word < x.archetype.word {
			x.archetype.goTo(x, word)
		}
		if x.used == 0 {
			emptied = append(emptied, x)
		}
	}
	for _, x := range emptied {
		w.emptied(x)
	}
}

// renew renews the references that the world sees: in components, resources, names and commands.
func (w *World) renew(n *renewal) {
	for _, c := range w.columns {
		c.renew(n)
	}
	for typ, p := range w.resources {
		if r := referencesIn(typ); r != nil {
			n.value(reflect.ValueOf(p).UnsafePointer(), r)
		}
	}
	if w.names != nil {
		w.names.renew(n.Moves)
	}
	w.commands.mu.Lock()
	defer w.commands.mu.Unlock()
	for _, c := range w.commands.all {
		c.renew(n)
	}
}

func (w *World) tellMoves(m Moves) {
	if len(w.onMove) == 0 {
		return
	}
	w.calling = moved
	defer func() { w.calling = callback{} }()
	before := w.changes
	for i := range m.pairs {
		for _, f := range w.onMove {
			f(m.pairs[i].old, m.pairs[i].new)
			if w.changes != before {
				w.changedWhile(moved.String())
			}
		}
	}
}
