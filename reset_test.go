package vast

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/generation"
)

func TestReset(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	w, twin := NewWorld(Options{MaxEntities: 1 << 16}), NewWorld(Options{MaxEntities: 1 << 16})
	defer w.Close()
	defer twin.Close()
	w.Reset() // before the first entity
	c, late := NewColumn[uint64](w), NewColumn[uint64](w).Named("late")
	tag, sparse, text := NewTag(w, "Tag"), NewSparseColumn[uint64](w), NewHeapColumn[string](w)
	a, b := w.Archetype(c), w.Archetype(c, tag, sparse, text)
	twinColumn := NewColumn[uint64](twin)
	ta, tb := twin.Archetype(twinColumn), twin.Archetype(twinColumn, NewTag(twin, "Tag"))
	q := w.Query(c).Without(late)
	SetResource(w, 7)
	told := map[Entity]int{}
	text.OnRemove(func(e Entity, v *string) {
		if *v != e.String() || !w.Alive(e) {
			t.Errorf("OnRemove ran for %v with %q", e, *v)
		}
		told[e]++
	})
	var old []Entity
	for range 20 {
		for range 5 {
			n := rnd.IntN(500) + 1
			if n%2 == 0 {
				a.NewN(n, nil)
				ta.NewN(n, nil)
			} else {
				b.NewN(n, func(r Run) {
					for i := range r.Len() {
						*text.Get(r.Entity(i)) = r.Entity(i).String()
					}
				})
				tb.NewN(n, nil)
			}
		}
		// After Reset, a world hands out the same slots as a new world.
		slots := func(w *World) (s []uint32) {
			for e := range w.Query().All() {
				s = append(s, e.Slot())
			}
			return s
		}
		if !slices.Equal(slots(w), slots(twin)) {
			t.Fatal("the slots differ from those of a new world")
		}
		es := entitiesOf(w.Query())
		for _, e := range es {
			if *c.Get(e) != 0 || late.Has(e) {
				t.Fatalf("the new entity %v has a value of an earlier entity", e)
			}
			*c.Get(e) = e.ID()
			if rnd.IntN(3) == 0 {
				late.Add(e, 1)
			}
		}
		dead := es[rnd.IntN(len(es))]
		w.Delete(dead)
		n := text.Len()
		delete(told, dead)
		if before, changes := w.Len(), w.Changes(); before == 0 || q.Count() == 0 {
			t.Fatal("the world has no entities before Reset")
		} else if w.Reset(); w.Changes() != changes+uint64(before) {
			t.Errorf("Reset counts %d changes, want %d", w.Changes()-changes, before)
		}
		w.checkInvariants()
		if len(told) != n {
			t.Errorf("OnRemove ran for %d entities, want %d", len(told), n)
		}
		for e, times := range told {
			if times != 1 {
				t.Errorf("OnRemove ran for %v %d times", e, times)
			}
		}
		clear(told)
		old = append(old, es...)
		for _, e := range old {
			if w.Alive(e) || c.Has(e) || late.Get(e) != nil || tag.Has(e) || sparse.Has(e) || text.Has(e) ||
				w.Delete(e) {
				t.Fatalf("%v is not stale", e)
			}
		}
		s := w.Stats()
		if w.Len() != 0 || q.Count() != 0 || a.Len() != 0 || c.Len() != 0 || sparse.Len() != 0 ||
			s.Slots != 0 || sparse.pool.pool.Len() != 0 {
			t.Fatalf("the world is not empty after Reset: %+v", s)
		}
		if *Resource[int](w) != 7 {
			t.Error("Reset lost a resource")
		}
		if rnd.IntN(3) == 0 {
			if err := w.Trim(); err != nil {
				t.Fatal(err)
			}
		}
		if err := twin.Close(); err != nil {
			t.Fatal(err)
		}
		twin = NewWorld(Options{MaxEntities: 1 << 16})
		twinColumn = NewColumn[uint64](twin)
		ta, tb = twin.Archetype(twinColumn), twin.Archetype(twinColumn, NewTag(twin, "Tag"))
	}
}

// TestResetWorn checks that no entity is made in a slot that was at its last generation before Reset.
func TestResetWorn(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 12})
	defer w.Close()
	c := NewColumn[uint64](w)
	a := w.Archetype(c)
	a.NewN(100, nil)
	w.Reset()
	age(w, generation.MaxCount-1, 3, 70)
	a.NewN(300, nil)
	last := entitiesOf(w.Query(c))[3]
	if last.Generation() != generation.MaxCount {
		t.Fatalf("%v is not at its last generation", last)
	}
	for range 3 {
		w.Reset()
		w.checkInvariants()
		if w.Len() != 0 || w.Alive(last) || w.worn != 2 {
			t.Fatalf("%d entities and %d worn slots after Reset, want 0 and 2", w.Len(), w.worn)
		}
		a.NewN(300, nil)
		if w.Len() != 300 || w.Alive(last) {
			t.Fatalf("%d entities, want 300; the entity of the last generation is alive: %t", w.Len(),
				w.Alive(last))
		}
		w.checkInvariants()
	}
}

func TestResetMisuse(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 12})
	defer w.Close()
	c, watched := NewColumn[uint64](w), NewTag(w, "Watched")
	w.Archetype(c).New()
	for _, q := range []Query{w.Query(c), w.Query()} {
		w.Archetype(c).NewN(64, nil)
		w.Archetype(watched).NewN(64, nil)
		v := panicOf(func() {
			for range q.Runs() {
				w.Reset()
			}
		})
		if s, _ := v.(string); !strings.Contains(s, "World.Reset") {
			t.Errorf("Reset inside a query panics with %v, want a message about World.Reset", v)
		}
		if w.Len() != 0 {
			t.Errorf("%d entities are left after Reset", w.Len())
		}
		w.checkInvariants()
	}
	changes := w.Changes()
	if w.Reset(); w.Changes() == changes {
		t.Error("Reset of an empty world does not count as a change")
	}
	within := true
	watched.OnRemove(func(Entity) {
		if within {
			w.Reset()
		}
	})
	e := w.Archetype(c, watched).New()
	if s, _ := panicOf(func() { w.Delete(e) }).(string); !strings.Contains(s,
		"OnRemove of column Watched was running") || !w.Alive(e) {
		t.Errorf("Reset inside a hook panics with %q, or e is dead", s)
	}
	within = false
}
