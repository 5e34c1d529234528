package vast

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestInOrder compares inOrder with a sort by comparison.
func TestInOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, n := range []int{0, 1, 2, fewListed - 1, fewListed, fewListed + 1, 255, 256, 257, 3000} {
		for _, slots := range []uint32{1, 3, 64, 300, 1 << 20, 1<<32 - 1} {
			for _, step := range []uint32{1, 64} {
				for _, generations := range []uint32{1, 3} {
					list := make([]Entity, n)
					for i := range list {
						list[i] = Entity{r.Uint32N(slots) * step, r.Uint32N(generations)}
					}
					switch r.IntN(3) {
					case 0:
						slices.SortFunc(list, func(a, b Entity) int { return cmp.Compare(a.slot, b.slot) })
					case 1:
						slices.SortFunc(list, bySlot)
					}
					before := slices.Clone(list)
					want := slices.Clone(list)
					slices.SortFunc(want, func(a, b Entity) int {
						return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.generation, b.generation))
					})
					want = slices.Compact(want)
					got := inOrder(list)
					if got == nil || !slices.Equal(got, want) {
						t.Fatalf("%d entities of %d slots in steps of %d, %d generations: %v, want %v",
							n, slots, step, generations, got, want)
					}
					if !slices.Equal(list, before) {
						t.Fatal("inOrder changed the caller's list")
					}
				}
			}
		}
	}
}

// TestListedWalk runs queries over lists with stale entities, entities of other worlds, and slots that the
// world does not have.
func TestListedWalk(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	w, other := NewWorld(Options{MaxEntities: 1 << 13}), NewWorld(Options{MaxEntities: 1 << 13})
	defer w.Close()
	defer other.Close()
	num := NewColumn[uint64](w)
	w.Archetype().NewN(4000, nil)
	other.Archetype().NewN(4000, nil)
	pool := append(entitiesOf(w.Query()), entitiesOf(other.Query())...)
	for i, e := range pool[:4000] {
		switch i % 5 {
		case 0:
			w.Delete(e)
		case 1:
			num.Add(e, uint64(i))
		}
	}
	w.Archetype(num).NewN(400, nil) // reuses slots
	pool = append(pool, entitiesOf(w.Query())...)
	pool = append(pool, Entity{}, Entity{1<<32 - 1, 1}, Entity{1 << 20, pool[0].generation})
	for range 300 {
		list := make([]Entity, r.IntN(200))
		for i := range list {
			list[i] = pool[r.IntN(len(pool))]
		}
		lo := r.IntN(4200)
		hi := lo + r.IntN(4200)
		for name, q := range map[string]struct {
			query   Query
			matches func(Entity) bool
		}{
			"all":     {w.Query(), w.Alive},
			"num":     {w.Query(num), num.Has},
			"without": {w.Query().Without(num), func(e Entity) bool { return w.Alive(e) && !num.Has(e) }},
			"between": {w.Query().Between(lo, hi), func(e Entity) bool {
				return w.Alive(e) && int(e.slot) >= lo && int(e.slot) < hi
			}},
		} {
			var want []Entity
			for _, e := range inOrder(list) {
				if q.matches(e) {
					want = append(want, e)
				}
			}
			listed := q.query.Among(list)
			var runs []Entity
			for run := range listed.Runs() {
				for i := range run.Len() {
					runs = append(runs, run.Entity(i))
				}
			}
			if got := entitiesOf(listed); !slices.Equal(got, want) || !slices.Equal(runs, want) ||
				listed.Count() != len(want) {
				t.Fatalf("%s, slots %d to %d: %v, by runs %v, %d by Count; want %v", name, lo, hi, got, runs,
					listed.Count(), want)
			}
		}
	}
}

// TestQueriesOfAllAreOne: the world makes the query of all entities once, and conditions do not change it.
func TestQueriesOfAllAreOne(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 10})
	defer w.Close()
	num := NewColumn[uint64](w)
	w.Archetype(num).NewN(10, nil)
	w.Archetype().NewN(20, nil)
	all := w.Query()
	es := entitiesOf(all)
	for i, c := range []struct {
		q    Query
		want int
	}{{all.Without(num), 20}, {all.Any(num), 10}, {all.Optional(num), 30}, {all.Exactly(), 20},
		{all.Among(es[5:25]), 20}, {all.Between(0, 5), 5}} {
		if got := c.q.Count(); got != c.want {
			t.Errorf("query %d matches %d entities, want %d", i, got, c.want)
		}
		if w.Query().Count() != 30 || !slices.Equal(entitiesOf(all), es) {
			t.Errorf("after query %d, the query of all entities matches %d", i, w.Query().Count())
		}
	}
	if allocs := testing.AllocsPerRun(100, func() { w.Query() }); allocs != 0 {
		t.Errorf("World.Query without columns makes %v allocations", allocs)
	}
	if w.DeleteAll(w.Query().Among(es[3:])) != 27 || w.Query().Count() != 3 {
		t.Error("DeleteAll of a list deletes the wrong entities")
	}
}
