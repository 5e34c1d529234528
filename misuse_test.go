package vast

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// says checks that f panics with a text that contains all the parts.
func says(t *testing.T, f func(), parts ...string) {
	t.Helper()
	v := panicOf(f)
	if v == nil {
		t.Errorf("no panic, want a panic that says %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(fmt.Sprint(v), part) {
			t.Errorf("the panic says %q, which lacks %q", v, part)
		}
	}
}

type crew struct {
	Name string
	Rank int
}

type ship struct {
	At   position
	Crew [4]crew
}

func TestPointerfulComponents(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 64})
	defer w.Close()
	tests := []struct {
		make func()
		path string
	}{
		{func() { NewColumn[ship](w) }, "NewColumn[ship]: ship.Crew[].Name is a string"},
		{func() { NewColumn[string](w) }, "string is a string"},
		{func() { NewColumn[boxed](w).Named("w") }, "boxed.N is a pointer"},
		// NewColumn calls layout.CheckOr. The cases below call CheckOr alone, because NewColumn takes ten
		// times as long to compile.
		{func() { layout.CheckOr[*int]("vast: NewColumn", useHeapColumn) }, "*int is a pointer"},
		{func() { layout.CheckOr[*World]("vast: NewColumn", useHeapColumn) }, "is a pointer"},
		{func() { layout.CheckOr[struct{ A, B []int }]("vast: NewColumn", useHeapColumn) }, ".A is a slice"},
		{func() { layout.CheckOr[struct{ M [2]map[int]int }]("vast: NewColumn", useHeapColumn) },
			".M[] is a map"},
		{func() {
			layout.CheckOr[struct {
				position
				F func()
			}]("vast: NewColumn", useHeapColumn)
		}, ".F is a function"},
		{func() { layout.CheckOr[struct{ V any }]("vast: NewColumn", useHeapColumn) }, ".V is an interface"},
		{func() { layout.CheckOr[struct{ C chan int }]("vast: NewColumn", useHeapColumn) },
			".C is a channel"},
	}
	for _, tt := range tests {
		says(t, tt.make, tt.path, "vast: NewColumn", "must not hold Go pointers")
	}
	if n := len(w.Stats().Columns); n != 0 {
		t.Errorf("%d columns were made, want none", n)
	}
	NewColumn[struct {
		_ [0]func()
		n uintptr
	}](w)
}

func TestMisuse(t *testing.T) {
	w := NewWorld(Options{Name: "home", MaxEntities: 1024})
	defer w.Close()
	abroad := NewWorld(Options{Name: "abroad", MaxEntities: 1024})
	defer abroad.Close()
	pos, vel, foreign := NewColumn[position](w), NewColumn[velocity](w), NewColumn[uint64](abroad)
	a := w.Archetype(pos)
	e := a.New()
	q := w.Query(pos)
	before := w.Stats()
	tests := []struct {
		name string
		f    func()
		says []string
	}{
		{"MaxEntities negative", func() { NewWorld(Options{MaxEntities: -1}) },
			[]string{"MaxEntities is -1", "use 1 to"}},
		{"MaxEntities too large", func() { NewWorld(Options{MaxEntities: math.MaxInt}) },
			[]string{"MaxEntities", "use 1 to"}},
		{"zero column in Archetype", func() { w.Archetype(pos, Column[velocity]{}) },
			[]string{"Archetype: column 2 was not made with NewColumn"}},
		{"nil column in Archetype", func() { w.Archetype(nil) },
			[]string{"Archetype: column 1 was not made with NewColumn"}},
		{"zero column in Query", func() { w.Query(Column[velocity]{}) },
			[]string{"Query: column 1 was not made with NewColumn"}},
		{"zero column in Without", func() { q.Without(Column[velocity]{}) },
			[]string{"Query.Without: column 1 was not made with NewColumn"}},
		{"foreign column in Archetype", func() { w.Archetype(foreign) },
			[]string{`column uint64 belongs to world "abroad", not to "home"`}},
		{"foreign column in Query", func() { w.Query(pos, foreign) },
			[]string{`belongs to world "abroad", not to "home"`}},
		{"foreign column in Without", func() { q.Without(foreign) },
			[]string{`belongs to world "abroad", not to "home"`}},
		{"zero query in DeleteAll", func() { w.DeleteAll(Query{}) },
			[]string{"zero Query", "make queries with World.Query"}},
		{"zero query in Without", func() { Query{}.Without(vel) },
			[]string{"zero Query", "make queries with World.Query"}},
		{"zero query counted", func() { Query{}.Count() },
			[]string{"zero Query", "make queries with World.Query"}},
		{"foreign query", func() { abroad.DeleteAll(q) },
			[]string{"World.DeleteAll: the query belongs to another world"}},
		{"column twice in Archetype", func() { w.Archetype(pos, vel, pos) },
			[]string{"Archetype: column position is named twice"}},
		{"column twice in Query", func() { w.Query(pos, pos) },
			[]string{"Query: column position is named twice"}},
		{"column twice in Without", func() { q.Without(vel, vel) },
			[]string{"Query.Without: column velocity is named twice"}},
		{"without a column of the query", func() { q.Without(pos) },
			[]string{"the query asks for position", "nothing matches"}},
		{"without a column again", func() { q.Without(vel).Without(vel) },
			[]string{"leaves velocity out already"}},
		{"Grow negative", func() { _ = a.Grow(-1) }, []string{"Grow(-1)", "cannot be negative"}},
		{"NewN negative", func() { a.NewN(-5, nil) }, []string{"(-5)", "cannot be negative"}},
		{"Slice of a run beyond the column", func() { vel.Slice(Run{start: 900, n: 10}) },
			[]string{"Column[velocity].Slice", "[900, 910)",
				"take the run from a query that has this column"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { says(t, tt.f, tt.says...) })
	}
	if after := w.Stats(); fmt.Sprint(after) != fmt.Sprint(before) || !w.Alive(e) || w.Len() != 1 {
		t.Errorf("misuse changed the world:\n%+v, before\n%+v", after, before)
	}
	w.checkInvariants()
}

// TestForeignRuns: a column refuses a run of other entities that reaches beyond the column's memory.
func TestForeignRuns(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 14})
	defer w.Close()
	c, never, rare := NewColumn[uint64](w), NewColumn[[8]uint64](w), NewColumn[[8]uint64](w).Named("rare")
	a := w.Archetype(c)
	first := a.New()
	rare.Add(first, [8]uint64{1})
	a.NewN(1<<14-1, nil)
	for r := range w.Query(c).Runs() {
		says(t, func() { never.Slice(r) }, "reaches beyond the column's 0 slots",
			"take the run from a query that has this column")
		says(t, func() { rare.Slice(r) }, "take the run from a query that has this column")
		r.n = 3
		if invariants.Enabled {
			says(t, func() { rare.Slice(r) }, "the entity in slot 1 lacks the component")
		} else if len(rare.Slice(r)) != 3 {
			t.Error("a run inside the column is refused")
		}
	}
}

func TestChangesInsideQueries(t *testing.T) {
	changes := []struct {
		name string
		f    func(w *World, a *Archetype, c Column[uint64], e Entity)
	}{
		{"Archetype.New", func(_ *World, a *Archetype, _ Column[uint64], _ Entity) { a.New() }},
		{"Archetype.NewN", func(_ *World, a *Archetype, _ Column[uint64], _ Entity) { a.NewN(3, nil) }},
		{"Column.Add", func(_ *World, _ *Archetype, c Column[uint64], e Entity) { c.Add(e, 1) }},
		{"Column.Remove", func(_ *World, _ *Archetype, c Column[uint64],
			e Entity) {
			c.Add(e, 1)
			c.Remove(e)
		}},
		{"World.Delete", func(w *World, _ *Archetype, _ Column[uint64], e Entity) { w.Delete(e) }},
		{"World.DeleteAll", func(w *World, _ *Archetype, _ Column[uint64],
			_ Entity) {
			w.DeleteAll(w.Query())
		}},
		{"World.Close", func(w *World, _ *Archetype, _ Column[uint64], _ Entity) { w.Close() }},
	}
	for _, tt := range changes {
		t.Run(tt.name, func(t *testing.T) {
			var w *World
			var a *Archetype
			var born, late Column[uint64]
			begin := func() Query {
				w = NewWorld(Options{Name: "home", MaxEntities: 1024})
				born, late = NewColumn[uint64](w), NewColumn[uint64](w).Named("late")
				a = w.Archetype(born)
				for range 5 {
					w.Archetype().NewN(64, nil)
					a.NewN(64, nil)
				}
				return w.Query(born)
			}
			remedy := []string{`world "home"`, "changed while", "by " + tt.name + ":",
				"writing values is not a structural change", "after the loop"}
			steps := 0
			q := begin()
			says(t, func() {
				for r := range q.Runs() {
					steps++
					tt.f(w, a, late, r.Entity(0))
				}
			}, append(remedy, "a query was running")...)
			w.Close()
			q = begin()
			says(t, func() {
				for e := range q.All() {
					steps++
					tt.f(w, a, late, e)
				}
			}, append(remedy, "a query was running")...)
			w.Close()
			if steps != 2 {
				t.Errorf("%d steps were made, want 2", steps)
			}
			begin()
			filled := w.Archetype(born, late)
			if tt.name == "Column.Add" { // Add changes the structure only if the entity lacks the component
				filled = w.Archetype(born)
			}
			says(t, func() {
				filled.NewN(100, func(r Run) { tt.f(w, a, late, r.Entity(1)) })
			}, append(remedy, "Archetype.NewN was filling new entities")...)
			w.checkInvariants()
			w.Close()
		})
	}
}

// TestRemedies: the message about a change during a loop or callback names the remedy for this change.
func TestRemedies(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	c := NewColumn[uint64](w)
	childOf := NewRelation(w, "ChildOf", RelationOptions{})
	a := w.Archetype(c)
	parent := a.New()
	says(t, func() {
		a.NewN(3, func(r Run) { childOf.SetRun(r, parent) })
	}, "NewN was filling new entities, by Relation.Set: collect the runs that NewN passes to its callback, "+
		"and call Relation.SetRun with them after NewN;")
	says(t, func() {
		for range w.Query(c).All() {
			w.Delete(parent)
		}
	}, "record it with Commands.Delete, and apply the Commands after the loop or callback, or replace the "+
		"loop by World.DeleteAll;")
	says(t, func() {
		for range w.Query(c).All() {
			NewTracker(w, c)
		}
	}, "by NewTracker: call it after the loop or callback;")
	for op, o := range operations {
		if o.name == "" {
			t.Errorf("operation %d has no name", op)
		}
	}
}

func TestNoChangesInsideQueries(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	c, none := NewColumn[uint64](w), NewColumn[byte](w)
	a := w.Archetype(c)
	dead := a.New()
	w.Delete(dead)
	a.NewN(200, nil)
	n := 0
	//vastvet:ignore queryloop: nothing changes
	for e := range w.Query(c).All() {
		// A call without an effect does not count as a change.
		if w.Delete(dead) || c.Remove(dead) || none.Remove(e) || c.Add(dead, 1) != nil ||
			w.DeleteAll(w.Query(none)) != 0 {
			t.Fatal("a stale entity is found")
		}
		a.NewN(0, nil)
		c.Add(e, 5) // overwrites
		if err := w.Trim(); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 200 {
		t.Errorf("%d steps, want 200", n)
	}
}

func TestClosedWorld(t *testing.T) {
	w := NewWorld(Options{Name: "gone", MaxEntities: 1024})
	c := NewColumn[uint64](w)
	a, idle := w.Archetype(c), w.Archetype()
	e := a.New()
	var run Run
	a.NewN(10, func(r Run) { run = r })
	q := w.Query(c)
	for range 3 {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	closed := []string{`on the closed world "gone"`, "do not use a world after Close"}
	for name, f := range map[string]func(){
		"New":            func() { a.New() },
		"New of another": func() { idle.New() },
		"NewN":           func() { a.NewN(1, nil) },
		"NewN of none":   func() { a.NewN(0, nil) },
		"Grow":           func() { _ = a.Grow(1) },
		"Add":            func() { c.Add(e, 1) },
		"Column.Grow":    func() { _ = c.Grow(1) },
		"Slice":          func() { c.Slice(run) },
		"Archetype":      func() { w.Archetype(c) },
		"NewColumn":      func() { NewColumn[byte](w) },
		"Query":          func() { w.Query(c) },
		"Without":        func() { q.Without() },
		"Runs": func() {
			for range q.Runs() {
				t.Error("a closed world has runs")
			}
		},
		"All": func() {
			for range q.All() {
				t.Error("a closed world has entities")
			}
		},
		"Count":     func() { q.Count() },
		"DeleteAll": func() { w.DeleteAll(q) },
		"Trim":      func() { _ = w.Trim() },
		"Reset":     func() { w.Reset() },
	} {
		t.Run(name, func(t *testing.T) { says(t, f, closed...) })
	}
	if w.Alive(e) || c.Has(e) || c.Get(e) != nil || c.Set(e, 1) || c.Remove(e) || w.Delete(e) ||
		c.Len() != 0 || a.Len() != 0 || w.Len() != 0 {
		t.Error("a closed world has entities or components")
	}
	s := w.Stats()
	if s.Committed != 0 || s.Reserved != 0 || s.Entities != 0 || s.Columns[0].Committed != 0 ||
		s.Columns[0].Entities != 0 || s.Slots != 0 {
		t.Errorf("statistics of a closed world: %+v", s)
	}
	if n, err := w.Resident(); n != 0 || err != nil {
		t.Errorf("%d bytes of a closed world are resident, %v", n, err)
	}
	empty := NewWorld(Options{})
	for range 2 {
		if err := empty.Close(); err != nil {
			t.Errorf("closing an empty world: %v", err)
		}
	}
}

func TestImpossibleSizes(t *testing.T) {
	w := NewWorld(Options{MaxEntities: min(1<<32-64, math.MaxInt/64&^63)})
	defer w.Close()
	var e *vm.Error
	v, _ := panicOf(func() { NewColumn[[1 << 20]byte](w) }).(error)
	if !errors.As(v, &e) {
		t.Fatalf("a column of 2^52 bytes: %v", v)
	}
	small := NewWorld(Options{MaxEntities: 1})
	defer small.Close()
	a := small.Archetype(NewColumn[byte](small))
	if err := a.Grow(math.MaxInt); !errors.Is(err, vm.ErrCapacity) ||
		!strings.Contains(err.Error(), "Options.MaxEntities") {
		t.Errorf("Grow(math.MaxInt): %v", err)
	}
	if e := a.New(); !small.Alive(e) {
		t.Error("the world does not work after a failed Grow")
	}
}
