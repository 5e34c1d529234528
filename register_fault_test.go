package vast

import (
	"testing"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/vm"
)

func TestRegisteringFails(t *testing.T) {
	for name, register := range map[string]func(w *World){
		"Column":       func(w *World) { NewColumn[uint64](w) },
		"SparseColumn": func(w *World) { NewSparseColumn[uint64](w) },
		"HeapColumn":   func(w *World) { NewHeapColumn[string](w) },
		"Tag":          func(w *World) { NewTag(w, "tag") },
		"Relation":     func(w *World) { NewRelation(w, "child", RelationOptions{}) },
		"Edges":        func(w *World) { NewEdges[uint64](w, "roads", EdgesOptions{}) },
		"Names":        func(w *World) { w.Names() },
	} {
		refused := 0
		calls := faulttest.EachCall(t, func() error {
			// With heap pages, columns share no reservation, so each registration makes memory calls.
			w := NewWorld(Options{MaxEntities: 1024, Pages: vm.PagesHeap})
			defer w.Close()
			err := faulttest.Again(t, name, func() error { register(w); return nil }, func() {
				refused++
				if n := len(w.columns); n != 0 || len(w.relations) != 0 || len(w.watched) != 0 {
					t.Fatalf("%s: %d columns, %d relations and %d watched columns are left", name, n,
						len(w.relations), len(w.watched))
				}
			})
			w.checkInvariants()
			return err
		})
		if calls == 0 || refused == 0 {
			t.Errorf("%s: %d memory calls, %d refused registrations, want at least one of each", name, calls,
				refused)
		}
	}
}
