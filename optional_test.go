package vast

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

func TestOptionalIllFormed(t *testing.T) {
	w, abroad := NewWorld(Options{Name: "home", MaxEntities: 64}),
		NewWorld(Options{Name: "abroad", MaxEntities: 64})
	defer w.Close()
	defer abroad.Close()
	pos, vel, tag, foreign := NewColumn[position](w), NewColumn[velocity](w), NewTag(w, "t"),
		NewColumn[uint64](abroad)
	q := w.Query(pos)
	for _, tt := range []struct {
		f    func()
		says string
	}{
		{func() { Query{}.Optional(pos) }, "zero Query"},
		{func() { Query{}.Exactly() }, "zero Query"},
		{func() { Query{}.Among(nil) }, "zero Query"},
		{func() { q.Optional(pos) }, "Query.Optional: the query asks for position"},
		{func() { q.Optional(vel, vel) }, "Query.Optional: column velocity is named twice"},
		{func() { q.Optional(vel).Optional(tag, vel) },
			"Query.Optional: velocity is optional in the query already"},
		{func() { q.Optional(nil) }, "Query.Optional: column 1 was not made with NewColumn"},
		{func() { q.Optional(foreign) },
			`Query.Optional: column uint64 belongs to world "abroad", not to "home"`},
		{func() { q.Without(vel).Optional(vel) }, "Query.Optional: the query leaves velocity out"},
		{func() { q.Optional(vel).Without(vel) },
			"Query.Without: the query leaves velocity out and names it in Any or Optional"},
	} {
		says(t, tt.f, tt.says)
	}
	if vel.TrySlice(Run{}) != nil || tag.In(Run{}) || vel.TrySlice(Run{start: 1 << 20, n: 1}) != nil {
		t.Error("a run without entities has components")
	}
	w.Close()
	says(t, func() { q.Optional(vel) }, "Query.Optional on the closed world")
	says(t, func() { q.Exactly() }, "Query.Exactly on the closed world")
	says(t, func() { q.Among(nil) }, "Query.Among on the closed world")
}

// TestOptionalBorders checks runs that end at the borders of words, of blocks and of a column's memory.
func TestOptionalBorders(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 16})
	defer w.Close()
	a, b := NewColumn[uint64](w), NewSparseColumn[uint64](w).Named("b")
	h, never := NewHeapColumn[string](w), NewTag(w, "never")
	w.Archetype(a).NewN(1<<16, nil)
	es := entitiesOf(w.Query())
	q := w.Query(a).Optional(b, never, h)
	if runs := slices.Collect(q.Runs()); len(runs) != 1 || runs[0].Len() != 1<<16 || b.In(runs[0]) ||
		never.In(runs[0]) || h.In(runs[0]) {
		t.Errorf("the runs of a world without the components: %v", runs)
	}
	b.AddAll(w.Query().Among(es[64:128]), 1)
	b.AddAll(w.Query().Among(es[4096:8192]), 1)
	b.Add(es[1<<16-1], 1)
	h.Add(es[70], "seventy")
	var starts []int
	for run := range q.Runs() {
		starts = append(starts, run.Start())
		if h.In(run) != (run.Start() == 70) || b.In(run) != b.Has(run.Entity(0)) {
			t.Errorf("the run at %d: h.In returns %v and b.In %v", run.Start(), h.In(run), b.In(run))
		}
	}
	if want := []int{0, 64, 70, 71, 128, 4096, 8192, 1<<16 - 1}; !slices.Equal(starts, want) {
		t.Errorf("runs start at %v, want %v", starts, want)
	}
	b.AddAll(q, 2)
	if runs := slices.Collect(q.Runs()); len(runs) != 3 || !b.In(runs[0]) {
		t.Errorf("%d runs, want 3: all entities have b, and one entity has h", len(runs))
	}
}

// TestExactlySeesLaterColumns: Exactly excludes entities with a column that is newer than the query. Exactly
// ignores internal columns.
func TestExactlySeesLaterColumns(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 4096})
	defer w.Close()
	a, b := NewColumn[uint64](w), NewColumn[uint64](w).Named("b")
	w.Archetype(a).NewN(100, nil)
	w.Archetype(a, b).NewN(50, nil)
	w.Archetype().NewN(10, nil)
	q, bare, both := w.Query(a).Exactly(), w.Query().Exactly(), w.Query(a).Optional(b).Exactly()
	if q.Count() != 100 || bare.Count() != 10 || both.Count() != 150 {
		t.Errorf("the queries match %d, %d and %d entities, want 100, 10 and 150", q.Count(), bare.Count(),
			both.Count())
	}
	tag := NewTag(w, "later")
	first, _ := q.First()
	tag.Add(first)
	for i := range 1000 {
		NewTag(w, fmt.Sprint("unused ", i))
	}
	last := NewTag(w, "last")
	last.AddAll(bare)
	w.Archetype(a, last).NewN(30, nil)
	if q.Count() != 99 || bare.Count() != 0 || both.Count() != 149 {
		t.Errorf("with newer columns, the queries match %d, %d and %d entities, want 99, 0 and 149",
			q.Count(), bare.Count(), both.Count())
	}
	last.c.internal = true
	if q.Count() != 99+30 || bare.Count() != 10 {
		t.Errorf("with an internal column, the queries match %d and %d entities, want 129 and 10",
			q.Count(), bare.Count())
	}
	last.c.internal = false
}

// TestAmongAgain runs a query with a list before and after changes of the listed entities.
func TestAmongAgain(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 4096})
	defer w.Close()
	a := NewColumn[uint64](w)
	w.Archetype(a).NewN(300, nil)
	list := entitiesOf(w.Query())[100:250]
	q := w.Query(a).Among(list)
	if runs := slices.Collect(q.Runs()); len(runs) != 1 || runs[0].Start() != 100 || runs[0].Len() != 150 {
		t.Errorf("a list without gaps has the runs %v", runs)
	}
	w.Delete(list[0])
	if reborn := w.Archetype(a).New(); reborn.Slot() != list[0].Slot() {
		t.Fatalf("%v was not made in the free slot", reborn)
	}
	a.Remove(list[149])
	if n := q.Count(); n != 148 {
		t.Errorf("%d entities, want 148", n)
	}
	if n := w.DeleteAll(q); n != 148 || w.Len() != 300-148 || w.DeleteAll(q) != 0 {
		t.Errorf("%d deleted, %d left", n, w.Len())
	}
	w.checkInvariants()
}

// TestFormsSideBySide: several goroutines can run one query at the same time.
func TestFormsSideBySide(t *testing.T) {
	f := newFormsWorld(rand.New(rand.NewPCG(1, 2)), 70, 3000)
	defer f.Close()
	q := f.Query().Optional(f.columns[0], f.columns[1]).Exactly().Among(f.inOrder())
	want := q.Count()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if n := q.Count(); n != want {
				t.Errorf("%d entities, want %d", n, want)
			}
		})
	}
	all.Wait()
	if n := testing.AllocsPerRun(10, func() { q.Count() }); n != 0 && !longtest.Race {
		t.Errorf("Count makes %v allocations", n)
	}
}
