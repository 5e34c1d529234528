package vast

import (
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/probing"
)

// stored is the part that [SparseColumn] and [HeapColumn] share: a column whose elements a store keeps.
type stored[T any] struct {
	c *column
}

// keptBy makes s the store of a new column and returns the column's methods.
func keptBy[T any](c *column, s store) stored[T] {
	c.keep(s)
	k := stored[T]{c}
	c.later = k.later
	if s.storage() != probing.StorageHeap {
		c.recorded = c.typ
	}
	return k
}

func (k stored[T]) column() *column { return k.c }

// at returns the address of the element of a slot that has the component.
func (k stored[T]) at(slot uint32) *T { return (*T)(k.c.store.at(slot)) }

// Name returns the column's name.
func (k stored[T]) Name() string { return k.c.name }

// Len returns the number of entities that have the component. Complexity: as [Column.Len].
func (k stored[T]) Len() int { return k.c.len() }

// Has reports whether e is alive and has the component.
func (k stored[T]) Has(e Entity) bool { return k.c.has(e) }

// Edit returns e's component for writing, as [Column.Edit] does.
func (k stored[T]) Edit(e Entity) *T {
	if invariants.Enabled {
		k.c.touch(true)
	}
	if !k.c.has(e) {
		return nil
	}
	if k.c.tracked {
		k.c.wrote(e.slot)
	}
	return k.at(e.slot)
}

// Set overwrites e's component and reports whether e has one.
func (k stored[T]) Set(e Entity, v T) bool {
	p := k.Edit(e)
	if p == nil {
		return false
	}
	*p = v
	return true
}

// Add gives e the component, or overwrites e's component, and returns its address, as [Column.Add] does.
func (k stored[T]) Add(e Entity, v T) *T {
	alive, gained := k.c.add(e)
	if !alive {
		return nil
	}
	p := k.at(e.slot)
	*p = v
	if gained {
		k.c.tellAdded(e.slot)
	}
	return p
}

// EditOrAdd returns e's component for writing, and gives e a zero component first if e lacks it, as
// [Column.EditOrAdd] does.
func (k stored[T]) EditOrAdd(e Entity) *T {
	alive, gained := k.c.add(e)
	if !alive {
		return nil
	}
	if gained {
		k.c.tellAdded(e.slot)
	}
	return k.at(e.slot)
}

// Remove removes the component from e and reports whether e had one.
func (k stored[T]) Remove(e Entity) bool { return k.c.remove(e) }

// AddLater records that e gains the component with the value v, as by Add. A HeapColumn keeps the value on
// the Go heap until [World.Apply].
func (k stored[T]) AddLater(cs *Commands, e Entity, v T) { k.record(cs, commandAdd, e, v) }

// SetLater records that e's component is overwritten, as by Set. A HeapColumn keeps the value on the Go heap
// until [World.Apply].
func (k stored[T]) SetLater(cs *Commands, e Entity, v T) { k.record(cs, commandSet, e, v) }

// RemoveLater records that e loses the component, as by Remove.
func (k stored[T]) RemoveLater(cs *Commands, e Entity) { cs.recordFor(k.c, commandRemove, e, 0) }

// record records a command and its value. A value of a HeapColumn goes into the list that the Commands keep
// for the column. The command then holds the value's index in the list.
func (k stored[T]) record(cs *Commands, kind commandKind, e Entity, v T) {
	if k.c == nil || k.c.store.storage() != probing.StorageHeap {
		*(*T)(cs.recordFor(k.c, kind, e, unsafe.Sizeof(v))) = v
		return
	}
	index := (*uint64)(cs.recordFor(k.c, kind, e, 8))
	if n := int(k.c.id) + 1; n > len(cs.lists) {
		cs.lists = append(cs.lists, make([]list, n-len(cs.lists))...)
	}
	l, _ := cs.lists[k.c.id].(*listOf[T])
	if l == nil {
		l = new(listOf[T])
		cs.lists[k.c.id] = l
	}
	*index = uint64(len(l.values))
	l.values = append(l.values, v)
}

func (k stored[T]) later(cs *Commands, kind commandKind, e Entity, v unsafe.Pointer) bool {
	if kind == commandRemove {
		return k.c.remove(e)
	}
	p := k.recorded(cs, v)
	if kind == commandAdd {
		return k.Add(e, *p) != nil
	}
	return k.Set(e, *p)
}

// recorded returns the address of the value that record has recorded at v.
func (k stored[T]) recorded(cs *Commands, v unsafe.Pointer) *T {
	if k.c.store.storage() == probing.StorageHeap {
		return &cs.lists[k.c.id].(*listOf[T]).values[*(*uint64)(v)]
	}
	return (*T)(v)
}

// OnAdd registers a callback for each entity that gains the component, as [Column.OnAdd] does.
func (k stored[T]) OnAdd(f func(e Entity, v *T)) {
	k.c.hookAdd(func(e Entity) { f(e, k.at(e.slot)) })
}

// OnRemove registers a callback for each entity that loses the component, as [Column.OnRemove] does.
func (k stored[T]) OnRemove(f func(e Entity, v *T)) {
	k.c.hookRemove(func(e Entity) { f(e, k.at(e.slot)) })
}

// In reports whether the entities of a run have the component, as [Tag.In] does.
func (k stored[T]) In(r Run) bool { return k.c.in(r) }

// AddAll gives every entity that matches the query the component with the value v, or overwrites the entity's
// component, as [Column.AddAll] does. It returns how many entities match. In a HeapColumn, the entities share
// the memory to which v refers. Complexity: one step for each entity.
func (k stored[T]) AddAll(q Query, v T) int {
	var walk walk
	c := k.c
	c.startAll("AddAll", q, &walk)
	c.world.mustNotBeInCallback(opAddAll)
	gains, err := c.roomForAll(q)
	if err != nil {
		panic(err)
	}
	n, added := 0, 0
	// Bits change only in slots that the walk has passed, so the walk may continue.
	for walk.next() {
		added += giveRequired(gains, uint32(walk.cursor.Lo), uint32(walk.cursor.Hi))
		for lo, hi := uint32(walk.cursor.Lo), uint32(walk.cursor.Hi); lo < hi; {
			word, mask, end := wordOf(lo, hi)
			c.putIn(word, mask&^c.set.Word(uint(word)))
			added += c.giveIn(word, mask)
			k.write(word, mask, v)
			n += int(end - lo)
			lo = end
		}
	}
	c.world.changedAll(opAddAll, added)
	tellAllGains(gains)
	return n
}

// SetAll overwrites the component of every matching entity that has one, and returns the number of these
// entities, as [Column.SetAll] does. In a HeapColumn, the entities share the memory to which v refers.
func (k stored[T]) SetAll(q Query, v T) int {
	var walk walk
	k.c.startAll("SetAll", q, &walk)
	n := 0
	for walk.next() {
		for lo, hi := uint32(walk.cursor.Lo), min(uint32(walk.cursor.Hi), k.c.slots); lo < hi; {
			word, mask, end := wordOf(lo, hi)
			n += k.write(word, mask&k.c.set.Word(uint(word)), v)
			lo = end
		}
	}
	return n
}

// write overwrites the elements of the slots of mask in a word, and returns the number of these slots. All
// slots of mask must have the component.
func (k stored[T]) write(word uint32, mask uint64, v T) (n int) {
	for m := mask; m != 0; m &= m - 1 {
		*k.at(word*64 + trailingZeros(m)) = v
		n++
	}
	if k.c.tracked {
		k.c.wroteIn(word, mask)
	}
	return n
}

// RemoveAll removes the component from every matching entity that has one, and returns the number of these
// entities, as [Column.RemoveAll] does. Complexity: one step for each of these entities.
func (k stored[T]) RemoveAll(q Query) int { return k.c.removeAll("RemoveAll", q) }
