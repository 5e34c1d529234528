package sched

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vastgo/vast"
)

func nothing(*Context) {}

func newWorld(t testing.TB, n int) (*vast.World, []vast.Column[uint64]) {
	t.Helper()
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 14})
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	cols := make([]vast.Column[uint64], n)
	for i := range cols {
		cols[i] = vast.NewColumn[uint64](w).Named(string(rune('A' + i)))
	}
	return w, cols
}

func newSchedule(t testing.TB, w *vast.World, o Options) *Schedule {
	t.Helper()
	s := New(w, o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func tick(t testing.TB, s *Schedule, n int) {
	t.Helper()
	for range n {
		if err := s.Tick(); err != nil {
			t.Fatal(err)
		}
	}
}

func order(t testing.TB, s *Schedule) string {
	t.Helper()
	if err := s.Build(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range s.Graph().Systems {
		names = append(names, g.Name)
	}
	return strings.Join(names, " ")
}

func edges(s *Schedule) (list []string) {
	for _, e := range s.Graph().Edges {
		list = append(list, e.From+">"+e.To+": "+strings.Join(e.Why, "; "))
	}
	return list
}

func TestOrderByConflicts(t *testing.T) {
	w, c := newWorld(t, 2)
	s := newSchedule(t, w, Options{Workers: 1})
	s.Add(System{Name: "read", Reads: Columns(c[0]), Run: nothing})
	s.Add(System{Name: "read too", Reads: Columns(c[0]), ReadsResources: Resources(ResourceOf[int]()),
		Run: nothing})
	s.Add(System{Name: "write", Reads: Columns(c[0]), Writes: Columns(c[0]), Run: nothing})
	s.Add(System{Name: "write again", Writes: Columns(c[0], c[1]), Run: nothing})
	s.Add(System{Name: "clock", WritesResources: Resources(ResourceOf[int]()), Run: nothing})
	s.Add(System{Name: "alone", Run: nothing})
	if got := order(t, s); got != "read read too write write again clock alone" {
		t.Errorf("order %s", got)
	}
	want := []string{
		"read too>write: read too reads A, write writes it",
		"read>write: read reads A, write writes it",
		"write>write again: both write A",
		"read too>clock: read too reads int, clock writes it",
	}
	if got := edges(s); !slices.Equal(got, want) {
		t.Errorf("edges %q", got)
	}
}

func TestOrderByName(t *testing.T) {
	w, c := newWorld(t, 1)
	s := newSchedule(t, w, Options{Workers: 1})
	s.Add(System{Name: "a", Writes: Columns(c[0]), Run: nothing})
	s.Add(System{Name: "b", Writes: Columns(c[0]), Run: nothing})
	s.Add(System{Name: "c", Writes: Columns(c[0]), Before: []string{"a"}, Run: nothing})
	s.Add(System{Name: "d", Run: nothing})
	s.Add(System{Name: "e", After: []string{"f"}, Run: nothing})
	s.Add(System{Name: "f", Before: []string{"d"}, Run: nothing})
	// a comes before b, because both write A and a was added first. Names require the other orders.
	if got := order(t, s); got != "c a b f d e" {
		t.Errorf("order %s", got)
	}
	want := []string{"c>a: c is Before a; both write A", "f>e: e is After f", "f>d: f is Before d",
		"a>b: both write A"}
	if got := edges(s); !slices.Equal(got, want) {
		t.Errorf("edges %q", got)
	}
}

func TestCycle(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1})
	s.Add(System{Name: "a", Before: []string{"b"}, Run: nothing})
	s.Add(System{Name: "b", Before: []string{"c"}, Run: nothing})
	s.Add(System{Name: "x", After: []string{"a"}, Run: nothing})
	s.Add(System{Name: "c", Before: []string{"a"}, Run: nothing})
	for _, f := range []func() error{s.Build, s.Tick} {
		var e *OrderError
		if err := f(); !errors.As(err, &e) || !slices.Equal(e.Systems, []string{"c", "a", "b", "c"}) ||
			!strings.Contains(err.Error(), "c → a → b → c") {
			t.Errorf("%v", err)
		}
	}
	itself := newSchedule(t, w, Options{Workers: 1})
	itself.Add(System{Name: "a", After: []string{"a"}, Run: nothing})
	var e *OrderError
	if err := itself.Build(); !errors.As(err, &e) || !slices.Equal(e.Systems, []string{"a", "a"}) {
		t.Errorf("%v", err)
	}
}

func TestNames(t *testing.T) {
	w, _ := newWorld(t, 0)
	for _, test := range []struct {
		system System
		want   string
	}{
		{System{Name: "b", After: []string{"nobody"}}, `"b" names "nobody" in After`},
		{System{Name: "b", Before: []string{"nobody"}}, `"b" names "nobody" in Before`},
		{System{Name: "b", Phase: "late", Before: []string{"a"}},
			`phase "late" of "b" comes after phase "update" of "a"`},
		{System{Name: "b", Phase: "early", After: []string{"a"}},
			`phase "early" of "b" comes before phase "update" of "a"`},
	} {
		s := newSchedule(t, w, Options{Workers: 1, Phases: []Phase{"early", Update, "late"}})
		s.Add(System{Name: "a", Run: nothing})
		test.system.Run = nothing
		s.Add(test.system)
		if err := s.Tick(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}

func TestPhases(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1, Phases: []Phase{"first", Update, "last"}})
	s.Add(System{Name: "c", Phase: "last", After: []string{"a"}, Run: nothing})
	s.Add(System{Name: "b", Run: nothing})
	s.Add(System{Name: "a", Phase: "first", Run: nothing})
	if got := order(t, s); got != "a b c" {
		t.Errorf("order %s", got)
	}
	s = newSchedule(t, w, Options{Workers: 1})
	s.Add(System{Name: "c", Phase: "last", Run: nothing})
	s.Add(System{Name: "a", Phase: "first", Run: nothing})
	s.Add(System{Name: "d", Phase: "last", Run: nothing})
	if got := order(t, s); got != "c d a" {
		t.Errorf("order %s", got)
	}
}

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if v, ok := recover().(string); !ok || !strings.Contains(v, want) {
			t.Errorf("panicked with %q, want %q", v, want)
		}
	}()
	f()
}

func TestAddMisuse(t *testing.T) {
	w, c := newWorld(t, 1)
	_, foreign := newWorld(t, 1)
	s := newSchedule(t, w, Options{Workers: 1, Phases: []Phase{Update}})
	s.Add(System{Name: "a", Run: nothing})
	for want, sys := range map[string]System{
		"needs a name":                         {Run: nothing},
		`"b" has no Run`:                       {Name: "b"},
		`A of Writes belongs to another world`: {Name: "b", Writes: Columns(c[0], foreign[0]), Run: nothing},
		"column 1 of Reads was not made":       {Name: "b", Reads: Columns(vast.Column[int]{}), Run: nothing},
		"column 1 of Reads was not":            {Name: "b", Reads: Columns(nil), Run: nothing},
		"zero Resource": {Name: "b", ReadsResources: Resources(Resource{}),
			Run: nothing},
		`of phase "x"`: {Name: "b", Phase: "x", Run: nothing},
	} {
		mustPanic(t, want, func() { s.Add(sys) })
	}
	if got := order(t, s); got != "a" {
		t.Errorf("order %s", got)
	}
	mustPanic(t, "the world is nil", func() { New(nil, Options{}) })
	mustPanic(t, "Workers is -1", func() { New(w, Options{Workers: -1}) })
	mustPanic(t, "phase 2", func() { New(w, Options{Phases: []Phase{"a", "a"}}) })
}

func TestGraph(t *testing.T) {
	w, c := newWorld(t, 1)
	s := newSchedule(t, w, Options{Workers: 1})
	s.Add(System{Name: `say "x\n"`, Writes: Columns(c[0]), Run: nothing})
	s.Add(System{Name: "b", Exclusive: true, WritesResources: Resources(ResourceOf[int]()), Run: nothing})
	order(t, s)
	g := s.Graph()
	text, err := json.Marshal(g)
	var back Graph
	if err != nil || json.Unmarshal(text, &back) != nil || !reflect.DeepEqual(g, back) {
		t.Errorf("%s: %v", text, err)
	}
	dot := g.DOT()
	for _, want := range []string{
		`subgraph "cluster update" {`, `"say \"x\\n\"" [label="say \"x\\n\"\nwrites A"];`,
		`"b" [label="b\nwrites int\nexclusive"];`, `"say \"x\\n\"" -> "b" [label="exclusive"];`,
	} {
		if !strings.Contains(dot, want) {
			t.Errorf("no %s in\n%s", want, dot)
		}
	}
}

func TestOrderModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	w, c := newWorld(t, 8)
	for range 100 {
		s := newSchedule(t, w, Options{Workers: 1})
		n := 1 + r.IntN(30)
		rank := r.Perm(n) // Before and After follow the rank, so there is no cycle
		for i := range n {
			sys := System{Name: string(rune('a' + i)), Exclusive: r.IntN(20) == 0, Run: nothing}
			for _, col := range c {
				switch r.IntN(10) {
				case 0:
					sys.Writes = append(sys.Writes, col)
				case 1, 2:
					sys.Reads = append(sys.Reads, col)
				}
			}
			if other := r.IntN(n); rank[other] > rank[i] {
				sys.Before = []string{string(rune('a' + other))}
			} else if other != i {
				sys.After = []string{string(rune('a' + other))}
			}
			s.Add(sys)
		}
		names := strings.Fields(order(t, s))
		at := func(name string) int { return slices.Index(names, name) }
		// after holds each pair {a, b} of systems where b starts only after a has ended.
		after := make(map[[2]*node]bool)
		var all []*node
		for k, st := range s.stages {
			for i := len(st.nodes) - 1; i >= 0; i-- {
				n := st.nodes[i]
				for _, next := range n.next {
					after[[2]*node{n, next}] = true
					for _, m := range st.nodes {
						if after[[2]*node{next, m}] {
							after[[2]*node{n, m}] = true
						}
					}
				}
				for _, later := range s.stages[k+1:] {
					for _, m := range later.nodes {
						after[[2]*node{n, m}] = true
					}
				}
			}
			all = append(all, st.nodes...)
		}
		for i, a := range all {
			for _, name := range a.Before {
				if at(a.Name) >= at(name) {
					t.Fatalf("%s is not before %s: %v", a.Name, name, names)
				}
			}
			for _, name := range a.After {
				if at(a.Name) <= at(name) {
					t.Fatalf("%s is not after %s: %v", a.Name, name, names)
				}
			}
			for _, b := range all[i+1:] {
				if len(a.conflicts(b)) > 0 && !after[[2]*node{a, b}] {
					t.Fatalf("%s and %s conflict, and may run at the same time", a.Name, b.Name)
				}
			}
		}
	}
}

// TestThousandSystems: a chain of a thousand systems has only edges between neighbours. A thousand other
// systems have no edges.
func TestThousandSystems(t *testing.T) {
	const n = 1000
	for _, workers := range []int{1, 3} {
		w, c := newWorld(t, 2)
		s := newSchedule(t, w, Options{Workers: workers})
		var order []int
		var apart atomic.Int64
		for i := range n {
			s.Add(System{Name: fmt.Sprint("chained ", i), Writes: Columns(c[0]), Run: func(*Context) {
				order = append(order, i)
			}})
			s.Add(System{Name: fmt.Sprint("apart ", i), Reads: Columns(c[1]), Run: func(*Context) {
				apart.Add(1)
			}})
		}
		tick(t, s, 2)
		if len(order) != 2*n || !slices.IsSorted(order[:n]) || !slices.IsSorted(order[n:]) ||
			apart.Load() != 2*n {
			t.Errorf("with %d workers the chained systems ran %d times, in order %v, and the others %d times",
				workers, len(order), order, apart.Load())
		}
		if edges := len(s.Graph().Edges); edges != n-1 {
			t.Errorf("%d edges", edges)
		}
	}
}
