package vast

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBetween(t *testing.T) {
	w, a, b := mixedWorld(t)
	r := rand.New(rand.NewPCG(1, 2))
	queries := map[string]Query{
		"all": w.Query(), "a": w.Query(a), "a b": w.Query(a, b), "a − b": w.Query(a).Without(b),
		"none":   w.Query(b).Without(a),
		"a or b": w.Query().Any(a, b), "optional": w.Query(a).Optional(b), "exactly": w.Query(a).Exactly(),
	}
	for name, q := range queries {
		all := entitiesOf(q)
		for range 200 {
			lo := r.IntN(1<<15+200) - 100
			hi := lo + r.IntN(1<<r.IntN(16)+1)
			var want []Entity
			for _, e := range all {
				if s := int(e.Slot()); lo <= s && s < hi {
					want = append(want, e)
				}
			}
			if got := entitiesOf(q.Between(lo, hi)); !slices.Equal(got, want) {
				t.Fatalf("query %s between %d and %d: the entities differ: got %d, want %d", name, lo, hi,
					len(got), len(want))
			}
			got := []Entity{}
			for word, mask := range q.Between(lo, hi).Words() {
				for ; mask != 0; mask &= mask - 1 {
					e, _ := probed.EntityAt(w, word*64+int(trailingZeros(mask)))
					got = append(got, e)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("query %s between %d and %d: the entities of Words differ: got %d, want %d", name,
					lo, hi, len(got), len(want))
			}
		}
	}
}

func TestBatchesOfAllRangesYieldTheWholeQuery(t *testing.T) {
	w, a, b := mixedWorld(t)
	q := w.Query(a).Without(b)
	want := entitiesOf(q)
	for _, step := range []int{1000, 64, 4096, 33} {
		var got []Entity
		for lo := 0; lo < w.Slots(); lo += step {
			for batch := range q.Between(lo, lo+step).Batches(100) {
				got = slices.AppendSeq(got, batch.All())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("ranges of %d slots: the entities differ: got %d, want %d", step, len(got), len(want))
		}
	}
}

func TestBetweenEdges(t *testing.T) {
	w, _, _ := mixedWorld(t)
	for _, c := range []struct{ lo, hi, want int }{
		{0, 1 << 15, 1 << 15}, {math.MinInt, math.MaxInt, 1 << 15}, {5, 5, 0}, {9, 3, 0}, {-9, 0, 0},
		{-9, 1, 1}, {1 << 15, math.MaxInt, 0},
		{math.MaxInt, math.MaxInt, 0}, {math.MinInt, math.MinInt, 0}, {63, 65, 2}, {1<<15 - 1, 1 << 20, 1},
	} {
		if n := w.Query().Between(c.lo, c.hi).Count(); n != c.want {
			t.Errorf("between %d and %d: %d entities, want %d", c.lo, c.hi, n, c.want)
		}
	}
	if n := w.Query().Between(100, 300).Between(200, 1000).Count(); n != 100 {
		t.Errorf("between 100 and 300, between 200 and 1000: %d entities, want 100", n)
	}
	if n := w.Query().Between(100, 200).Between(300, 400).Count(); n != 0 {
		t.Errorf("between 100 and 200, between 300 and 400: %d entities, want 0", n)
	}
	if n := w.DeleteAll(w.Query().Between(10, 100)); n != 90 || w.Len() != 1<<15-90 {
		t.Errorf("DeleteAll deleted %d entities, want 90; %d are left, want %d", n, w.Len(), 1<<15-90)
	}
	defer func() {
		if recover() == nil {
			t.Error("Between of the zero Query did not panic")
		}
	}()
	Query{}.Between(0, 1)
}

func TestSlots(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 10})
	if w.Slots() != 0 {
		t.Errorf("an empty world has %d slots", w.Slots())
	}
	for range 200 {
		if e := w.Archetype().New(); int(e.Slot()) >= w.Slots() {
			t.Errorf("%v is in slot %d, but Slots returns %d", e, e.Slot(), w.Slots())
		}
	}
	if n := w.Slots(); n > 1<<10 {
		t.Errorf("Slots returns %d, which exceeds MaxEntities", n)
	}
	w.Close()
	if w.Slots() != 0 {
		t.Errorf("a closed world has %d slots", w.Slots())
	}
}
