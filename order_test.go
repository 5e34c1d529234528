package vast

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

// ordered compares an Order of n entities with a stable sort. The keys are random.
func ordered[K OrderKey](t *testing.T, n int, random func(*rand.Rand) K) {
	t.Helper()
	seed := rand.Uint64()
	name := fmt.Sprintf("%T, %d, seed %d", K(0), n, seed)
	r := rand.New(rand.NewPCG(seed, 0))
	w := NewWorld(Options{MaxEntities: 1 << 14})
	defer w.Close()
	// The components are indices of keys, so that one type of column serves all types of keys.
	var keys []K
	add := func() uint64 { keys = append(keys, random(r)); return uint64(len(keys) - 1) }
	key := func(v *uint64) K { return keys[*v] }
	col, other := NewColumn[uint64](w), NewColumn[byte](w)
	for made := 0; made < n; {
		k := min(1+r.IntN(500), n-made)
		w.Archetype().NewN(r.IntN(30), nil)
		w.Archetype(col).NewN(k, func(run Run) {
			for i := range col.Slice(run) {
				col.Slice(run)[i] = add()
			}
		})
		made += k
	}
	q := w.Query(col).Without(other)
	o := NewOrder(q, col, key)
	less := func(direction int) func(a, b Entity) int {
		return func(a, b Entity) int {
			x, y := key(col.Get(a)), key(col.Get(b))
			if x != x || y != y {
				if x != x && y != y {
					return 0
				}
				return cmp.Compare(fmt.Sprint(x != x), fmt.Sprint(y != y)) // NaNs come last in each direction
			}
			return direction * cmp.Compare(x, y)
		}
	}
	for round := range 3 {
		for direction, seq := range map[int]iter.Seq2[Slot, *uint64]{1: o.Ascending(), -1: o.Descending()} {
			want := entitiesOf(q)
			slices.SortStableFunc(want, less(direction))
			var got []Entity
			for s, v := range seq {
				e := s.Entity()
				if v != col.Get(e) {
					t.Fatalf("%s: %v comes with the value of another entity", name, e)
				}
				got = append(got, e)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s, round %d, direction %d: the order is wrong", name, round, direction)
			}
		}
		for _, e := range entitiesOf(q) {
			switch r.IntN(4) {
			case 0:
				other.Add(e, 1)
			case 1:
				*col.Get(e) = add()
			}
		}
	}
}

func TestOrder(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100, 127, 128, 5000} {
		ordered(t, n, func(r *rand.Rand) int8 { return int8(r.Uint32()) })
		ordered(t, n, func(r *rand.Rand) uint16 { return uint16(r.Uint32()) })
		ordered(t, n, func(r *rand.Rand) int32 { return int32(r.Uint32()) })
		ordered(t, n, func(r *rand.Rand) int { return int(r.Uint64()) >> (r.IntN(8) * 8) })
		ordered(t, n, func(r *rand.Rand) uint64 { return r.Uint64() >> (r.IntN(8) * 8) })
		ordered(t, n, func(r *rand.Rand) float32 { return float32(r.NormFloat64()) })
		special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64,
			-math.MaxFloat64,
			math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.Float64frombits(math.MaxUint64),
			1, -1}
		ordered(t, n, func(r *rand.Rand) float64 { return special[r.IntN(len(special))] })
		ordered(t, n, func(r *rand.Rand) float64 { return math.Float64frombits(r.Uint64()) })
	}
}

func TestOrderOfStorages(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	rare, names := NewSparseColumn[uint64](w), NewHeapColumn[string](w)
	for i := range 500 {
		e := w.Archetype(rare, names).New()
		rare.Set(e, uint64(i*7919%500))
		names.Set(e, fmt.Sprintf("%*d", i*7919%500, 1))
	}
	want := uint64(0)
	for s, v := range NewOrder(w.Query(rare), rare, func(v *uint64) uint64 { return *v }).Ascending() {
		if *v != want || rare.At(s) != v {
			t.Fatalf("%d is yielded, want %d", *v, want)
		}
		want++
	}
	last := 500
	for s, v := range NewOrder(w.Query(names), names, func(v *string) int { return len(*v) }).Descending() {
		if len(*v) > last || names.At(s) != v {
			t.Fatalf("%q is yielded after a name of %d bytes", *v, last)
		}
		last = len(*v)
	}
}

func TestOrderAllocatesNothing(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 4096})
	defer w.Close()
	col := NewColumn[position](w)
	w.Archetype(col).NewN(3000, func(r Run) {
		for i := range col.Slice(r) {
			col.Slice(r)[i].X = rand.Float64()
		}
	})
	o := NewOrder(w.Query(col), col, func(p *position) float64 { return p.X })
	sum := 0
	loop := func() {
		for s := range o.Ascending() {
			sum += s.Index()
		}
	}
	loop()
	if n := testing.AllocsPerRun(10, loop); n != 0 && !longtest.Race {
		t.Errorf("a loop makes %v allocations", n)
	}
}

func TestOrderMisuse(t *testing.T) {
	w, abroad := NewWorld(Options{Name: "home", MaxEntities: 64}),
		NewWorld(Options{Name: "abroad", MaxEntities: 64})
	defer w.Close()
	defer abroad.Close()
	col, other, foreign := NewColumn[uint64](w), NewColumn[uint64](w).Named("other"),
		NewColumn[uint64](abroad)
	key := func(v *uint64) uint64 { return *v }
	w.Archetype(col).NewN(5, nil)
	says(t, func() { NewOrder(Query{}, col, key) }, "zero Query")
	says(t, func() { NewOrder(w.Query(col), other, key) },
		"NewOrder: the query does not ask for other: name it in World.Query")
	says(t, func() { NewOrder(w.Query(col), foreign, key) }, `belongs to world "abroad"`)
	says(t, func() { NewOrder(w.Query(col), Column[uint64]{}, key) }, "NewOrder: column 1 was not made")
	o := NewOrder(w.Query(col), col, key)
	says(t, func() {
		for s := range o.Ascending() {
			other.Add(s.Entity(), 1)
		}
	}, "while a query was running, by Column.Add")
	says(t, func() {
		for range o.Ascending() {
			for range o.Descending() {
			}
		}
	}, "a loop over it is running", "make a second Order")
	e, _ := w.Query(col).First()
	changing := NewOrder(w.Query(col), col, func(*uint64) int { w.Delete(e); return 0 })
	says(t, func() {
		for range changing.Ascending() {
			t.Error("an entity is yielded")
		}
	}, "while a query was running, by World.Delete")
	n := 0
	for _, v := range o.Ascending() {
		*v = 9 // the running loop keeps its order
		if n++; n == 2 {
			break
		}
	}
	for range o.Ascending() {
		n++
	}
	if n != 2+4 {
		t.Errorf("%d steps, want 6", n)
	}
	w.Close()
	says(t, func() {
		for range o.Ascending() {
		}
	}, "on the closed world")
}

// TestOrderOfSources: entities with equal keys come in the order of slots, even if the query yields them in
// another order.
func TestOrderOfSources(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 4096})
	defer w.Close()
	c := NewColumn[uint64](w)
	rel := NewRelation(w, "ChildOf", RelationOptions{})
	a := w.Archetype(c)
	target := a.New()
	for _, n := range []int{fewRanked / 2, 2 * fewRanked} {
		var want []Entity
		for range n {
			want = append(want, a.New())
		}
		for _, e := range slices.Backward(want) {
			rel.Set(e, target)
		}
		o := NewOrder(w.Query(c).To(rel, target), c, func(v *uint64) uint64 { return *v })
		for _, order := range []iter.Seq2[Slot, *uint64]{o.Ascending(), o.Descending()} {
			var got []Entity
			for s := range order {
				got = append(got, s.Entity())
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d entities with equal keys do not come in the order of slots", n)
			}
		}
		w.DeleteAll(w.Query(rel))
	}
}
