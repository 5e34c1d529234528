package vast

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

func TestTrimKeepsGenerations(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rounds := longtest.Pick(30, 150)
	scale := max(1, vm.PageSize()/4096) // the world shrinks by whole pages
	for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesHeap} {
		t.Run(fmt.Sprint(pages), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			w := NewWorld(Options{MaxEntities: scale << 13, Pages: pages})
			defer w.Close()
			cs := []Column[uint64]{NewColumn[uint64](w), NewColumn[uint64](w), NewColumn[uint64](w)}
			sparse, text := NewSparseColumn[uint64](w), NewHeapColumn[string](w)
			as := []*Archetype{w.Archetype(cs[0]), w.Archetype(cs[1]), w.Archetype(cs[2], sparse, text)}
			ever, living := map[Entity]bool{}, [3][]Entity{}
			shrinks := 0
			for round := range rounds {
				k := rnd.IntN(3)
				n := rnd.IntN(2500 * scale)
				if n+w.Len() > scale<<12 {
					w.DeleteAll(w.Query(cs[k]))
					living[k] = nil
				} else {
					as[k].NewN(n, func(r Run) {
						for i := range r.Len() {
							e := r.Entity(i)
							if ever[e] {
								t.Fatalf("round %d: %v is handed out a second time", round, e)
							}
							if v := *cs[k].Get(e); v != 0 {
								t.Fatalf("round %d: the new entity %v has the value %d", round, e, v)
							}
							*cs[k].Get(e) = e.ID()
							ever[e] = true
							living[k] = append(living[k], e)
							if k == 2 {
								*sparse.Get(e), *text.Get(e) = e.ID(), e.String()
							}
						}
					})
				}
				if rnd.IntN(3) == 0 {
					slots := w.size
					if err := w.Trim(); err != nil {
						t.Fatal(err)
					}
					if w.size < slots {
						shrinks++
					}
				}
				w.checkInvariants()
				n = 0
				for k, es := range living {
					for _, e := range es {
						if p := cs[k].Get(e); p == nil || *p != e.ID() {
							t.Fatalf("round %d: %v has lost its component", round, e)
						}
						if k == 2 && (*sparse.Get(e) != e.ID() || *text.Get(e) != e.String()) {
							t.Fatalf("round %d: %v has lost a sparse or heap component", round, e)
						}
						ever[e] = false
					}
					n += len(es)
				}
				for e, stale := range ever {
					if stale && (w.Alive(e) || cs[0].Has(e) || cs[1].Get(e) != nil || w.Delete(e) ||
						sparse.Has(e)) {
						t.Fatalf("round %d: the stale entity %v is valid again", round, e)
					}
					ever[e] = true
				}
				if w.Len() != n {
					t.Fatalf("round %d: %d entities, want %d", round, w.Len(), n)
				}
			}
			if shrinks == 0 {
				t.Error("Trim never shrank the world: the test covers too little")
			}
		})
	}
}

// TestTrimAgedSlots trims slots at their last generation: these slots must stay retired.
func TestTrimAgedSlots(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 14})
	defer w.Close()
	c, d := NewColumn[uint64](w), NewColumn[uint64](w).Named("d")
	a, b := w.Archetype(c), w.Archetype(d)
	a.NewN(4096, nil)
	b.NewN(4096, nil)
	w.DeleteAll(w.Query())
	age(w, generation.MaxCount-2, 5, 5000)
	a.NewN(8192, nil)
	old := entitiesOf(w.Query())
	w.DeleteAll(w.Query())
	for range 2 {
		if err := w.Trim(); err != nil {
			t.Fatal(err)
		}
	}
	if w.Alive(old[5]) || c.Has(old[5000]) || old[5].Generation() != generation.MaxCount-1 {
		t.Fatalf("%v or the entity of slot 5000 is alive, or the generation is not the last but one", old[5])
	}
	// After Trim, all slots of a word continue with the word's largest generation.
	b.NewN(8192, nil)
	last := 0
	for _, e := range entitiesOf(w.Query(d)) {
		if word := e.Slot() / 64; e.Generation() == generation.MaxCount {
			last++
			if word != 0 && word != 5000/64 {
				t.Fatalf("%v is at its last generation", e)
			}
		} else if word == 0 || word == 5000/64 || e.Generation() > 5 {
			t.Fatalf("unexpected generation of %v", e)
		}
	}
	if last != 128 || w.worn != 128 {
		t.Errorf("%d entities are at their last generation, and the world counts %d, want 128", last, w.worn)
	}
	w.checkInvariants()
	w.DeleteAll(w.Query())
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	w.checkInvariants()
	for range 3 {
		a.NewN(4096, nil)
		w.checkInvariants()
		if w.Alive(old[5]) || w.Query(c).Count() != 4096 {
			t.Error("a retired slot is used again")
		}
		w.DeleteAll(w.Query())
	}
}

func TestTrimGivesBackLimit(t *testing.T) {
	limit := vm.NewLimit(8 << 20)
	w := NewWorld(Options{MaxEntities: 1 << 20, Limit: limit, Pages: vm.PagesSmall})
	defer w.Close()
	c := NewColumn[[3]uint64](w)
	few, many := w.Archetype(), w.Archetype(c)
	kept := few.New()
	many.NewN(90_000, nil)
	old := entitiesOf(w.Query(c))
	w.DeleteAll(w.Query(c))
	used := limit.Used()
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	if most := used/8 + vm.PageSize() - 4096; limit.Used() > most || w.Stats().Committed > most {
		t.Errorf("%d bytes count against the limit after Trim, %d before, want at most %d", limit.Used(),
			used, most)
	}
	if err := many.Grow(400_000); err == nil {
		t.Fatal("Grow succeeded beyond the limit")
	}
	w.checkInvariants()
	many.NewN(90_000, nil)
	w.checkInvariants()
	seen := map[Entity]bool{}
	for _, e := range old {
		seen[e] = true
	}
	for e := range w.Query(c).All() {
		if seen[e] || *c.Get(e) != [3]uint64{} {
			t.Fatalf("%v is handed out a second time, or not zero", e)
		}
	}
	if !w.Alive(kept) || few.Len() != 1 {
		t.Error("Trim took a living entity")
	}
}

func TestTrimLeavesWhatTrackersNoted(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 15})
	defer w.Close()
	c := NewColumn[uint64](w)
	a := w.Archetype(c)
	var all []Entity
	for range 20_000 {
		all = append(all, a.New())
	}
	tr := NewTracker(w, c)
	// The entity in the middle keeps its word in use, so the frontier, which is the end of the words in use,
	// stays after this word. Trim gives back the generations of the vacant words before the frontier.
	kept := all[10_000]
	for _, e := range all {
		if e != kept {
			w.Delete(e)
		}
	}
	trimmed := func(want []Entity) {
		t.Helper()
		if err := w.Trim(); err != nil {
			t.Fatal(err)
		}
		w.checkInvariants()
		if got := slices.Collect(tr.Removed(c)); !slices.Equal(got, want) {
			t.Fatalf("the tracker yields %d of %d entities", len(got), len(want))
		}
	}
	trimmed(slices.Concat(all[:10_000], all[10_001:]))
	w.Delete(kept)
	trimmed(all)
}

// TestTrimInHook: in a hook, Trim would give back the room of the operation that calls the hook.
func TestTrimInHook(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	c := NewSparseColumn[uint64](w)
	w.Archetype().NewN(10, nil)
	trim := true
	c.OnAdd(func(Entity, *uint64) {
		if trim {
			_ = w.Trim()
		}
	})
	says(t, func() { c.AddAll(w.Query(), 1) },
		"World.Trim was called while OnAdd of column uint64 was running")
	trim = false
	if c.AddAll(w.Query(), 2) != 10 || c.Len() != 10 {
		t.Errorf("%d entities have the component", c.Len())
	}
	if err := w.Trim(); err != nil {
		t.Error(err)
	}
}

// TestTrimInFill: while NewN fills new entities, Trim would give back the room for the entities that this
// call of NewN makes next.
func TestTrimInFill(t *testing.T) {
	limit := vm.NewLimit(64 << 20)
	w := NewWorld(Options{MaxEntities: 1 << 14, Limit: limit})
	defer w.Close()
	c := NewSparseColumn[kilobyte](w)
	a := w.Archetype(c)
	a.NewN(2000, nil)
	for i, e := range entitiesOf(w.Query(c)) {
		if i%100 >= 90 {
			w.Delete(e) // so that NewN fills several runs
		}
	}
	made, runs := 0, 0
	says(t, func() {
		a.NewN(3000, func(r Run) {
			made += r.Len()
			if runs++; runs == 2 {
				limit.SetMax(limit.Used())
				_ = w.Trim()
			}
		})
	}, "World.Trim was called while Archetype.NewN was filling new entities")
	if w.checkInvariants(); runs != 2 || c.Len() != 1800+made || w.Len() != c.Len() {
		t.Errorf("%d runs with %d entities were made: the world has %d entities, %d with the component", runs,
			made, w.Len(), c.Len())
	}
	for e := range w.Query(c).All() {
		if c.Get(e) == nil {
			t.Fatalf("%v has the component and no element", e)
		}
	}
}
