package vast

import (
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

func TestRelationLimit(t *testing.T) {
	maxBytes := longtest.Pick(256<<10, 32<<10)
	refusals := 0
	for enough := 0; enough < 2; maxBytes += maxBytes / 4 {
		limit := vm.NewLimit(maxBytes)
		w := NewWorld(Options{MaxEntities: 1 << 14, Limit: limit})
		childOf := NewRelation(w, "ChildOf", RelationOptions{OnDelete: Cascade})
		var es []Entity
		refused := panicOf(func() { es = entitiesIn(w.Archetype(), 1<<14) }) != nil
		try := func(f func()) {
			before, links := w.Changes(), childOf.Len()
			if v := panicOf(f); v != nil {
				if _, ok := v.(error); !ok {
					panic(v)
				}
				exhausted(t, func() error { panic(v) }, vm.ErrLimit, "raise the limit")
				refused = true
				refusals++
				if w.Changes() != before || childOf.Len() != links {
					t.Fatalf("limit %d: a refused operation changed the world", maxBytes)
				}
			}
			w.checkInvariants()
		}
		if es != nil {
			for i := 1; i < 70; i++ {
				try(func() { childOf.Set(es[i], es[i-1]) })
			}
			try(func() { childOf.Set(es[100], es[1<<14-1]) })
			try(func() { childOf.Set(es[1<<13], es[100]) })
			try(func() { childOf.Set(es[1<<14-1], es[69]) }) // also moves two descendants to new levels
			if childOf.Has(es[69]) {
				try(func() { childOf.SetAll(w.Query().Without(childOf, childOf.TargetColumn()), es[69]) })
			}
			// Removals and deletions need no memory and succeed at the limit.
			childOf.Remove(es[3])
			w.checkInvariants()
			for _, e := range es[:200] {
				w.Delete(e)
			}
			w.checkInvariants()
		}
		if !refused {
			enough++
		}
		if err := w.Close(); err != nil || limit.Used() != 0 {
			t.Fatalf("limit %d: Close returns %v and leaves %d bytes in use", maxBytes, err, limit.Used())
		}
	}
	if refusals < 10 {
		t.Errorf("%d operations were refused, want at least 10", refusals)
	}
}

func TestRelationGrow(t *testing.T) {
	limit := vm.NewLimit(1 << 30)
	w := NewWorld(Options{MaxEntities: 1 << 12, Limit: limit})
	defer w.Close()
	childOf := NewRelation(w, "ChildOf", RelationOptions{})
	if err := childOf.GrowLevels(5); err != nil {
		t.Fatal(err)
	}
	es := entitiesIn(w.Archetype(), 1<<12)
	if err := childOf.GrowLevels(5); err != nil {
		t.Fatal(err)
	}
	used := limit.Used()
	for i := 1; i < len(es); i++ {
		if i%25 != 0 {
			childOf.Set(es[i], es[(i-1)/5*5])
		}
	}
	if limit.Used() != used {
		t.Errorf("%d bytes were committed after GrowLevels", limit.Used()-used)
	}
	w.checkInvariants()
}

// TestRunsBeyondTargets links and unlinks entities whose slots lie beyond the slot of every target.
func TestRunsBeyondTargets(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 20})
	defer w.Close()
	childOf := NewRelation(w, "ChildOf", RelationOptions{})
	child := NewTag(w, "child")
	roots := entitiesIn(w.Archetype(), 2)
	childOf.Set(roots[1], roots[0])
	n := 1<<20 - 64
	if longtest.Race {
		n = 1 << 16
	}
	w.Archetype(child).NewN(n, nil)
	if got := childOf.SetAll(w.Query(child), roots[1]); got != n || childOf.CountSources(roots[1]) != n {
		t.Errorf("SetAll links %d entities, want %d", got, n)
	}
	w.checkInvariants()
	if childOf.RemoveAll(w.Query(child)) != n || childOf.Len() != 1 {
		t.Errorf("%d links are left, want 1", childOf.Len())
	}
	w.checkInvariants()
}
