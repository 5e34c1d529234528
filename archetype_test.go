package vast

import (
	"testing"

	"github.com/vastgo/vast/vm"
)

func TestArchetypeIsItsSet(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	var c []AnyColumn
	for range 300 {
		c = append(c, anotherColumn[byte](w))
	}
	for _, same := range [][2][]AnyColumn{
		{{}, {}},
		{{c[1]}, {c[1]}},
		{{c[1], c[2], c[3]}, {c[3], c[1], c[2]}},
		{{c[0], c[299]}, {c[299], c[0]}},
	} {
		if w.Archetype(same[0]...) != w.Archetype(same[1]...) {
			t.Errorf("the same %d columns give two archetypes", len(same[0]))
		}
	}
	seen := map[*Archetype]int{}
	sets := [][]AnyColumn{{}, {c[0]}, {c[1]}, {c[0], c[1]}, {c[128]}, {c[0], c[128]}, {c[1], c[28]}, {c[129]},
		{c[256], c[44]}}
	for i, set := range sets {
		if j, twice := seen[w.Archetype(set...)]; twice {
			t.Errorf("sets %d and %d give the same archetype", i, j)
		}
		seen[w.Archetype(set...)] = i
	}
	// The first loop made two archetypes that sets does not have: with three columns, and with the columns 0
	// and 299.
	if n := len(w.Stats().Archetypes); n != len(sets)+2 {
		t.Errorf("%d archetypes, want %d", n, len(sets)+2)
	}
}

func TestNewIsZero(t *testing.T) {
	for _, p := range []vm.Pages{vm.PagesAuto, vm.PagesHeap} {
		w := NewWorld(Options{MaxEntities: 1 << 13, Pages: p})
		pos, odd, late := NewColumn[position](w), NewColumn[[100]byte](w), NewColumn[[3]uint64](w)
		a, b := w.Archetype(pos, odd), w.Archetype(late)
		zero := func(e Entity) bool {
			p, o, l := pos.Get(e), odd.Get(e), late.Get(e)
			return (p == nil || *p == position{}) && (o == nil || *o == [100]byte{}) &&
				(l == nil || *l == [3]uint64{})
		}
		dirty := func(e Entity) {
			pos.Add(e, position{1, 2})
			odd.Add(e, [100]byte{99: 3})
			late.Add(e, [3]uint64{2: 4})
		}
		for round := range 4 {
			var es []Entity
			for range 1000 {
				e := a.New()
				if !zero(e) || late.Has(e) {
					t.Fatalf("round %d: a new entity in slot %d is not zero", round, e.Slot())
				}
				dirty(e)
				es = append(es, e)
			}
			a.NewN(1000, func(r Run) {
				for i := range r.Len() {
					e := r.Entity(i)
					if !zero(e) || late.Has(e) {
						t.Fatalf("round %d: an entity from NewN in slot %d is not zero", round, e.Slot())
					}
					es = append(es, e)
				}
			})
			for _, e := range es[1000:] {
				dirty(e)
			}
			for i, e := range es {
				if i%3 == 0 {
					late.Remove(e)
					odd.Remove(e)
				}
				w.Delete(e)
			}
			// These entities take slots that entities of archetype a had.
			es = es[:0]
			for range 500 {
				e := b.New()
				if !zero(e) || pos.Has(e) || odd.Has(e) {
					t.Fatalf("round %d: a new entity of the other archetype is not zero", round)
				}
				dirty(e)
				es = append(es, e)
			}
			for _, e := range es {
				w.Delete(e)
			}
		}
		if w.Len() != 0 || pos.Len() != 0 || odd.Len() != 0 || late.Len() != 0 {
			t.Errorf("%d entities, and %d, %d and %d components of the three columns are left, want none",
				w.Len(), pos.Len(), odd.Len(), late.Len())
		}
		w.Close()
	}
}

func TestNewN(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 14})
	defer w.Close()
	pos := NewColumn[position](w)
	a := w.Archetype(pos)
	a.NewN(0, func(Run) { t.Error("fill is called although no entity is made") })
	var es []Entity
	for range 300 {
		es = append(es, a.New())
	}
	for i := 0; i < 300; i += 3 {
		w.Delete(es[i])
	}
	seen := map[uint32]bool{}
	runs := 0
	a.NewN(5000, func(r Run) {
		runs++
		p := pos.Slice(r)
		if len(p) != r.Len() {
			t.Fatalf("a slice of %d elements for a run of %d entities", len(p), r.Len())
		}
		for i := range p {
			e := r.Entity(i)
			if seen[e.Slot()] || !w.Alive(e) || pos.Get(e) != &p[i] || int(e.Slot()) != r.Start()+i {
				t.Fatalf("index %d of the run from slot %d: %v is not a new entity of this slot", i,
					r.Start(), e)
			}
			seen[e.Slot()] = true
			p[i] = position{float64(e.Slot()), 1}
		}
	})
	if a.Len() != 5200 || pos.Len() != 5200 || len(seen) != 5000 || w.Query(pos).Count() != 5200 {
		t.Errorf("%d entities, %d components, %d new entities; want 5200, 5200, 5000", a.Len(), pos.Len(),
			len(seen))
	}
	for i := 0; i < 300; i += 3 {
		if !seen[es[i].Slot()] {
			t.Errorf("the free slot %d was not used", es[i].Slot())
		}
	}
	if runs > 100+20 {
		t.Errorf("%d runs, want at most %d", runs, 100+20)
	}
	for r := range w.Query(pos).Runs() {
		for i, p := range pos.Slice(r) {
			if seen[uint32(r.Start()+i)] && p.X != float64(r.Start()+i) {
				t.Fatalf("slot %d holds %v, want X = %d", r.Start()+i, p, r.Start()+i)
			}
		}
	}
}

func TestNewNPanicInFill(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	a := w.Archetype(NewColumn[byte](w))
	if v := panicOf(func() { a.NewN(100, func(Run) { panic("mine") }) }); v != "mine" {
		t.Errorf("the panic's value is %v, want mine", v)
	}
	w.checkInvariants()
	if a.Len() != 100 {
		t.Errorf("%d entities, want 100", a.Len())
	}
	a.NewN(10, nil)
	if w.Len() != 110 {
		t.Errorf("%d entities, want 110", w.Len())
	}
}

func TestArchetypeGrow(t *testing.T) {
	limit := vm.NewLimit(1 << 30)
	w := NewWorld(Options{MaxEntities: 1 << 14, Limit: limit})
	defer w.Close()
	pos := NewColumn[position](w)
	a := w.Archetype(pos)
	if err := a.Grow(10_000); err != nil {
		t.Fatal(err)
	}
	if a.Len() != 0 || w.Len() != 0 || w.Query().Count() != 0 || w.Stats().Slots < 10_000 {
		t.Errorf("after Grow: %d entities, want 0; %d slots, want at least 10,000", w.Len(), w.Stats().Slots)
	}
	used := limit.Used()
	var es []Entity
	for range 10_000 {
		es = append(es, a.New())
	}
	if limit.Used() != used || w.Stats().Changes != 10_000 {
		t.Errorf("10,000 births after Grow committed %d bytes, want 0; the world counts %d changes, "+
			"want 10,000", limit.Used()-used, w.Stats().Changes)
	}
	if err := a.Grow(0); err != nil {
		t.Fatal(err)
	}
	for _, e := range es[:5000] {
		w.Delete(e)
	}
	slots := w.Stats().Slots
	if err := a.Grow(5000); err != nil || w.Stats().Slots != slots {
		t.Errorf("Grow into free slots: error %v, want none; %d slots before, %d after, want no new slots",
			err, slots, w.Stats().Slots)
	}
}

// TestArchetypeOfEachSet makes more than fewArchetypes archetypes, so that the world finds them by the map
// World.bySet.
func TestArchetypeOfEachSet(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	var columns []AnyColumn
	for range 5 {
		columns = append(columns, anotherColumn[uint64](w))
	}
	made := make(map[int]*Archetype)
	for range 2 {
		for set := range 1 << len(columns) {
			var forth, back []AnyColumn
			for i, c := range columns {
				if set>>i&1 != 0 {
					forth, back = append(forth, c), append([]AnyColumn{c}, back...)
				}
			}
			a := w.Archetype(forth...)
			if made[set] == nil {
				made[set] = a
			}
			if made[set] != a || w.Archetype(back...) != a {
				t.Fatalf("set %b has several archetypes", set)
			}
		}
	}
	if len(w.archetypes) != 1<<len(columns) {
		t.Errorf("%d archetypes, want one for each of %d sets", len(w.archetypes), 1<<len(columns))
	}
}
