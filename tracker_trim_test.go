package vast

import (
	"slices"
	"testing"
)

func TestTrackerAfterTrim(t *testing.T) {
	for _, usedSlotBehind := range []bool{false, true} {
		w := NewWorld(Options{MaxEntities: 1 << 15})
		c, d := NewColumn[uint64](w), NewTag(w, "behind")
		w.Archetype(c).NewN(9000, nil)
		if usedSlotBehind {
			w.Archetype(d).New()
		}
		old := entitiesOf(w.Query(c))
		tr := NewTracker(w, c)
		w.DeleteAll(w.Query(c))
		slots := w.size
		if err := w.Trim(); err != nil {
			t.Fatal(err)
		}
		if !usedSlotBehind && w.size >= slots {
			t.Fatal("Trim did not shrink the world: the test covers too little")
		}
		w.checkInvariants()
		if got := slices.Collect(tr.Removed(c)); !slices.Equal(got, old) {
			t.Errorf("after Trim the tracker yields %d removed entities, want %d", len(got), len(old))
		}
		w.Archetype(c).NewN(9000, nil)
		w.checkInvariants()
		if got, want := slices.Collect(tr.Added(c)), entitiesOf(w.Query(c)); !slices.Equal(got, want) {
			t.Errorf("the tracker yields %d added entities, want the %d new entities", len(got), len(want))
		}
		if got := slices.Collect(tr.Removed(c)); !slices.Equal(got, old) {
			t.Errorf("after new entities took the slots, the tracker yields %d removed entities, want %d",
				len(got), len(old))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
