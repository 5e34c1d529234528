package vast

import (
	"errors"
	"testing"

	"github.com/vastgo/vast/vm"
)

func TestPromisesOfBirthsAdd(t *testing.T) {
	limit := vm.NewLimit(1 << 30)
	w := NewWorld(Options{MaxEntities: 1 << 14, Limit: limit})
	defer w.Close()
	c, d := NewSparseColumn[kilobyte](w), NewTag(w, "d")
	a, b := w.Archetype(c), w.Archetype(c, d)
	for _, archetype := range []*Archetype{a, b} {
		if err := archetype.Grow(1000); err != nil {
			t.Fatal(err)
		}
	}
	used := limit.Used()
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	if limit.Used() > used || limit.Used() < 2000<<10 {
		t.Errorf("%d bytes are in use after Trim, want %d to %d", limit.Used(), 2000<<10, used)
	}
	limit.SetMax(limit.Used())
	for range 1000 {
		a.New()
	}
	b.NewN(1000, nil)
	if w.checkInvariants(); c.Len() != 2000 {
		t.Errorf("%d entities have the component, want all entities", c.Len())
	}
	exhausted(t, func() error { a.NewN(1000, nil); return nil }, vm.ErrLimit, "")
	// The births have used up the promises, so Trim gives back the memory.
	w.DeleteAll(w.Query())
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	if left := probed.StatsOf(c).Committed; left > max(256<<10, 8*vm.PageSize()) {
		t.Errorf("Trim leaves %d bytes to a column without elements", left)
	}
}

func TestPromisesAreNoMoreThanSlots(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	c := NewSparseColumn[uint64](w)
	a := w.Archetype(c)
	if err := c.Grow(1000); err != nil {
		t.Fatal(err)
	}
	a.NewN(1024, nil) // must succeed, although the promise and the births exceed the world's slots
	if w.checkInvariants(); c.Len() != 1024 {
		t.Errorf("%d entities have the component, want all entities", c.Len())
	}
	if err := c.Grow(1); !errors.Is(err, vm.ErrCapacity) {
		t.Errorf("Grow(1) in a full world returns %v, want ErrCapacity", err)
	}
	says(t, func() { _ = c.Grow(-1) }, "SparseColumn.Grow(-1)", "cannot be negative")
	says(t, func() { a.NewN(-1, nil) }, "Archetype.NewN(-1)", "cannot be negative")
}

func TestRefusedLeavesNothing(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("reserved addresses take memory in this build")
	}
	for name, f := range map[string]func(w *World, a *Archetype, cols []AnyColumn) error{
		"Grow": func(_ *World, a *Archetype, _ []AnyColumn) error { return a.Grow(60_000) },
		"NewN": func(_ *World, a *Archetype, _ []AnyColumn) error { a.NewN(60_000, nil); return nil },
		"Exchange": func(w *World, _ *Archetype, cols []AnyColumn) error {
			w.Exchange(w.Query(), cols, nil)
			return nil
		},
		"AddAll": func(w *World, _ *Archetype, cols []AnyColumn) error {
			cols[1].(SparseColumn[kilobyte]).AddAll(w.Query(), kilobyte{})
			return nil
		},
		"Relation.SetAll": func(w *World, _ *Archetype, cols []AnyColumn) error {
			e, _ := w.Query().First()
			cols[2].(Relation).SetAll(w.Query(), e)
			return nil
		},
		"Relation.GrowLevels": func(_ *World, _ *Archetype, cols []AnyColumn) error {
			return cols[2].(Relation).GrowLevels(9)
		},
		"Edges.Grow": func(_ *World, _ *Archetype, cols []AnyColumn) error {
			return cols[3].(Edges[[100]uint64]).Grow(15_000)
		},
	} {
		refused := 0
		for slack := 64 << 10; slack < 80<<20; slack += slack/4 + 4<<10 {
			limit := vm.NewLimit(1 << 30)
			w := NewWorld(Options{MaxEntities: 1 << 16, Limit: limit})
			first, second := NewSparseColumn[kilobyte](w), NewSparseColumn[kilobyte](w)
			a := w.Archetype(first, second)
			cols := []AnyColumn{first, second}
			if name != "Grow" && name != "NewN" {
				w.Archetype().NewN(40_000, nil)
				cols = append(cols, NewRelation(w, "aims", RelationOptions{Cyclic: true}),
					NewEdges[[100]uint64](w, "roads", EdgesOptions{}))
				if name == "Exchange" {
					cols = cols[:2]
				}
			}
			limit.SetMax(limit.Used() + slack)
			used, committed, changes := limit.Used(), w.Stats().Committed, w.Changes()
			var err error
			if v := panicOf(func() { err = f(w, a, cols) }); v != nil {
				err, _ = v.(error)
			}
			if err != nil {
				if refused++; !errors.Is(err, vm.ErrLimit) {
					t.Fatalf("%s: %v", name, err)
				}
				if limit.Used() != used || w.Stats().Committed != committed || w.Changes() != changes {
					t.Fatalf("%s is refused with %d bytes left: the world keeps %d more bytes, the "+
						"limit counts %d more bytes, and %d changes were made", name, slack,
						w.Stats().Committed-committed, limit.Used()-used, w.Changes()-changes)
				}
			}
			w.checkInvariants()
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if refused == 0 {
			t.Errorf("%s was never refused", name)
		}
	}
}

func TestGrowAllocatesNothing(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 12})
	defer w.Close()
	c, tag, heap := NewSparseColumn[uint64](w), NewTag(w, "tag"), NewHeapColumn[string](w)
	child := NewRelation(w, "child", RelationOptions{})
	aims := NewRelation(w, "aims", RelationOptions{Cyclic: true})
	roads := NewEdges[uint64](w, "roads", EdgesOptions{})
	a := w.Archetype(c, tag, heap)
	a.NewN(100, nil)
	grow := func() {
		for _, err := range [...]error{a.Grow(100), c.Grow(100), tag.Grow(1), heap.Grow(1),
			child.GrowLevels(5), aims.GrowLevels(1),
			roads.Grow(100)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	grow()
	if n := testing.AllocsPerRun(100, grow); n != 0 {
		t.Errorf("calls of Grow that find enough room make %v allocations", n)
	}
}
