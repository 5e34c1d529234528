package vast

import (
	"errors"
	"testing"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// age gives free slots the generation that they have after the given number of uses.
func age(w *World, uses uint32, slots ...uint32) {
	for _, slot := range slots {
		*w.generation(slot) = uses | uint32(w.mark)
	}
}

// TestLastGeneration checks that a slot is retired after its generation has reached the highest count.
func TestLastGeneration(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 128})
	defer w.Close()
	c := NewColumn[uint32](w)
	a := w.Archetype(c)
	first := a.New()
	w.Delete(first)
	from := uint32(1)
	if !longtest.Enabled() {
		from = generation.MaxCount - 1000
		age(w, from, 0)
	}
	var last Entity
	for n := from; n < generation.MaxCount; n++ {
		last = a.New()
		if last.Slot() != 0 || !w.Delete(last) {
			t.Fatalf("after %d uses of slot 0, New gives entity %v", n, last)
		}
	}
	if last.Generation() != generation.MaxCount {
		t.Fatalf("the last entity of slot 0 is %v", last)
	}
	for range 200 {
		e := a.New()
		if e.Slot() == 0 || e == first || w.Alive(first) || w.Alive(last) || c.Has(first) ||
			c.Get(last) != nil {
			t.Fatalf("slot 0 is used after its last generation: %v", e)
		}
		if e.Slot() == 127 {
			break
		}
	}
	if w.Len() != 127 || a.Len() != 127 || c.Len() != 127 || w.Query(c).Count() != 127 {
		t.Errorf("%d entities, %d components, want 127", w.Len(), c.Len())
	}
	w.checkInvariants()
	var e *vm.Error
	if err := a.Grow(1); !errors.As(err, &e) || !errors.Is(err, vm.ErrCapacity) {
		t.Errorf("Grow in a world whose last free slot is retired: %v", err)
	}
	if v, _ := panicOf(func() { a.New() }).(error); !errors.Is(v, vm.ErrCapacity) || w.Len() != 127 {
		t.Errorf("New in a world whose last free slot is retired: %v", v)
	}
	if n := w.DeleteAll(w.Query()); n != 127 || w.Len() != 0 {
		t.Errorf("deleted %d, %d are left, want 127 and 0", n, w.Len())
	}
	w.checkInvariants()
}

func TestRetiredSlots(t *testing.T) {
	for _, tt := range []struct {
		name         string
		make, delete func(w *World, a *Archetype, n int)
	}{
		{"one entity at a time", func(_ *World, a *Archetype, n int) {
			for range n {
				a.New()
			}
		}, func(w *World, _ *Archetype, _ int) {
			for _, e := range entitiesOf(w.Query()) {
				w.Delete(e)
			}
		}},
		{"all at once", func(_ *World, a *Archetype, n int) { a.NewN(n, nil) },
			func(w *World, _ *Archetype, _ int) { w.DeleteAll(w.Query()) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := NewWorld(Options{MaxEntities: 256})
			defer w.Close()
			c, late := anotherColumn[uint64](w), anotherColumn[uint64](w)
			a := w.Archetype(c)
			tt.make(w, a, 200)
			tt.delete(w, a, 200)
			if err := a.Grow(200); err != nil {
				t.Fatal(err)
			}
			// The old slots lie at the ends and in the middle of two words. Each old slot has one use left.
			// Slot 30 has two uses left.
			old := []uint32{0, 1, 10, 63, 64, 100, 127}
			age(w, generation.MaxCount-1, old...)
			age(w, generation.MaxCount-2, 30)
			gone := map[uint32]bool{}
			for round := range 4 {
				room := 256 - len(gone)
				if err := a.Grow(room + 1); !errors.Is(err, vm.ErrCapacity) {
					t.Fatalf("round %d: Grow by one more than the %d free slots: %v", round, room, err)
				}
				tt.make(w, a, room)
				if w.Len() != room || c.Len() != room || a.Len() != room {
					t.Fatalf("round %d: %d entities, %d components, want %d", round, w.Len(), c.Len(), room)
				}
				for e := range w.Query().All() {
					if gone[e.Slot()] {
						t.Fatalf("round %d: the retired slot %d is used", round, e.Slot())
					}
					if *c.Get(e) != 0 || late.Has(e) {
						t.Fatalf("round %d: the new entity %v has components of a deleted entity", round, e)
					}
					*c.Get(e) = 7
				}
				es := entitiesOf(w.Query())
				for _, e := range es[:20] {
					late.Add(e, 1)
				}
				w.checkInvariants()
				tt.delete(w, a, room)
				for _, e := range es {
					if w.Alive(e) || c.Has(e) || late.Has(e) {
						t.Fatalf("round %d: the deleted %v is found", round, e)
					}
				}
				w.checkInvariants()
				switch round {
				case 0:
					for _, slot := range old {
						gone[slot] = true
					}
				case 1:
					gone[30] = true
				}
				if w.Len() != 0 || w.worn != len(gone) {
					t.Fatalf("round %d: %d entities are left, %d slots count as retired, want 0 and %d",
						round, w.Len(), w.worn, len(gone))
				}
				if err := a.Grow(1); err != nil {
					t.Fatal(err)
				}
			}
			if s := w.Stats(); s.Slots < 128 {
				t.Errorf("extents with retired slots were given back: %d slots are owned", s.Slots)
			}
		})
	}
}

// TestRetiredWithQueries checks that queries and NewN skip a retired slot among slots with entities.
func TestRetiredWithQueries(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 256})
	defer w.Close()
	c := NewColumn[uint64](w)
	a := w.Archetype(c)
	w.Delete(a.New())
	age(w, generation.MaxCount-1, 0)
	old := a.New()
	a.NewN(99, nil)
	if old.Slot() != 0 || old.Generation() != generation.MaxCount || !w.Alive(old) {
		t.Fatalf("the last entity of slot 0 is %v", old)
	}
	w.Delete(old)
	starts := 0
	a.NewN(100, func(r Run) {
		starts++
		if r.Start() == 0 {
			t.Error("NewN uses the retired slot")
		}
	})
	if starts == 0 || w.Query(c).Count() != 199 || w.Len() != 199 {
		t.Errorf("%d entities, want 199", w.Len())
	}
	w.checkInvariants()
}
