package vast

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/vastgo/vast/vm"
)

// expectTracked checks the numbers of entities that tr and a query with Query.Changed yield.
func expectTracked(t *testing.T, when string, tr *Tracker, col AnyColumn, added, changed, removed int) {
	t.Helper()
	a, c, r := len(slices.Collect(tr.Added(col))), len(slices.Collect(tr.Changed(col))),
		len(slices.Collect(tr.Removed(col)))
	if a != added || c != changed || r != removed {
		t.Errorf("%s: %d added, %d changed, %d removed, want %d added, %d changed, %d removed", when, a, c, r,
			added, changed, removed)
	}
	if n := tr.world.Query(col).Changed(col, tr).Count(); n != added+changed {
		t.Errorf("%s: the query finds %d entities, want %d", when, n, added+changed)
	}
}

// TestTrackersOfWholeBlocks makes enough entities that bulk operations handle a whole block in one step.
func TestTrackersOfWholeBlocks(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 16})
	defer w.Close()
	pos, num := NewColumn[position](w), NewColumn[number](w)
	const n = 20_000
	w.Archetype(pos).NewN(n, nil)
	tr := NewTracker(w, pos, num)
	q := w.Query(pos)
	expectTracked(t, "NewTracker", tr, pos, 0, 0, 0)
	num.AddAll(q, number{1})
	expectTracked(t, "AddAll", tr, num, n, 0, 0)
	expectTracked(t, "AddAll of another column", tr, pos, 0, 0, 0)
	num.RemoveAll(q)
	expectTracked(t, "RemoveAll of added components", tr, num, 0, 0, 0)
	num.AddAll(q, number{1})
	tr.Next()
	expectTracked(t, "Next", tr, num, 0, 0, 0)
	num.SetAll(q, number{2})
	expectTracked(t, "SetAll", tr, num, 0, n, 0)
	for r := range q.Runs() {
		pos.Slice(r)
	}
	expectTracked(t, "Slice", tr, pos, 0, 0, 0)
	for r := range q.Runs() {
		pos.EditRun(r)
	}
	expectTracked(t, "EditRun", tr, pos, 0, n, 0)
	tr.Next()
	w.Exchange(q, nil, []AnyColumn{num})
	expectTracked(t, "Exchange", tr, num, 0, 0, n)
	w.Exchange(q, []AnyColumn{num}, nil)
	expectTracked(t, "Exchange back", tr, num, 0, n, 0)
	before := slices.Collect(q.All())
	w.DeleteAll(q)
	expectTracked(t, "DeleteAll", tr, pos, 0, 0, n)
	w.Archetype(pos).NewN(n, nil)
	expectTracked(t, "NewN in the same slots", tr, pos, n, 0, n)
	if got := slices.Collect(tr.Removed(pos)); !slices.Equal(got, before) || w.Alive(got[0]) {
		t.Errorf("the entities removed are %v ..., want %v ...", got[0], before[0])
	}
	w.checkInvariants()
}

// TestEditingWorkers lets several goroutines edit entities whose slots are in the same words and blocks.
func TestEditingWorkers(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 16})
	defer w.Close()
	pos, num, sparse := NewColumn[position](w), NewColumn[number](w),
		NewSparseColumn[number](w).Named("sparse")
	const n, workers = 10_000, 4
	var es []Entity
	w.Archetype(pos, num, sparse).NewN(n, func(r Run) {
		for i := range r.Len() {
			es = append(es, r.Entity(i))
		}
	})
	first, second := NewTracker(w, pos, num, sparse), NewTracker(w, num)
	for round := range 3 {
		var wg sync.WaitGroup
		batches := slices.Collect(w.Query(pos).Batches(n / workers))
		for k := range workers {
			wg.Go(func() {
				for i := k; i < n; i += workers {
					num.Edit(es[i]).N++
					sparse.Edit(es[i]).N++
				}
				for r := range batches[k].Runs() {
					for i := range pos.EditRun(r) {
						pos.EditRun(r)[i].X++
					}
				}
			})
		}
		wg.Wait()
		expectTracked(t, "Edit", first, num, 0, n, 0)
		expectTracked(t, "Edit of a SparseColumn", first, sparse, 0, n, 0)
		expectTracked(t, "EditRun", first, pos, 0, n, 0)
		expectTracked(t, "Edit with a second tracker", second, num, 0, n, 0)
		w.checkInvariants()
		wg = sync.WaitGroup{}
		for batch := range w.Query(num).Changed(num, second).Batches(n / workers) {
			wg.Go(func() {
				for e := range batch.All() {
					num.Set(e, number{uint64(round)})
				}
			})
		}
		wg.Wait()
		expectTracked(t, "Set of changed entities", second, num, 0, n, 0)
		first.Next()
		expectTracked(t, "Next of another tracker", second, num, 0, n, 0)
		expectTracked(t, "Next", first, num, 0, 0, 0)
		second.Next()
	}
}

func TestTrackerMisuse(t *testing.T) {
	w, other := NewWorld(Options{Name: "here", MaxEntities: 640}),
		NewWorld(Options{Name: "there", MaxEntities: 64})
	defer other.Close()
	c, d, foreign := NewColumn[number](w), NewColumn[position](w), NewColumn[number](other)
	a := w.Archetype(c)
	e := a.New()
	tr, gone := NewTracker(w, c), NewTracker(w, c)
	orphan := w.Query(c).Changed(c, gone)
	batches := slices.Collect(w.Query(c).Batches(1))
	gone.Close()
	gone.Close()
	c.Edit(e)
	elsewhere := NewTracker(other, foreign)
	says(t, func() { NewTracker(w) }, "no columns")
	says(t, func() { NewTracker(w, c, c) }, "Track", "named twice")
	says(t, func() { NewTracker(w, foreign) }, "Track", "belongs to world")
	says(t, func() { tr.Added(d) }, "Tracker.Added", "does not track column position", "NewTracker")
	says(t, func() { tr.Removed(foreign) }, "Tracker.Removed", "belongs to world")
	says(t, func() { gone.Changed(c) }, "Tracker.Changed", "closed")
	says(t, func() { gone.Next() }, "Tracker.Next", "closed")
	says(t, func() { orphan.Count() }, "closed")
	says(t, func() { w.Query().Changed(c, gone) }, "Query.Changed", "closed")
	says(t, func() { w.Query().Changed(c, nil) }, "NewTracker")
	says(t, func() { w.Query().Changed(foreign, tr) }, "Query.Changed", "belongs to world")
	says(t, func() { w.Query().Changed(c, elsewhere) }, "another world")
	says(t, func() { w.Query().Changed(d, tr) }, "Query.Changed", "does not track")
	says(t, func() { w.Query().Without(c).Changed(c, tr) }, "asks for number and leaves it out")
	says(t, func() { w.Query().Changed(c, tr).Without(c) }, "asks for number")
	says(t, func() { Query{}.Changed(c, tr) }, zeroQuery)
	says(t, func() { _ = slices.Collect(batches[0].All()) }, "Tracker.Close")
	says(t, func() {
		for range w.Query(c).All() {
			NewTracker(w, d)
		}
	}, "NewTracker")
	says(t, func() {
		for range tr.Changed(c) {
			a.New()
		}
	}, "Tracker.Changed was running")
	says(t, func() {
		for e := range tr.Added(c) {
			w.Delete(e)
		}
	}, "Tracker.Added was running")
	c.Edit(e)
	says(t, func() {
		for range tr.Changed(c) {
			tr.Next()
		}
	}, "Tracker.Next was called while Tracker.Changed was running")
	c.OnRemove(func(e Entity, _ *number) { tr.Next() })
	says(t, func() { w.Delete(e) }, "Next was called while OnRemove of column")
	if !w.Alive(e) {
		t.Error("Delete deleted the entity although its hook panicked")
	}
	if c.Edit(Entity{}) != nil || c.Set(Entity{}, number{}) {
		t.Error("the zero Entity can be edited")
	}
	q := w.Query().Changed(c, tr)
	c.c.onRemove = nil
	w.Close()
	tr.Close()
	says(t, func() { tr.Next() }, "closed world")
	says(t, func() { q.Count() }, "closed world")
	says(t, func() { NewTracker(w, c) }, "closed world")
	if c.Edit(e) != nil {
		t.Error("an entity of a closed world can be edited")
	}
}

func TestHookThatMarks(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 640})
	defer w.Close()
	c := NewColumn[number](w)
	a := w.Archetype(c)
	first, second := a.New(), a.New()
	tr := NewTracker(w, c)
	c.Set(first, number{1})
	c.OnRemove(func(Entity, *number) { c.Set(second, number{2}) })
	says(t, func() { w.DeleteAll(w.Query().Changed(c, tr)) }, "a hook wrote")
	if w.Len() != 2 {
		t.Errorf("%d entities remain, want 2", w.Len())
	}
}

func TestClosedTrackersCostNothing(t *testing.T) {
	limit := vm.NewLimit(1 << 30)
	w := NewWorld(Options{MaxEntities: 1 << 14, Limit: limit})
	defer w.Close()
	c, d := NewColumn[number](w), NewColumn[position](w)
	a := w.Archetype(c, d)
	a.NewN(5000, nil)
	before := limit.Used()
	var left, regions int
	for i := range 100 {
		tr, other := NewTracker(w, c, d), NewTracker(w, c)
		if i == 0 {
			left, regions = w.memory.left, len(w.memory.regions)
		}
		for e := range w.Query(c).All() {
			c.Edit(e)
			d.Set(e, position{})
		}
		expectTracked(t, "Edit", other, c, 0, 5000, 0)
		tr.Close()
		expectTracked(t, "Close of another tracker", other, c, 0, 5000, 0)
		other.Close()
	}
	if limit.Used() != before {
		t.Errorf("closed trackers keep %d bytes", limit.Used()-before)
	}
	if w.memory.left != left || len(w.memory.regions) != regions {
		t.Errorf("closed trackers keep addresses: %d bytes, %d regions", left-w.memory.left,
			len(w.memory.regions)-regions)
	}
	if a.observed || len(w.watched) > 0 || a.vacancy == &noVacancy {
		t.Error("the world is observed although no tracker is open")
	}
	a.New()
	w.checkInvariants()
}

func TestTrackersAtALimit(t *testing.T) {
	failed, refused := 0, 0
	for budget := 32 << 10; budget < 3<<20; budget += max(16<<10, budget/8) {
		limit := vm.NewLimit(budget)
		w := NewWorld(Options{MaxEntities: 1 << 18, Limit: limit, Pages: vm.PagesSmall})
		c, d := NewColumn[number](w), NewColumn[byte](w)
		a := w.Archetype(c)
		if a.Grow(64) != nil {
			w.Close()
			continue
		}
		e := a.New()
		state := func() string {
			return fmt.Sprint(limit.Used(), w.Len(), w.size, c.c.slots, d.c.slots, w.changes, len(w.watched))
		}
		before := state()
		var tr *Tracker
		if v := panicOf(func() { tr = NewTracker(w, c, d) }); v != nil {
			var err *vm.Error
			if f, ok := v.(error); !ok || !errors.As(f, &err) || !errors.Is(f, vm.ErrLimit) ||
				state() != before || c.c.tracked {
				t.Fatalf("%v: the state is %s, before it was %s", v, state(), before)
			}
			refused++
		} else {
			for {
				before = state()
				if err := a.Grow(a.free() + 4096); err != nil {
					if !errors.Is(err, vm.ErrLimit) && !errors.Is(err, vm.ErrCapacity) || state() != before {
						t.Fatalf("%v: the state is %s, before it was %s", err, state(), before)
					}
					failed++
					break
				}
				a.NewN(a.free(), nil)
			}
			before = state()
			if v := panicOf(func() { d.AddAll(w.Query(c), 1) }); v != nil {
				if state() != before {
					t.Fatalf("%v: the state is %s, before it was %s", v, state(), before)
				}
				expectTracked(t, "a refusal", tr, d, 0, 0, 0)
			}
			c.Set(e, number{5})
			expectTracked(t, "at the limit", tr, c, w.Len()-1, 1, 0)
		}
		w.checkInvariants()
		if err := w.Close(); err != nil || limit.Used() != 0 {
			t.Fatalf("Close returned %v, and %d bytes still count against the limit", err, limit.Used())
		}
	}
	if failed == 0 || refused == 0 {
		t.Errorf("%d growths failed, %d trackers were refused: the test covers too little",
			failed, refused)
	}
}
