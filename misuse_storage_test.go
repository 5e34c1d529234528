package vast

import (
	"fmt"
	"math"
	"testing"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// TestBadInputOfEachStorage: operations of each kind of column ignore stale and foreign entities.
func TestBadInputOfEachStorage(t *testing.T) {
	for kind := range 4 {
		w, abroad := NewWorld(Options{Name: "home", MaxEntities: 1024}),
			NewWorld(Options{Name: "abroad", MaxEntities: 1024})
		s := storages(w)[kind]
		a := w.Archetype()
		// The same slot holds an entity in both worlds. In the other world, the entity has the component.
		e, there := a.New(), storages(abroad)[kind]
		theirs := abroad.Archetype(there.column).New()
		if theirs.Slot() != e.Slot() {
			t.Fatalf("%s: slots %d and %d", s.name, theirs.Slot(), e.Slot())
		}
		gone := a.New()
		s.add(gone, 1)
		w.Delete(gone)
		again := a.New() // takes the slot of gone
		if again.Slot() != gone.Slot() || !s.add(e, 5) {
			t.Fatalf("%s: the slot is not reused, or Add fails", s.name)
		}
		nothing := func(name string, e Entity) {
			t.Helper()
			changes := w.changes
			_, has := s.get(e)
			if has || s.set(e, 1) || s.remove(e) || w.changes != changes {
				t.Errorf("%s: an operation found or changed %s", s.name, name)
			}
		}
		nothing("an entity without the component", again)
		for name, e := range map[string]Entity{"a deleted entity": gone, "an entity of another world": theirs,
			"the zero Entity": {},
			"a slot without an entity": EntityOf(e.ID() +
				900), "a slot beyond the world": EntityOf(e.ID() | 1<<32 - 1)} {
			nothing(name, e)
			changes := w.changes
			if s.add(e, 1) || w.Delete(e) || w.Alive(e) || w.changes != changes {
				t.Errorf("%s: an operation found or changed %s", s.name, name)
			}
		}
		// Add overwrites the value of a component. Because the structure does not change, a query may run.
		for e := range w.Query(s.column).All() {
			if !s.add(e, 6) {
				t.Errorf("%s: adding again fails", s.name)
			}
		}
		if v, has := s.get(e); !has || s.name != "tag" && v != 6 || s.count() != 1 || !s.remove(e) ||
			s.remove(e) {
			t.Errorf("%s: after adding again, the value is %d, %v, and %d entities have the component",
				s.name, v, has, s.count())
		}
		s.add(e, 7)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		nothing("an entity of a closed world", e)
		if s.count() != 0 {
			t.Errorf("%s: a closed world has %d components", s.name, s.count())
		}
		says(t, func() { s.add(e, 1) }, "on the closed world")
		if err := abroad.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestChangesInNestedQueries changes the structure in a query that runs inside a query. The inner query
// panics at its next step.
func TestChangesInNestedQueries(t *testing.T) {
	w := NewWorld(Options{Name: "home", MaxEntities: 1024})
	defer w.Close()
	a, b := NewColumn[uint64](w), NewTag(w, "b")
	w.Archetype(a).NewN(10, nil)
	q := w.Query(a)
	pairs := 0
	for range q.All() {
		for range q.Runs() {
			pairs += q.Count()
		}
	}
	if pairs != 100 {
		t.Errorf("the nested loops make %d steps, want 100", pairs)
	}
	outer, inner := 0, 0
	says(t, func() {
		for range q.All() {
			outer++
			for e := range q.All() {
				inner++
				b.Add(e)
			}
		}
	}, "changed while a query was running")
	if outer != 1 || inner != 1 {
		t.Errorf("%d outer and %d inner steps, want 1 of each", outer, inner)
	}
	// A bulk operation inside a query runs to its end. The query panics at the next step of its loop.
	says(t, func() {
		for range q.All() {
			outer++
			b.RemoveAll(q)
		}
	}, "changed while a query was running, by Column.RemoveAll")
	if outer != 2 || b.Len() != 0 {
		t.Errorf("%d outer steps, want 2; %d entities have b, want none", outer, b.Len())
	}
}

// TestRecursionInOnRemove: a callback that removes a component or deletes an entity, even its own entity,
// panics before anything is removed.
func TestRecursionInOnRemove(t *testing.T) {
	for kind := range 4 {
		for name, do := range map[string]func(w *World, s bulkVerbs, e Entity){
			"Remove":    func(_ *World, s bulkVerbs, e Entity) { s.remove(e) },
			"RemoveAll": func(w *World, s bulkVerbs, _ Entity) { s.removeAll(w.Query()) },
			"Delete":    func(w *World, _ bulkVerbs, e Entity) { w.Delete(e) },
			"DeleteAll": func(w *World, _ bulkVerbs, _ Entity) { w.DeleteAll(w.Query()) },
		} {
			w := NewWorld(Options{Name: "home", MaxEntities: 256})
			s := bulkStorages(w)[kind]
			w.Archetype().NewN(5, nil)
			s.addAll(w.Query(), 3)
			e, _ := w.Query().First()
			depth, armed := 0, true
			s.onRemove(func(e Entity, _ uint64) {
				if armed {
					depth++
					do(w, s, e)
				}
			})
			changes := w.changes
			for outer, f := range map[string]func(){"Remove": func() { s.remove(e) },
				"RemoveAll": func() { s.removeAll(w.Query()) },
				"Delete":    func() { w.Delete(e) }, "DeleteAll": func() { w.DeleteAll(w.Query()) }} {
				depth = 0
				says(t, f, `world "home" changed while OnRemove of column `)
				if depth != 1 || s.count() != 5 || w.Len() != 5 || w.changes != changes {
					t.Errorf("%s, %s in %s: depth %d, %d components, %d entities", s.name, name, outer, depth,
						s.count(), w.Len())
				}
			}
			w.checkInvariants()
			armed = false
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestFourBillionSlots makes a world of the largest size. The world reserves address space, and refuses more
// entities than slots.
func TestFourBillionSlots(t *testing.T) {
	most := uint64(1<<32 - 64)
	if vm.HeapStandIn() || most > math.MaxInt {
		t.Skip("int has 32 bits, or regions are Go heap memory, and a column allocates memory for all slots")
	}
	slots := int(most)
	says(t, func() { NewWorld(Options{MaxEntities: slots + 1}) },
		"MaxEntities is 4294967233: use 1 to 4294967232")
	w := NewWorld(Options{MaxEntities: slots})
	defer w.Close()
	c := NewColumn[uint16](w)
	a := w.Archetype(c)
	exhausted(t, func() error { return a.Grow(slots + 1) }, vm.ErrCapacity, "Options.MaxEntities")
	exhausted(t, func() error { a.NewN(slots+1, nil); return nil }, vm.ErrCapacity, "Options.MaxEntities")
	if e := a.New(); !c.Set(e, 7) || *c.Get(e) != 7 || w.Query(c).Exactly().Count() != 1 || w.Len() != 1 {
		t.Errorf("%d entities in a world of %d slots", w.Len(), slots)
	}
}

// TestExtremeComponents: columns hold components of 0 bytes and of 1 MiB.
func TestExtremeComponents(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 256})
	defer w.Close()
	none, rare, heap := NewColumn[struct{}](w), NewSparseColumn[[0]int](w),
		NewHeapColumn[struct{}](w).Named("heap")
	e := w.Archetype(none, rare, heap).New()
	if none.Get(e) == nil || rare.Get(e) == nil || heap.Get(e) == nil || none.Add(e, struct{}{}) == nil ||
		!rare.Set(e, [0]int{}) {
		t.Error("a component of 0 bytes is missing")
	}
	run, ok := Run{}, false
	for run = range w.Query(none).Optional(rare).Runs() {
		ok = len(none.Slice(run)) == 1 && len(none.TrySlice(run)) == 1 && rare.In(run)
	}
	if !ok || !none.Remove(e) || !rare.Remove(e) || !heap.Remove(e) || none.TrySlice(run) != nil ||
		none.Len()+rare.Len()+heap.Len() != 0 {
		t.Error("a component of 0 bytes is not removed")
	}
	if vm.HeapStandIn() {
		return // the large columns would be Go heap memory
	}
	type large = [1 << 20]byte
	big, bigRare := NewColumn[large](w), NewSparseColumn[large](w).Named("rare")
	p, q := big.Add(e, large{1 << 19: 3}), bigRare.Add(e, large{1 << 19: 4})
	other := w.Archetype(big, bigRare).New()
	if big.Get(e) != p || bigRare.Get(e) != q || p[1<<19] != 3 || q[1<<19] != 4 ||
		big.Get(other)[1<<19] != 0 || bigRare.Get(other)[1<<19] != 0 {
		t.Error("a component of 1 MiB has moved or has a wrong value")
	}
	w.Delete(other)
	if !big.Remove(e) || !bigRare.Remove(e) || !w.Delete(e) || big.Len()+bigRare.Len() != 0 {
		t.Error("a component of 1 MiB is not removed")
	}
	w.checkInvariants()
}

// TestThousandColumns adds components, runs queries and deletes entities in a world with many columns.
func TestThousandColumns(t *testing.T) {
	const columns = 1100
	if vm.HeapStandIn() {
		t.Skip("regions are Go heap memory, and a column allocates memory for all slots")
	}
	w := NewWorld(Options{MaxEntities: 4096})
	defer w.Close()
	var cs []Column[uint32]
	var all []AnyColumn
	for i := range columns {
		cs = append(cs, NewColumn[uint32](w).Named(fmt.Sprint("c", i)))
		all = append(all, cs[i])
	}
	every, few := w.Archetype(all...), w.Archetype(all[64])
	rich, poor, none := every.New(), few.New(), w.Archetype().New()
	for i := 0; i < columns; i += 7 {
		cs[i].Add(none, uint32(i))
	}
	if q := w.Query(all...); q.Count() != 1 || q.Exactly().Among([]Entity{rich, poor}).Count() != 1 {
		t.Error("the entity with all components is not found")
	}
	if e, only := w.Query(all[64]).Exactly().Single(); e != poor || !only {
		t.Errorf("%v is the entity with a single component, want %v", e, poor)
	}
	if n := w.Query(all[0]).Without(all[1:7]...).Count(); n != 1 {
		t.Errorf("%d entities have column 0 and lack columns 1 to 6, want 1", n)
	}
	for _, e := range []Entity{rich, poor, none} {
		if !w.Delete(e) {
			t.Errorf("%v is not deleted", e)
		}
	}
	for i, c := range cs {
		if c.Len() != 0 {
			t.Fatalf("column %d has %d entities in an empty world", i, c.Len())
		}
	}
	if invariants.Enabled {
		w.checkInvariants()
	}
}
