package bitset

import (
	"math/rand/v2"
	"testing"
)

// TestStartAt walks over a part of the words, by runs and by words, with and without groups, and compares the
// result with the words.
func TestStartAt(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 6))
	const n = 5 * BlockBits
	a, b, c := NewOnHeap(), NewOnHeap(), NewOnHeap()
	for _, s := range []*Set{a, b, c} {
		if err := s.Grow(n); err != nil {
			t.Fatal(err)
		}
		for range 30 {
			lo := uint(r.IntN(n))
			s.Fill(lo, min(lo+uint(r.IntN(50*wordBits)), n))
		}
	}
	for _, f := range []Filter{NewFilter([]*Set{a}, nil), NewFilter([]*Set{a}, []*Set{b}),
		NewFilter([]*Set{a}, nil, []*Set{b, c})} {
		for range 200 {
			end := uint(r.IntN(n/wordBits + 1))
			lo := uint(r.IntN(int(end) + 1))
			byRuns, byWords := make([]uint64, n/wordBits), make([]uint64, n/wordBits)
			var x Cursor
			last := uint(0)
			for x.StartAt(&f, lo, end); x.Next(); {
				if x.Lo >= x.Hi || x.Lo < last || last > 0 && x.Lo == last {
					t.Fatalf("[%d, %d) comes after a run that ends at %d", x.Lo, x.Hi, last)
				}
				for i := x.Lo; i < x.Hi; i++ {
					byRuns[i/64] |= 1 << (i % 64)
				}
				last = x.Hi
			}
			x = Cursor{}
			x.StartAt(&f, lo, end)
			for w, mask := x.NextWord(); mask != 0; w, mask = x.NextWord() {
				byWords[w] |= mask
			}
			for w := range byRuns {
				want := uint64(0)
				if uint(w) >= lo && uint(w) < end {
					want = f.All(uint(w))
				}
				if byRuns[w] != want || byWords[w] != want {
					t.Fatalf("from word %d to %d: word %d holds %x, by words %x, want %x", lo, end, w,
						byRuns[w], byWords[w], want)
				}
			}
		}
	}
}
