package vast

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/probing"
)

// HeapColumn is a [Column] for components that hold Go pointers, such as strings, slices, maps and
// interfaces. Its elements lie on the Go heap, where the collector scans them, in fixed blocks that never
// move. A HeapColumn has the same presence bits and queries as a Column, and the same methods except Slice,
// TrySlice and EditRun. Make a HeapColumn with [NewHeapColumn].
//
// A HeapColumn clears an element when its entity loses the component, so that the collector can free the
// memory to which the element referred. A HeapColumn drops each block without elements. A vm.Limit does not
// count memory on the Go heap.
type HeapColumn[T any] struct {
	stored[T]
	heap *heapStore[T]
}

// NewHeapColumn registers a component of any Go type with the world, under the name of that type; see
// [HeapColumn.Named]. For a type without Go pointers, [Column] is faster. NewHeapColumn reserves only
// addresses, and panics with a [*vm.Error] if no addresses are left.
func NewHeapColumn[T any](w *World) HeapColumn[T] {
	w.mustTakeColumns("NewHeapColumn")
	typ := reflect.TypeFor[T]()
	c, err := w.register(typ.Name(), nil)
	if err != nil {
		panic(err)
	}
	c.typ = typ
	s := newHeapStore[T]()
	return HeapColumn[T]{keptBy[T](c, s), s}
}

// Named gives the column a name, as [Column.Named] does.
func (c HeapColumn[T]) Named(name string) HeapColumn[T] {
	c.c.rename(name)
	return c
}

// Get returns e's component, or nil if e is stale or lacks it. After e has lost the component, or after
// [Archetype.Pack] or [World.Regroup] has moved e, the pointer may point to the component of another entity.
func (c HeapColumn[T]) Get(e Entity) *T {
	if invariants.Enabled {
		c.c.touch(false)
	}
	if !c.c.has(e) {
		return nil
	}
	return c.heap.element(e.slot)
}

// Grow makes room for n additions, as [Column.Grow] does. Grow does not allocate memory on the Go heap for
// the components.
func (c HeapColumn[T]) Grow(n int) error { return c.c.growForAdditions("HeapColumn.Grow", n) }

// heapStore keeps elements in blocks on the Go heap. Elements of slots without the component are zero.
type heapStore[T any] struct {
	inPlace
	blocks []*T   // the first element of each block, or nil for a block without elements
	used   []int  // number of elements in each block
	live   int    // number of blocks that are not nil
	shift  uint32 // a block has 1 << shift slots
	mask   uint32 // slot & mask is the index of the slot's element in its block
}

// A block has 1 << heapBlockShift slots, or fewer slots if its elements would take more than heapBlockBytes.
// Large blocks keep the list of blocks short. The limit in bytes keeps a column with few entities small.
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

// element returns the address of a slot's element. The slot's block must exist; it has mask + 1 elements. A
// block is not a slice, so that [HeapColumn.Get] is small enough for inlining.
func (s *heapStore[T]) element(slot uint32) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(s.blocks[slot>>(s.shift&31)]),
		uintptr(slot&s.mask)*unsafe.Sizeof(*(*T)(nil))))
}

func (s *heapStore[T]) storage() probing.Storage      { return probing.StorageHeap }
func (s *heapStore[T]) at(slot uint32) unsafe.Pointer { return unsafe.Pointer(s.element(slot)) }

func (s *heapStore[T]) put(e Entity) {
	slot := e.slot
	i := int(slot >> s.shift)
	if i >= len(s.blocks) {
		s.blocks = append(s.blocks, make([]*T, i+1-len(s.blocks))...)
		s.used = append(s.used, make([]int, i+1-len(s.used))...)
	}
	if s.blocks[i] == nil {
		s.blocks[i] = unsafe.SliceData(make([]T, s.mask+1))
		s.live++
	}
	// The collector scans free elements, so they are zero and not poisoned.
	if invariants.Enabled && !reflect.ValueOf(s.element(slot)).Elem().IsZero() {
		panic(fmt.Sprintf("vast: slot %d of a HeapColumn of %s was written after its component was removed: "+
			"drop every pointer to a component when it is removed", slot, reflect.TypeFor[T]()))
	}
	s.used[i]++
}

func (s *heapStore[T]) assign(slot uint32, v unsafe.Pointer) { *s.element(slot) = *(*T)(v) }

func (s *heapStore[T]) drop(slot uint32) {
	var zero T
	*s.element(slot) = zero
	i := slot >> s.shift
	if s.used[i]--; s.used[i] == 0 {
		s.blocks[i] = nil
		s.live--
	}
}

func (s *heapStore[T]) move(old, new Entity) {
	s.put(new)
	*s.element(new.slot) = *s.element(old.slot)
	s.drop(old.slot)
}

func (s *heapStore[T]) empty() { s.blocks, s.used, s.live = nil, nil, 0 }

func (s *heapStore[T]) close() error {
	s.empty()
	return nil
}

func (s *heapStore[T]) memory() (reserved, committed, heap int) {
	return 0, 0, s.live << s.shift * int(unsafe.Sizeof(*(*T)(nil)))
}

func (s *heapStore[T]) check(c *column, must func(bool, string, ...any)) {
	total, live := 0, 0
	for i, used := range s.used {
		if used > 0 {
			live++
		}
		first := uint(i) << s.shift
		n := c.set.CountRange(first, first+uint(s.mask)+1)
		must(n == used, "column %s: block %d counts %d elements for %d entities", c.name, i, used, n)
		must((s.blocks[i] != nil) == (used > 0),
			"column %s: block %d with %d elements is missing, or was not freed", c.name, i, used)
		total += n
	}
	must(live == s.live, "column %s: %d blocks have elements, the store counts %d", c.name, live, s.live)
	must(total == c.set.Count(), "column %s: %d elements for %d entities", c.name, total, c.set.Count())
}
