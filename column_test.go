package vast

import (
	"fmt"
	"testing"
	"unsafe"
)

func TestColumn(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	pos := NewColumn[position](w)
	named := NewColumn[velocity](w).Named("speed")
	if pos.Name() != "position" || named.Name() != "speed" {
		t.Errorf("the names are %q and %q, want position and speed", pos.Name(), named.Name())
	}
	e, other := w.Archetype(pos).New(), w.Archetype(pos).New()
	if named.Has(e) || named.Get(e) != nil || named.Set(e, velocity{1, 1}) || named.Remove(e) ||
		named.Len() != 0 {
		t.Error("an entity has a component that was not added")
	}
	p := named.Add(e, velocity{1, 2})
	if p == nil || *p != (velocity{1, 2}) || named.Get(e) != p || !named.Has(e) || named.Has(other) ||
		named.Len() != 1 {
		t.Errorf("Add returned %v at %p, Get %p; %d entities have the component", p, p, named.Get(e),
			named.Len())
	}
	if again := named.Add(e, velocity{3, 4}); again != p || *p != (velocity{3, 4}) || named.Len() != 1 {
		t.Errorf("a second Add returned %v at %p, want {3 4} at %p", *again, again, p)
	}
	if !named.Set(e, velocity{5, 6}) || *p != (velocity{5, 6}) {
		t.Errorf("Set left %v, want {5 6}", *p)
	}
	if !named.Remove(e) || named.Remove(e) || named.Has(e) || named.Get(e) != nil || named.Len() != 0 ||
		!w.Alive(e) {
		t.Error("Remove did not remove the component exactly once")
	}
	if pos.Get(e) == nil || *pos.Get(e) != (position{}) || pos.Len() != 2 {
		t.Error("removing one component changed another")
	}
	copied := named
	copied.Add(other, velocity{7, 8})
	if *named.Get(other) != (velocity{7, 8}) {
		t.Error("a copy of a Column is another column")
	}
	w.Delete(other)
	if named.Add(other, velocity{}) != nil || named.Len() != 0 || pos.Len() != 1 {
		t.Error("a deleted entity has components")
	}
}

func TestColumnIndexIsSlot(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 14})
	defer w.Close()
	pos := NewColumn[position](w)
	a := w.Archetype(pos)
	var first *position
	for i := range 10_000 {
		e := a.New()
		p := pos.Get(e)
		if i == 0 {
			first = p
		}
		at := uintptr(unsafe.Pointer(first)) + uintptr(e.Slot())*unsafe.Sizeof(position{})
		if uintptr(unsafe.Pointer(p)) != at {
			t.Fatalf("slot %d lies at %p, want %#x", e.Slot(), p, at)
		}
	}
}

func TestColumnWithoutSize(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 4096})
	defer w.Close()
	tag := anotherColumn[struct{}](w)
	never := anotherColumn[struct{}](w)
	var es []Entity
	for i := range 3000 {
		e := w.Archetype().New()
		if i%2 == 0 {
			if tag.Add(e, struct{}{}) == nil {
				t.Fatal("Add returns nil")
			}
		}
		es = append(es, e)
	}
	for i, e := range es {
		if tag.Has(e) != (i%2 == 0) || (tag.Get(e) != nil) != (i%2 == 0) || never.Has(e) {
			t.Fatalf("entity %d: Has returns %v, want %v, and never.Has returns %v", i, tag.Has(e), i%2 == 0,
				never.Has(e))
		}
	}
	born := w.Archetype(tag)
	born.NewN(500, func(r Run) {
		if len(tag.Slice(r)) != r.Len() {
			t.Errorf("a slice of %d elements for %d entities", len(tag.Slice(r)), r.Len())
		}
	})
	if tag.Len() != 2000 || w.Query(tag).Count() != 2000 {
		t.Errorf("Len is %d, and the query counts %d, want 2000", tag.Len(), w.Query(tag).Count())
	}
}

// deleteAtTheEdge adds components up to the end of the column's committed memory, and deletes all entities
// except the first. New entities in the same slots must not have the component.
func deleteAtTheEdge[T any](t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 16})
	defer w.Close()
	a, late := w.Archetype(), NewColumn[T](w)
	const n = 20_000
	es := make([]Entity, 0, n)
	for range n {
		es = append(es, a.New())
	}
	for _, e := range es {
		late.Add(e, *new(T))
		if late.Len() > 100 && e.Slot()%64 == 63 && int(e.Slot()) >= int(late.c.slots)-65 {
			break
		}
	}
	edge := late.Len()
	for i, e := range es {
		if i != 0 {
			w.Delete(e)
		}
	}
	if late.Len() != 1 {
		t.Errorf("%T: %d entities of %d kept their component when they were deleted", *new(T), late.Len()-1,
			edge)
	}
	for range n - 1 {
		if e := a.New(); late.Has(e) {
			t.Fatalf("%T: a new entity in slot %d has a component", *new(T), e.Slot())
		}
	}
	w.checkInvariants()
}

func TestColumnEdge(t *testing.T) {
	deleteAtTheEdge[byte](t)
	deleteAtTheEdge[[3]byte](t)
	deleteAtTheEdge[[3]uint64](t)
	deleteAtTheEdge[squad](t)
	deleteAtTheEdge[[100]byte](t)
	deleteAtTheEdge[[1001]byte](t)
}

// TestColumnsBeyondMask uses 200 columns, so that several columns share a bit of owner.extra, which has only
// 64 bits. Deletion must remove the components in all columns.
func TestColumnsBeyondMask(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	var columns []Column[uint32]
	for range 200 {
		columns = append(columns, anotherColumn[uint32](w))
	}
	e, neighbour := w.Archetype(columns[3]).New(), w.Archetype(columns[3]).New()
	for i, c := range columns {
		c.Add(e, uint32(i))
		if i%2 == 0 {
			c.Add(neighbour, uint32(i+1000))
		}
	}
	for i, c := range columns {
		if *c.Get(e) != uint32(i) {
			t.Fatalf("the component of column %d is %d", i, *c.Get(e))
		}
	}
	w.checkInvariants()
	w.Delete(e)
	again := w.Archetype(columns[3]).New()
	if again.Slot() != e.Slot() {
		t.Fatalf("the new entity is in slot %d, want %d", again.Slot(), e.Slot())
	}
	for i, c := range columns {
		if c.Has(again) != (i == 3) || c.Has(e) {
			t.Errorf("column %d: the slot's next entity has the component: %v", i, c.Has(again))
		}
		if c.Has(neighbour) != (i%2 == 0 || i == 3) || i%2 == 0 && *c.Get(neighbour) != uint32(i+1000) {
			t.Errorf("column %d: the neighbour has another component than before", i)
		}
	}
	w.checkInvariants()
}

func TestColumnGrow(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 14})
	defer w.Close()
	a := w.Archetype()
	a.NewN(10_000, nil)
	c := NewColumn[[3]uint64](w)
	if err := c.Grow(1); err != nil {
		t.Fatal(err)
	}
	committed := w.Stats().Columns[0].Committed
	if committed < 10_000*24 {
		t.Errorf("%d bytes are committed for 10,000 elements of 24", committed)
	}
	for e := range w.Query().All() {
		if c.Has(e) {
			t.Fatalf("%v has a component after Grow", e)
		}
	}
	es := make([]Entity, 0, 10_000)
	for e := range w.Query().All() {
		es = append(es, e)
	}
	for _, e := range es {
		c.Add(e, [3]uint64{1})
	}
	if got := w.Stats().Columns[0].Committed; got != committed || c.Len() != 10_000 {
		t.Errorf("%d bytes are committed before adding %d components, and %d after", committed, c.Len(), got)
	}
}

func TestColumnTypes(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 64})
	defer w.Close()
	large := NewColumn[[1 << 20]byte](w)
	e := w.Archetype(large).New()
	large.Get(e)[1<<20-1] = 9
	w.Delete(e)
	if e = w.Archetype(large).New(); large.Get(e)[1<<20-1] != 0 {
		t.Error("a large component of a new entity is not zero")
	}
	links := NewColumn[Entity](w)
	links.Add(e, e)
	if *links.Get(e) != e {
		t.Error("an entity in a column changed")
	}
	if got := fmt.Sprint(w.Stats().Columns[1]); got == "" || w.Stats().Columns[1].Type != "vast.Entity" {
		t.Errorf("the type is %q, want vast.Entity", w.Stats().Columns[1].Type)
	}
}
