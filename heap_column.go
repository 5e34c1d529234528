package vast

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// HeapColumn is a [Column] for components that hold Go pointers: strings, slices, maps, interfaces and the like. Its
// elements lie on the Go heap, in fixed blocks that never move, so the collector looks at them; everything else is as with
// a Column: presence bits, queries, verbs. Make one with [NewHeapColumn].
//
// An element is cleared when its entity loses it, so that the collector gets back what it referred to; a block without
// elements is given back too. Memory on the Go heap is not counted by vm.Limit.
type HeapColumn[T any] struct {
	c *column
	s *heapStore[T]
}

// NewHeapColumn registers a component of any Go type with the world. Of one without Go pointers a [Column] is the faster
// storage. It takes addresses only, and panics with a [*vm.Error] where there are none left.
func NewHeapColumn[T any](w *World) HeapColumn[T] {
	return NewHeapColumnWith[T](w, ColumnOptions{})
}

// NewHeapColumnWith is [NewHeapColumn] with options.
func NewHeapColumnWith[T any](w *World, o ColumnOptions) HeapColumn[T] {
	w.mustBeOpen("NewHeapColumn")
	typ := reflect.TypeFor[T]()
	if o.Name == "" {
		o.Name = typ.Name()
	}
	c, err := w.register(o.Name, nil)
	if err != nil {
		panic(err)
	}
	c.typ = typ
	s := newHeapStore[T]()
	c.keep(s)
	col := HeapColumn[T]{c, s}
	c.later = col.later
	return col
}

func (c HeapColumn[T]) column() *column { return c.c }

// Len returns the number of entities that have the component. Complexity: as [Column.Len].
func (c HeapColumn[T]) Len() int { return c.c.len() }

// Name returns the column's name.
func (c HeapColumn[T]) Name() string { return c.c.name }

// Has reports whether e is alive and has the component.
func (c HeapColumn[T]) Has(e Entity) bool { return c.c.has(e) }

// Get returns e's component, or nil when e is stale or has none. The pointer stays valid as Go pointers do; once e has lost
// the component it no longer is e's.
func (c HeapColumn[T]) Get(e Entity) *T {
	if invariants.Enabled {
		c.c.touch(false)
	}
	if !c.c.has(e) {
		return nil
	}
	return c.s.at(e.slot)
}

// Add gives e the component, or overwrites the one that it has, and returns where it lies, as [Column.Add] does.
func (c HeapColumn[T]) Add(e Entity, v T) *T {
	had := c.c.has(e)
	if !c.c.add(e) {
		return nil
	}
	p := c.s.at(e.slot)
	*p = v
	if !had {
		c.c.tell(c.c.onAdd, "OnAdd", e.slot/64, 1<<(e.slot%64))
	}
	return p
}

// Set overwrites e's component and reports whether e has one.
func (c HeapColumn[T]) Set(e Entity, v T) bool {
	p := c.Edit(e)
	if p == nil {
		return false
	}
	*p = v
	return true
}

// Remove takes the component from e and reports whether e had one. The element is cleared.
func (c HeapColumn[T]) Remove(e Entity) bool { return c.c.remove(e) }

// Grow makes every [HeapColumn.Add] to entities that the world has room for now unable to fail, as [Column.Grow] does,
// but for the Go heap's own memory.
func (c HeapColumn[T]) Grow() error {
	c.c.world.mustBeOpen("HeapColumn.Grow")
	return c.c.grow(c.c.world.size)
}

// OnAdd registers f to be told of each entity that gains the component, as [Column.OnAdd] does.
func (c HeapColumn[T]) OnAdd(f func(e Entity, v *T)) {
	c.c.hookAdd(func(e Entity) { f(e, c.at(e.slot)) })
}

// OnRemove registers f to be told of each entity that loses the component, as [Column.OnRemove] does.
func (c HeapColumn[T]) OnRemove(f func(e Entity, v *T)) {
	c.c.hookRemove(func(e Entity) { f(e, c.at(e.slot)) })
}

// heapStore holds elements in blocks on the Go heap. Elements without an owner are zero.
type heapStore[T any] struct {
	blocks []*T   // the first element of each block; nil where no slot of the block has an element
	used   []int  // elements in each block
	shift  uint32 // a block has 1 << shift slots
	mask   uint32 // of the bits of a slot that say where it lies in its block
}

// A block has few bytes, so that a rare component stays small, and not more slots than it takes to have few
// blocks.
const (
	heapBlockBytes = 64 << 10
	heapBlockShift = 9
)

func newHeapStore[T any]() *heapStore[T] {
	s := &heapStore[T]{shift: heapBlockShift}
	for s.shift > 0 && unsafe.Sizeof(*(*T)(nil))<<s.shift > heapBlockBytes {
		s.shift--
	}
	s.mask = 1<<s.shift - 1
	return s
}

// at is sound for a slot with an element: its block is there, and has mask + 1 elements. It is no slice, so
// that [HeapColumn.Get] is small enough to be inlined.
func (s *heapStore[T]) at(slot uint32) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(s.blocks[slot>>(s.shift&31)]), uintptr(slot&s.mask)*unsafe.Sizeof(*(*T)(nil))))
}

func (s *heapStore[T]) has(_, _ int) bool   { return true }
func (s *heapStore[T]) room(_, _ int) error { return nil }
func (s *heapStore[T]) mark() (undo func()) { return nil }

func (s *heapStore[T]) put(slot uint32) {
	i := int(slot >> s.shift)
	if i >= len(s.blocks) {
		s.blocks = append(s.blocks, make([]*T, i+1-len(s.blocks))...)
		s.used = append(s.used, make([]int, i+1-len(s.used))...)
	}
	if s.blocks[i] == nil {
		s.blocks[i] = unsafe.SliceData(make([]T, s.mask+1))
	}
	// The collector reads what lies there, so that it is zero and not poison.
	if invariants.Enabled && !reflect.ValueOf(s.at(slot)).Elem().IsZero() {
		panic(fmt.Sprintf("vast: slot %d of a HeapColumn of %s was written after its component was removed: drop every pointer to "+
			"a component where it is removed", slot, reflect.TypeFor[T]()))
	}
	s.used[i]++
}

func (s *heapStore[T]) drop(slot uint32) {
	var zero T
	*s.at(slot) = zero
	i := slot >> s.shift
	if s.used[i]--; s.used[i] == 0 {
		s.blocks[i] = nil
	}
}

func (s *heapStore[T]) storage() Storage { return StorageHeap }

func (s *heapStore[T]) value(slot uint32) reflect.Value {
	v := *s.at(slot)
	return reflect.ValueOf(&v).Elem()
}

func (s *heapStore[T]) set(slot uint32, v reflect.Value) { reflect.ValueOf(s.at(slot)).Elem().Set(v) }

// bytesOnHeap returns the bytes of the blocks. Complexity: the number of blocks.
func (s *heapStore[T]) bytesOnHeap() int {
	n := 0
	for _, b := range s.blocks {
		if b != nil {
			n++
		}
	}
	return n << s.shift * int(unsafe.Sizeof(*(*T)(nil)))
}

func (s *heapStore[T]) empty() { s.blocks, s.used = nil, nil }

func (s *heapStore[T]) check(c *column, must func(bool, string, ...any)) {
	total := 0
	for i, used := range s.used {
		first := uint(i) << s.shift
		n := c.set.CountRange(first, first+uint(s.mask)+1)
		must(n == used, "column %s: block %d counts %d elements for %d entities", c.name, i, used, n)
		must((s.blocks[i] != nil) == (used > 0), "column %s: block %d has %d elements", c.name, i, used)
		total += n
	}
	must(total == c.set.Count(), "column %s: %d elements for %d entities", c.name, total, c.set.Count())
}

func (s *heapStore[T]) close() error {
	s.empty()
	return nil
}
