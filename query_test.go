package vast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

func TestQuery(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 14})
	defer w.Close()
	a, b, c := NewColumn[uint32](w), NewColumn[uint32](w).Named("b"), NewColumn[uint32](w).Named("c")
	made := w.Archetype(a)
	var es []Entity
	for i := range 10_000 {
		e := made.New()
		*a.Get(e) = uint32(i)
		if i%2 == 0 {
			b.Add(e, 0)
		}
		if i%3 == 0 {
			c.Add(e, 0)
		}
		es = append(es, e)
	}
	tests := []struct {
		name  string
		q     Query
		match func(i int) bool
	}{
		{"all", w.Query(), func(int) bool { return true }},
		{"a", w.Query(a), func(int) bool { return true }},
		{"a b", w.Query(a, b), func(i int) bool { return i%2 == 0 }},
		{"c b a", w.Query(c, b, a), func(i int) bool { return i%6 == 0 }},
		{"a without b", w.Query(a).Without(b), func(i int) bool { return i%2 != 0 }},
		{"without b", w.Query().Without(b), func(i int) bool { return i%2 != 0 }},
		{"without b, c", w.Query().Without(b, c), func(i int) bool { return i%2 != 0 && i%3 != 0 }},
		{"lacks b and c", w.Query().Without(b).Without(c), func(i int) bool { return i%2 != 0 && i%3 != 0 }},
		{"b without c", w.Query(b).Without(c), func(i int) bool { return i%2 == 0 && i%3 != 0 }},
		{"a, nothing left out", w.Query(a).Without(), func(int) bool { return true }},
		{"without a", w.Query().Without(a), func(int) bool { return false }},
	}
	for _, tt := range tests {
		var want []Entity
		for i, e := range es {
			if tt.match(i) {
				want = append(want, e)
			}
		}
		if got := slices.Collect(tt.q.All()); !slices.Equal(got, want) {
			t.Errorf("%s: All yields %d entities, want %d", tt.name, len(got), len(want))
		}
		if n := tt.q.Count(); n != len(want) {
			t.Errorf("%s: Count is %d, want %d", tt.name, n, len(want))
		}
		var got []Entity
		for r := range tt.q.Runs() {
			for i, v := range a.Slice(r) {
				got = append(got, r.Entity(i))
				if es[v] != r.Entity(i) {
					t.Fatalf("%s: %v has the value of %v", tt.name, r.Entity(i), es[v])
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: Runs yields %d entities, want %d", tt.name, len(got), len(want))
		}
	}
	q := w.Query(a)
	q.Without(b)
	if q.Count() != 10_000 {
		t.Errorf("Without changes its receiver: it matches %d entities", q.Count())
	}
}

func TestQueryBeforeColumnsGrow(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 16})
	defer w.Close()
	a, b := NewColumn[[3]uint64](w), NewColumn[byte](w)
	with, without, all := w.Query(a, b), w.Query(a).Without(b), w.Query()
	if with.Count()+without.Count()+all.Count() != 0 {
		t.Error("an empty world has entities")
	}
	made := w.Archetype(a)
	for i := range 50_000 {
		e := made.New()
		if i >= 49_000 {
			b.Add(e, 1)
		}
		if i%5000 == 0 && (without.Count() != min(i+1, 49_000) || all.Count() != i+1) {
			t.Fatalf("with %d entities, %d lack b, and the query of all counts %d", i+1, without.Count(),
				all.Count())
		}
	}
	if with.Count() != 1000 || without.Count() != 49_000 || all.Count() != 50_000 {
		t.Errorf("%d entities have b, %d lack b, the query of all counts %d", with.Count(), without.Count(),
			all.Count())
	}
}

func TestRunsAreMaximal(t *testing.T) {
	slots := 1 << 19
	// Some gaps lie at borders of words, of blocks of 4,096 slots and of groups of 262,144 slots.
	gaps := []int{0, 63, 64, 127, 1000, 4095, 4096, 8192, 100_000, 262_143, 262_144, 300_000}
	if longtest.Race {
		slots, gaps = 1<<14, gaps[:8]
	}
	w := NewWorld(Options{MaxEntities: slots})
	defer w.Close()
	c := NewColumn[byte](w)
	w.Archetype(c).NewN(slots, nil)
	es := entitiesOf(w.Query())
	for _, i := range gaps {
		c.Remove(es[i])
	}
	type run struct{ start, n int }
	var want, got []run
	at := 0
	for _, i := range append(gaps, slots) {
		if i > at {
			want = append(want, run{at, i - at})
		}
		at = i + 1
	}
	for r := range w.Query(c).Runs() {
		got = append(got, run{r.Start(), r.Len()})
	}
	if !slices.Equal(got, want) {
		t.Errorf("runs %v, want %v", got, want)
	}
	for _, i := range gaps {
		w.Delete(es[i])
	}
	got = nil
	for r := range w.Query().Runs() {
		got = append(got, run{r.Start(), r.Len()})
	}
	if !slices.Equal(got, want) {
		t.Errorf("runs of living entities %v, want %v", got, want)
	}
}

func TestQueryLeftEarly(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 4096})
	defer w.Close()
	c := NewColumn[uint64](w)
	a := w.Archetype(c)
	a.NewN(2000, nil)
	q := w.Query(c)
	n := 0
	for e := range q.All() {
		if n++; n == 700 {
			w.Delete(e) // the loop ends here
			break
		}
	}
	for range q.Runs() {
		a.New()
		break
	}
	if n != 700 || w.Len() != 2000 || q.Count() != 2000 {
		t.Errorf("%d steps, want 700; %d entities and %d matches, want 2000", n, w.Len(), q.Count())
	}
	// Inner queries, writes to values and Grow do not change the structure.
	sum := 0
	for e := range q.All() {
		if e.Slot()%500 == 0 {
			for r := range q.Runs() {
				sum += r.Len()
			}
		}
		c.Set(e, uint64(e.Slot()))
		*c.Get(e)++
		if err := c.Grow(1); err != nil {
			t.Fatal(err)
		}
		if err := a.Grow(100); err != nil {
			t.Fatal(err)
		}
	}
	if sum != 4*2000 {
		t.Errorf("the inner queries saw %d entities, want 8000", sum)
	}
}

func TestQueryAllocatesNothing(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 14})
	defer w.Close()
	a, b := NewColumn[position](w), NewColumn[velocity](w)
	w.Archetype(a, b).NewN(10_000, nil)
	for i, e := range entitiesOf(w.Query()) {
		if i%7 == 0 {
			b.Remove(e)
		}
	}
	q, without := w.Query(a, b), w.Query(a).Without(b)
	if n := testing.AllocsPerRun(10, func() {
		sum := 0.0
		for r := range q.Runs() {
			for i, p := range a.Slice(r) {
				sum += p.X + b.Slice(r)[i].X
			}
		}
		for e := range without.All() {
			sum += a.Get(e).X
		}
		if q.Count() == 0 || sum != 0 {
			t.Error("the query finds nothing, or values other than 0")
		}
	}); n != 0 {
		t.Errorf("running the queries makes %v allocations", n)
	}
}

// TestQueryOfManyColumns runs a query that requires nine columns and excludes three. bitset.Filter has
// separate fields only for the first two required columns.
func TestQueryOfManyColumns(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	w := NewWorld(Options{MaxEntities: 1 << 13})
	defer w.Close()
	var cs []Column[byte]
	for range 12 {
		cs = append(cs, NewColumn[byte](w))
	}
	w.Archetype(cs[0]).NewN(1<<13, nil)
	for _, e := range entitiesOf(w.Query()) {
		for i, c := range cs[1:] {
			if likely := i < 8; r.IntN(10) < 9 == likely {
				c.Add(e, 1)
			}
		}
	}
	var with, minus []AnyColumn
	for i, c := range cs {
		if i < 9 {
			with = append(with, c)
		} else {
			minus = append(minus, c)
		}
	}
	var want []Entity
	for e := range w.Query().All() {
		ok := true
		for i, c := range cs {
			ok = ok && c.Has(e) == (i < 9)
		}
		if ok {
			want = append(want, e)
		}
	}
	if got := entitiesOf(w.Query(with...).Without(minus...)); len(want) < 100 || !slices.Equal(got, want) {
		t.Errorf("%d entities match, want %d", len(got), len(want))
	}
}

func TestRun(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 640})
	defer w.Close()
	c := NewColumn[uint64](w)
	w.Archetype(c).NewN(100, nil)
	for r := range w.Query(c).Runs() {
		if r.Start() != 0 || r.Len() != 100 || r.Entity(99).Slot() != 99 || !w.Alive(r.Entity(0)) {
			t.Errorf("the run has %d slots from slot %d on, want 100 from slot 0 on", r.Len(), r.Start())
		}
		for _, i := range []int{-1, 100, math.MaxInt} {
			if v := panicOf(func() { r.Entity(i) }); fmt.Sprint(v) != "vast: Run.Entity: the index is out "+
				"of range: use 0 to Len()-1" {
				t.Errorf("Entity(%d) panics with %v", i, v)
			}
		}
	}
	var none Run
	if none.Len() != 0 || len(c.Slice(none)) != 0 {
		t.Error("the zero Run is not empty")
	}
}
