package vast

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDelete(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 13})
	defer w.Close()
	pos, vel := NewColumn[position](w), NewColumn[velocity](w)
	a := w.Archetype(pos)
	var es []Entity
	for i := range 5000 {
		e := a.New()
		*pos.Get(e) = position{float64(i), 0}
		if i%4 == 0 {
			vel.Add(e, velocity{float64(i), 0})
		}
		es = append(es, e)
	}
	for i := 0; i < 5000; i += 2 {
		if !w.Delete(es[i]) || w.Delete(es[i]) {
			t.Fatalf("entity %d: the first Delete must succeed, and the second must fail", i)
		}
	}
	if w.Len() != 2500 || a.Len() != 2500 || pos.Len() != 2500 || vel.Len() != 0 ||
		w.Query().Count() != 2500 {
		t.Errorf("%d entities, %d positions, %d velocities; want 2500, 2500 and 0", w.Len(), pos.Len(),
			vel.Len())
	}
	for i, e := range es {
		switch p := pos.Get(e); {
		case i%2 == 0 && (p != nil || w.Alive(e) || pos.Has(e) || vel.Has(e)):
			t.Fatalf("the deleted entity %d is found", i)
		case i%2 == 1 && (p == nil || p.X != float64(i)):
			t.Fatalf("the position of entity %d is %v", i, p)
		}
	}
	// New entities take the free slots in ascending order.
	for i := 0; i < 5000; i += 2 {
		e := a.New()
		if e.Slot() != es[i].Slot() || e == es[i] || vel.Has(e) || *pos.Get(e) != (position{}) ||
			w.Alive(es[i]) {
			t.Fatalf("the new entity is %v, want slot %d with a zero position", e, es[i].Slot())
		}
	}
}

func TestDeleteAll(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, share := range []int{1, 30, 50, 99, 100} {
		w := NewWorld(Options{MaxEntities: 1 << 14})
		a, b, mark := NewColumn[uint64](w), NewColumn[[3]byte](w), NewColumn[struct{}](w)
		var es []Entity
		for range 4000 {
			es = append(es, w.Archetype(a).New(), w.Archetype(b).New(), w.Archetype(a, b).New())
		}
		var doomed, spared []Entity
		for _, e := range es {
			if r.IntN(100) < share {
				mark.Add(e, struct{}{})
				doomed = append(doomed, e)
			} else {
				spared = append(spared, e)
			}
		}
		if n := w.DeleteAll(w.Query(mark)); n != len(doomed) || w.Len() != len(spared) || mark.Len() != 0 {
			t.Errorf("%d %%: DeleteAll deleted %d of %d marked entities, %d entities and %d marks are left",
				share, n, len(doomed), w.Len(), mark.Len())
		}
		if slices.ContainsFunc(doomed, w.Alive) || !slices.Equal(filtered(es, w.Alive), spared) {
			t.Errorf("%d %%: DeleteAll deleted the wrong entities", share)
		}
		w.checkInvariants()
		if n := w.DeleteAll(w.Query(mark)); n != 0 {
			t.Errorf("%d %%: a second DeleteAll deletes %d", share, n)
		}
		n := w.DeleteAll(w.Query(a).Without(b))
		if left := w.Query(a).Without(b).Count(); left != 0 || n+w.Len() != len(spared) {
			t.Errorf("%d %%: %d entities with a and without b are left", share, left)
		}
		w.DeleteAll(w.Query())
		if w.Len() != 0 || a.Len()+b.Len() != 0 || w.frontier > 3 {
			t.Errorf("%d %%: %d entities, %d words are left", share, w.Len(), w.frontier)
		}
		w.checkInvariants()
		w.Close()
	}
}

func filtered(es []Entity, keep func(Entity) bool) (kept []Entity) {
	for _, e := range es {
		if keep(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

func TestNewAfterDeleteReusesSlot(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	a := w.Archetype(NewColumn[position](w))
	for range 1000 {
		e := a.New()
		if e.Slot() != 0 || w.Stats().Slots != 64 {
			t.Fatalf("slot %d of %d, want slot 0 of 64", e.Slot(), w.Stats().Slots)
		}
		w.Delete(e)
	}
	if g := a.New().Generation(); g != 1001 || w.Stats().Changes != 2001 {
		t.Errorf("generation %d and %d changes, want 1001 and 2001", g, w.Stats().Changes)
	}
}
