package probe_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/internal/probetest"
	"github.com/vastgo/vast/probe"
)

func TestExtentsAndOccupied(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 20 {
		w := vast.NewWorld(vast.Options{MaxEntities: 1 << 15})
		c, d := vast.NewColumn[uint32](w), vast.NewTag(w, "d")
		archetypes := []*vast.Archetype{w.Archetype(), w.Archetype(c), w.Archetype(d, c)}
		has := make(map[int]*vast.Archetype)
		for range 200 {
			switch rng.IntN(5) {
			case 0:
				a := archetypes[rng.IntN(3)]
				if len(has) < 1<<14 {
					a.NewN(rng.IntN(700), func(r vast.Run) {
						for i := range r.Len() {
							has[int(r.Entity(i).Slot())] = a
						}
					})
				}
			case 1, 2:
				a := archetypes[rng.IntN(3)]
				has[int(a.New().Slot())] = a
			case 3:
				lo := rng.IntN(1 << 15)
				hi := lo + rng.IntN(1500)
				for slot := lo; slot < hi; slot++ {
					if e, ok := probe.EntityAt(w, slot); ok {
						w.Delete(e)
						delete(has, slot)
					}
				}
			}
		}
		var all []probe.Extent
		next, entities := 0, 0
		for x := range probe.Extents(w, 0) {
			if x.First < next || x.Slots <= 0 || x.Slots%64 != 0 || x.First%64 != 0 {
				t.Fatalf("the extent %+v begins before slot %d, or is not a multiple of 64 slots", x, next)
			}
			next = x.First + x.Slots
			n := 0
			for slot := x.First; slot < next; slot++ {
				if a := has[slot]; a != nil {
					n++
					if a != x.Archetype {
						t.Fatalf("slot %d holds an entity of archetype %d in an extent of archetype %d", slot,
							probe.NumberOf(a), probe.NumberOf(x.Archetype))
					}
				}
			}
			if n != x.Entities || n != probe.Occupied(w, nil, x.First, next) {
				t.Fatalf("%d entities lie in the extent %+v", n, x)
			}
			entities += n
			all = append(all, x)
		}
		if entities != len(has) || entities != w.Len() {
			t.Fatalf("the extents hold %d entities, want %d", entities, len(has))
		}
		for range 20 {
			lo, hi := rng.IntN(1<<15), rng.IntN(1<<15+5000)
			i := slices.IndexFunc(all, func(x probe.Extent) bool { return x.First+x.Slots > lo/64*64 })
			for x := range probe.Extents(w, lo) {
				if i < 0 || x != all[i] {
					t.Fatalf("Extents from slot %d begins with %+v", lo, x)
				}
				break
			}
			counts := [3]int{}
			for slot := lo; slot < hi; slot++ {
				if a := has[slot]; a != nil {
					counts[0]++
					for i := range probe.ColumnsOf(a) {
						counts[1+i]++ // ColumnsOf lists c before d
					}
				}
			}
			got := [3]int{}
			for i, col := range []vast.AnyColumn{nil, c, d} {
				got[i] = probe.Occupied(w, col, lo, hi)
			}
			if got != counts {
				t.Fatalf("the counts in [%d, %d) are %v, want %v", lo, hi, got, counts)
			}
			slot := rng.IntN(1 << 15)
			e, alive := probe.EntityAt(w, slot)
			bit := func(col vast.AnyColumn) bool { return probe.Presence(w, col, slot/64)>>(slot%64)&1 != 0 }
			if bit(nil) != alive || alive && probe.Uses(w, slot) != e.Generation() || bit(c) != c.Has(e) {
				t.Fatalf("slot %d has the live bit %t and %d uses; EntityAt returns %v, %t", slot, bit(nil),
					probe.Uses(w, slot), e, alive)
			}
		}
		if probe.Presence(w, c, -1) != 0 || probe.Presence(w, nil, math.MaxInt) != 0 ||
			probe.Uses(w, -1) != 0 || probe.Uses(w, math.MaxInt) != 0 {
			t.Error("slots outside of the world are in use")
		}
		probetest.CheckAreas(t, w)
		w.Close()
		if probe.Occupied(w, nil, 0, 1<<15) != 0 || probe.Presence(w, c, 0) != 0 {
			t.Error("a closed world holds entities")
		}
		for range probe.Extents(w, 0) {
			t.Error("a closed world has extents")
		}
	}
}

func TestExtentsRefuseChanges(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 10})
	defer w.Close()
	a := w.Archetype()
	e := a.New()
	says(t, func() {
		for range probe.Extents(w, 0) {
			w.Delete(e)
		}
	}, "extents were walked over")
}

func TestNumbersOfArchetypes(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 10})
	defer w.Close()
	c, tag := vast.NewColumn[uint32](w), vast.NewTag(w, "tag")
	archetypes := []*vast.Archetype{w.Archetype(), w.Archetype(tag), w.Archetype(tag, c)}
	var got []int
	for _, a := range archetypes {
		got = append(got, probe.NumberOf(a))
	}
	if !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("the archetypes have the numbers %v, want 0, 1 and 2", got)
	}
	if all := probe.Archetypes(w); !slices.Equal(all, archetypes) {
		t.Errorf("Archetypes returns %v, want %v", all, archetypes)
	}
	cols := probe.ColumnsOf(archetypes[2])
	if len(cols) != 2 || probe.Describe(cols[0]).ID != 0 || cols[1].Name() != "tag" {
		t.Errorf("an archetype has the columns %v", cols)
	}
}

func TestEntityAt(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	for _, slot := range []int{math.MinInt, -1, 0, 1, math.MaxInt} {
		if e, ok := probe.EntityAt(w, slot); ok || !e.IsZero() {
			t.Errorf("slot %d of an empty world holds %v", slot, e)
		}
	}
	a := w.Archetype(vast.NewColumn[int](w))
	var all []vast.Entity
	for range 100 {
		all = append(all, a.New())
	}
	for i := 0; i < len(all); i += 3 {
		w.Delete(all[i])
	}
	for i, e := range all {
		got, ok := probe.EntityAt(w, int(e.Slot()))
		if want := i%3 != 0; ok != want || want && got != e {
			t.Errorf("EntityAt(%d) is %v, %t", e.Slot(), got, ok)
		}
	}
	again := a.New() // in the lowest free slot, 0
	if got, ok := probe.EntityAt(w, 0); !ok || got != again || got == all[0] {
		t.Errorf("EntityAt(0) is %v, %t, want %v", got, ok, again)
	}
	w.Close()
	if _, ok := probe.EntityAt(w, 0); ok {
		t.Error("a closed world has an entity")
	}
}

// says checks that f panics with a message that contains part.
func says(t *testing.T, f func(), part string) {
	t.Helper()
	if text := modeltest.PanicText(f); text == "" || !strings.Contains(text, part) {
		t.Errorf("the panic message is %q, want it to contain %q", text, part)
	}
}
