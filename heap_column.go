package vast

import (
	"fmt"
	"reflect"

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
	s := new(heapStore[T])
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

// heapBlock is the number of elements that are allocated together: few enough that a rare component stays small, enough
// that blocks are few.
const heapBlock = 512

// heapStore holds elements in blocks on the Go heap. Elements without an owner are zero.
type heapStore[T any] struct {
	blocks []*[heapBlock]T // by slot / heapBlock; nil where there is no element
	used   []int           // elements in each block
}

func (s *heapStore[T]) at(slot uint32) *T { return &s.blocks[slot/heapBlock][slot%heapBlock] }

func (s *heapStore[T]) room(int) error { return nil }

func (s *heapStore[T]) put(slot uint32) {
	i := int(slot / heapBlock)
	if i >= len(s.blocks) {
		s.blocks = append(s.blocks, make([]*[heapBlock]T, i+1-len(s.blocks))...)
		s.used = append(s.used, make([]int, i+1-len(s.used))...)
	}
	if s.blocks[i] == nil {
		s.blocks[i] = new([heapBlock]T)
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
	i := slot / heapBlock
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

func (s *heapStore[T]) empty() { s.blocks, s.used = nil, nil }

func (s *heapStore[T]) close() error {
	s.blocks, s.used = nil, nil
	return nil
}
