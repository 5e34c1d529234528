package vast

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/layout"
)

// Column is the storage of one component: an array of T whose index is the entity's slot. A Column is a small
// value; copy it freely. Make one with [NewColumn].
//
// A pointer to a component is valid until the entity loses the component, or until [Archetype.Pack] or
// [World.Regroup] moves the entity. Nothing else moves components. An invalid pointer may point to the
// component of another entity. No pointer may be used after the world is closed.
type Column[T any] struct {
	base unsafe.Pointer
	c    *column
}

// useHeapColumn is the remedy for a component that holds Go pointers.
const useHeapColumn = "make the column with NewHeapColumn"

// NewColumn registers a component with the world, under the name of its type. If a world has two columns of
// one declared type, rename one of them with [Column.Named]; otherwise the next NewColumn, [World.Query] or
// [World.Archetype] panics. T must not hold Go pointers, strings, slices, maps, channels, functions or
// interfaces, at any depth: NewColumn panics with the path of such a field. NewColumn reserves addresses and
// commits no memory. NewColumn panics with a [*vm.Error] if too few addresses are left.
func NewColumn[T any](w *World) Column[T] {
	w.mustTakeColumns("NewColumn")
	layout.CheckOr[T]("vast: NewColumn", useHeapColumn)
	typ := reflect.TypeFor[T]()
	c, err := w.register(typ.Name(), typ)
	if err != nil {
		panic(err)
	}
	col := Column[T]{base: c.base, c: c}
	c.later, c.recorded = col.later, c.typ
	return col
}

// Named gives the column a name in place of its type's name, for statistics and messages, and returns the
// column. An empty name changes nothing.
func (c Column[T]) Named(name string) Column[T] {
	c.c.rename(name)
	return c
}

func (c Column[T]) column() *column { return c.c }

// Name returns the column's name.
func (c Column[T]) Name() string { return c.c.name }

// Len returns the number of entities that have the component. Complexity: one step for each 4,096 slots, and
// one step for each 64-slot word in which some entities have the component and others lack it.
func (c Column[T]) Len() int { return c.c.len() }

// Has reports whether e is alive and has the component.
func (c Column[T]) Has(e Entity) bool { return c.c.has(e) }

// Get returns e's component, or nil if e is stale or lacks it. Complexity: constant; one test of a generation
// and one of a bit.
func (c Column[T]) Get(e Entity) *T {
	if invariants.Enabled {
		c.c.touch(false)
	}
	if !c.c.has(e) {
		return nil
	}
	return c.at(e.slot)
}

// at is sound for slots below c.c.slots: their elements are committed, never move, and hold no Go pointers.
func (c Column[T]) at(slot uint32) *T {
	return (*T)(unsafe.Add(c.base, uintptr(slot)*unsafe.Sizeof(*(*T)(nil))))
}

// Edit returns e's component for writing, or nil if e is stale or lacks it. Unlike [Column.Get], Edit marks
// the component as written for the column's trackers, even if the caller writes nothing. Without trackers,
// Edit costs one test more than Get.
//
// Several goroutines may edit different entities concurrently, while no goroutine changes the structure.
func (c Column[T]) Edit(e Entity) (p *T) {
	if invariants.Enabled {
		c.c.touch(true)
	}
	// The methods has and at are inlined by hand, so that the compiler can inline Edit. Edit only sets a
	// dirty bit, also to stay small: column.flushDirty later moves the bit into the trackers' marks.
	if e.slot >= c.c.slots || *(*uint32)(unsafe.Add(c.c.gens, uintptr(e.slot)*4)) != e.generation ||
		*(*uint64)(unsafe.Add(c.c.words, e.slot/64*8))>>(e.slot%64)&1 == 0 {
		return
	}
	if c.c.tracked {
		atomic.OrUint64((*uint64)(unsafe.Add(c.c.dirty, e.slot/64*8)), 1<<(e.slot%64))
	}
	return (*T)(unsafe.Add(c.base, uintptr(e.slot)*unsafe.Sizeof(*p)))
}

// Set overwrites e's component and reports whether e has one.
func (c Column[T]) Set(e Entity, v T) (ok bool) {
	if invariants.Enabled {
		c.c.touch(true)
	}
	// Edit is inlined by hand, so that the compiler can inline Set.
	if e.slot >= c.c.slots || *(*uint32)(unsafe.Add(c.c.gens, uintptr(e.slot)*4)) != e.generation ||
		*(*uint64)(unsafe.Add(c.c.words, e.slot/64*8))>>(e.slot%64)&1 == 0 {
		return
	}
	if c.c.tracked {
		atomic.OrUint64((*uint64)(unsafe.Add(c.c.dirty, e.slot/64*8)), 1<<(e.slot%64))
	}
	*(*T)(unsafe.Add(c.base, uintptr(e.slot)*unsafe.Sizeof(v))) = v
	return true
}

// Add gives e the component, or overwrites e's component, and returns its address. Add returns nil if e is
// stale. Add panics if the world is closed. If Add needs memory and gets none, it panics with a [*vm.Error];
// see [Column.Grow].
func (c Column[T]) Add(e Entity, v T) *T {
	// Add handles the usual case without a call: e is alive, nothing watches the column, and the summary of
	// e's word does not change. A call would add stores. While the store to an element waits for memory,
	// later stores queue behind it, and the processor stalls when the queue is full.
	k := c.c
	if invariants.Enabled || k.attended || e.slot >= k.slots ||
		*(*uint32)(unsafe.Add(k.gens, uintptr(e.slot)*4)) != e.generation {
		return c.addSlowly(e, v)
	}
	word := (*uint64)(unsafe.Add(k.words, uintptr(e.slot/64)*8))
	before := *word
	if after := before | 1<<(e.slot%64); after != before {
		w := k.world
		if live := *w.liveWord(e.slot / 64); before == 0 || after == ^uint64(0) || w.calling.what != "" ||
			live>>(e.slot%64)&1 == 0 {
			return c.addSlowly(e, v)
		}
		*word = after
		w.changed(opAdd, 1)
	}
	p := c.at(e.slot)
	*p = v
	return p
}

// addSlowly is Add for all cases.
//
//go:noinline
func (c Column[T]) addSlowly(e Entity, v T) *T {
	alive, gained := c.c.add(e)
	if !alive {
		return nil
	}
	p := c.at(e.slot)
	*p = v
	if gained && c.c.observed {
		c.c.tellAdded(e.slot)
	}
	return p
}

// EditOrAdd returns e's component for writing, or nil if e is stale. If e has the component, EditOrAdd is
// [Column.Edit]: it keeps the value and does not change the structure, so a loop over a query may call it. If
// e lacks the component, EditOrAdd is [Column.Add] of a zero value.
func (c Column[T]) EditOrAdd(e Entity) *T {
	alive, gained := c.c.add(e)
	if !alive {
		return nil
	}
	p := c.at(e.slot)
	if gained {
		*p = *new(T)
		if c.c.observed {
			c.c.tellAdded(e.slot)
		}
	}
	return p
}

// Remove takes the component from e and reports whether e had one. Remove does not clear the element's
// memory.
func (c Column[T]) Remove(e Entity) bool { return c.c.remove(e) }

// Grow makes room for n additions: the next n additions cannot fail for entities that fit into the world's
// present memory. For a column without required components, n does not matter: Grow makes room for all of
// these entities. If Grow gets no memory, it returns a [*vm.Error], as [Archetype.Grow] does.
func (c Column[T]) Grow(n int) error { return c.c.growForAdditions("Column.Grow", n) }

// AddLater records that e gains the component with the value v, as by [Column.Add].
func (c Column[T]) AddLater(cs *Commands, e Entity, v T) {
	*(*T)(cs.recordFor(c.c, commandAdd, e, unsafe.Sizeof(v))) = v
}

// SetLater records that e's component is overwritten, as by [Column.Set].
func (c Column[T]) SetLater(cs *Commands, e Entity, v T) {
	*(*T)(cs.recordFor(c.c, commandSet, e, unsafe.Sizeof(v))) = v
}

// RemoveLater records that e loses the component, as by [Column.Remove].
func (c Column[T]) RemoveLater(cs *Commands, e Entity) { cs.recordFor(c.c, commandRemove, e, 0) }

func (c Column[T]) later(_ *Commands, kind commandKind, e Entity, v unsafe.Pointer) bool {
	switch kind {
	case commandAdd:
		return c.Add(e, *(*T)(v)) != nil
	case commandSet:
		return c.Set(e, *(*T)(v))
	}
	return c.c.remove(e)
}

// OnAdd registers a callback for each entity that gains the component. [Column.Add] calls f after it has
// written the value. [Archetype.New] calls f while the component is still zero. [Archetype.NewN] calls f
// after its fill. Overwriting a component does not count as a gain. Callbacks run in the order of their
// registration, for entities in the order of their slots, and only for gains after the registration.
//
// f may read and write values, run queries, make room, and register columns and callbacks. A callback that f
// registers is called for the entities that follow. f must not change the structure of the world: such a
// change panics.
func (c Column[T]) OnAdd(f func(e Entity, v *T)) {
	c.c.hookAdd(func(e Entity) { f(e, c.at(e.slot)) })
}

// OnRemove registers a callback for each entity that loses the component. All removals, also those by
// [World.Delete], [World.Reset] and [World.Close], call f while the entity still has the component. f can
// release resources that the component refers to. If an operation removes several components, all callbacks
// run before the first removal: column by column in the order of registration, and by slot in each column.
//
// f must follow the rules of [Column.OnAdd]. If f panics, nothing has been removed.
func (c Column[T]) OnRemove(f func(e Entity, v *T)) {
	c.c.hookRemove(func(e Entity) { f(e, c.at(e.slot)) })
}

// Slice returns the components of a run as a slice, one element for each entity. The run must come from a
// query with this column, or from [Archetype.NewN] of an archetype with this column. The slice is valid as
// long as a pointer to each of these components is valid.
func (c Column[T]) Slice(r Run) []T {
	if r.start+r.n > c.c.slots {
		panic(beyond{c.c, r})
	}
	if invariants.Enabled {
		c.c.mustHave(r)
		c.c.touch(false)
	}
	return unsafe.Slice(c.at(r.start), r.n)
}

// TrySlice is [Column.Slice] for a run of a query with [Query.Optional]: it returns nil if the run's entities
// lack the component. TrySlice looks at the run's first entity only.
func (c Column[T]) TrySlice(r Run) []T {
	if !c.c.in(r) {
		return nil
	}
	return c.Slice(r)
}

// EditRun returns the components of a run for writing. Unlike [Column.Slice], EditRun marks each component as
// written, as [Column.Edit] does. Complexity: one step for each 64 entities of the run.
func (c Column[T]) EditRun(r Run) []T {
	if invariants.Enabled {
		c.c.touch(true)
	}
	s := c.Slice(r)
	if c.c.tracked {
		c.c.wroteRange(r.start, r.start+r.n)
	}
	return s
}

// In reports whether the entities of a run have the component, as [Tag.In] does.
func (c Column[T]) In(r Run) bool { return c.c.in(r) }

// AddAll gives every entity that matches the query the component with the value v, or overwrites the
// entity's component. It returns how many entities match. The query sees the world as it was before the call.
// AddAll makes room before it changes anything: if it gets no memory, it panics with a [*vm.Error]; see
// [Column.Grow]. AddAll panics if the query is of another world. Complexity: one step for each 64 entities,
// and one write for each value.
func (c Column[T]) AddAll(q Query, v T) int {
	var k walk
	c.c.startAll("Column.AddAll", q, &k)
	k.world.mustNotBeInCallback(opAddAll)
	gains, err := c.c.roomForAll(q)
	if err != nil {
		panic(err)
	}
	n, added, changes := 0, 0, 0
	// Additions do not disturb the walk, because they change bits only in slots that the walk has passed.
	for k.next() {
		run := k.run()
		changes += giveRequired(gains, run.start, run.start+run.n)
		if gained := c.c.give(run.start, run.start+run.n); gained > 0 {
			c.c.adviseHuge(run.start, run.start+run.n)
			added += gained
		}
		c.write(run.start, run.start+run.n, v)
		n += run.Len()
	}
	c.c.endPromises(added)
	k.world.changedAll(opAddAll, changes+added)
	tellAllGains(gains)
	return n
}

// SetAll overwrites the component of every matching entity that has one, and returns the number of these
// entities. SetAll does not change the structure. It panics if the query is of another world. Complexity: as
// for [Column.AddAll].
func (c Column[T]) SetAll(q Query, v T) int {
	var k walk
	c.c.startAll("Column.SetAll", q, &k)
	n := 0
	for k.next() {
		lo, end := uint32(k.cursor.Lo), min(uint32(k.cursor.Hi), c.c.slots)
		for lo < end {
			lo = uint32(c.c.set.Next(uint(lo)))
			if lo >= end {
				break
			}
			hi := min(uint32(c.c.set.NextClear(uint(lo))), end)
			c.write(lo, hi, v)
			n += int(hi - lo)
			lo = hi
		}
	}
	return n
}

// RemoveAll takes the component from every entity that matches the query, and returns how many entities had
// one. The query sees the world as it was before the call. RemoveAll does not clear the elements' memory. It
// panics if the query is of another world. Complexity: one step for each 64 entities.
func (c Column[T]) RemoveAll(q Query) int { return c.c.removeAll("Column.RemoveAll", q) }

// write sets the elements of the slots [lo, hi). These slots must be usable.
func (c Column[T]) write(lo, hi uint32, v T) {
	s := unsafe.Slice(c.at(lo), hi-lo)
	for i := range s {
		s[i] = v
	}
	if c.c.tracked {
		c.c.wroteRange(lo, hi)
	}
}

// beyond is the value that [Column.Slice] panics with. The method Error builds the message, so that Slice is
// small enough for inlining.
type beyond struct {
	c *column
	r Run
}

func (b beyond) Error() string {
	if b.c.world.closed {
		return closedMessage("Column.Slice", b.c.world)
	}
	return fmt.Sprintf("vast: Column[%s].Slice: the run [%d, %d) reaches beyond the column's %d slots: take "+
		"the run from a query that has this column", b.c.name, b.r.start, b.r.start+b.r.n, b.c.slots)
}
