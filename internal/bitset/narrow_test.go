package bitset

import (
	"math/rand/v2"
	"testing"
)

// TestSummariesNarrow compares the masks that a filter computes from the summaries with masks computed from
// the words.
func TestSummariesNarrow(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 5))
	const n = 3 * BlockBits
	for range 40 {
		sets := make([]*Set, 8)
		for i := range sets {
			sets[i] = NewOnHeap()
			slots := n
			if i >= 4 {
				slots = (1 + i%3) * BlockBits // excluded sets and sets of groups may be shorter
			}
			if err := sets[i].Grow(slots); err != nil {
				t.Fatal(err)
			}
			for range 12 {
				lo := uint(r.IntN(slots))
				sets[i].Fill(lo, min(lo+uint(r.IntN(40*wordBits)), uint(slots)))
			}
		}
		and, minus, groups := sets[:2+r.IntN(3)], sets[4:4+r.IntN(3)], [][]*Set{sets[5:8], sets[4:6]}
		f := NewFilter(and, minus, groups...)
		for b := range uint(n / BlockBits) {
			var candidates, whole, any, full uint64
			for i := range uint(64) {
				w, bit := b*64+i, uint64(1)<<i
				word := func(s *Set) uint64 {
					if w >= s.usable {
						return 0
					}
					return *s.word(w)
				}
				may, all := true, true
				for _, s := range and {
					may, all = may && word(s) != 0, all && word(s) == ones
				}
				for _, s := range minus {
					may, all = may && word(s) != ones, all && word(s) == 0
				}
				mayAny, allAny := true, true
				for _, group := range groups {
					hasBits, hasFull := false, false
					for _, s := range group {
						hasBits, hasFull = hasBits || word(s) != 0, hasFull || word(s) == ones
					}
					mayAny, allAny = mayAny && hasBits, allAny && hasFull
				}
				for _, c := range []struct {
					is bool
					of *uint64
				}{{may, &candidates}, {all, &whole}, {mayAny, &any}, {allAny, &full}} {
					if c.is {
						*c.of |= bit
					}
				}
			}
			gotAny, gotFull := f.blockAny(b)
			if f.candidates(b) != candidates || f.whole(b) != whole || gotAny != any || gotFull != full {
				t.Fatalf("block %d, with %d required and %d excluded sets: candidates\n%064b, want\n%064b\n"+
					"whole\n%064b, want\n%064b\nany of each group\n%064b, want\n%064b\n"+
					"full in each group\n%064b, want\n%064b", b, len(and),
					len(minus),
					f.candidates(b), candidates, f.whole(b), whole, gotAny, any, gotFull, full)
			}
		}
	}
}
