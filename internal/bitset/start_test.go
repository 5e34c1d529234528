package bitset

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

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
					t.Fatalf("Next returned [%d, %d) after a run that ends at %d", x.Lo, x.Hi, last)
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
					t.Fatalf("walk over the words [%d, %d): word %d is %x by runs, %x by words, want %x", lo,
						end, w, byRuns[w], byWords[w], want)
				}
			}
		}
	}
}

func TestFilterCount(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 7))
	const n = 70 * BlockBits // more than a group of blocks
	randomSet := func(size, stretch int) *Set {
		s := NewOnHeap()
		if err := s.Grow(size); err != nil {
			t.Fatal(err)
		}
		for range size / stretch {
			lo := uint(r.IntN(size))
			s.Fill(lo, min(lo+uint(r.IntN(stretch)), uint(size)))
		}
		for range size / 500 {
			s.Clear(uint(r.IntN(size)))
		}
		return s
	}
	full, empty := randomSet(n, n), randomSet(n, n)
	full.Fill(0, n)
	empty.Erase(0, n)
	a, b, c := randomSet(n, 30*wordBits), randomSet(n-3*BlockBits, 3*BlockBits), randomSet(n-90*wordBits, 40)
	for i, f := range []Filter{
		NewFilter([]*Set{full}, nil), NewFilter([]*Set{empty}, nil), NewFilter([]*Set{a}, nil),
		NewFilter([]*Set{a, b}, nil), NewFilter([]*Set{full, a, b}, []*Set{c}),
		NewFilter([]*Set{full}, []*Set{b}), NewFilter([]*Set{full, empty}, nil, []*Set{a, b}),
		NewFilter([]*Set{full}, nil, []*Set{a, b}),
		NewFilter([]*Set{a}, []*Set{c}, []*Set{b, full}, []*Set{c, b}),
	} {
		before := make([]int, n+1) // matches below each slot
		for slot := range uint(n) {
			before[slot+1] = before[slot] + int(f.All(slot/wordBits)>>(slot%wordBits)&1)
		}
		if got := f.Count(0, 2*n); got != before[n] {
			t.Fatalf("filter %d: %d matches, want %d", i, got, before[n])
		}
		for range 3000 {
			lo := uint(r.IntN(n + 1))
			hi := lo + uint(r.IntN(n-int(lo)+1))>>r.IntN(bits.Len(n))
			if r.IntN(3) == 0 {
				lo, hi = lo&^(BlockBits-1), hi&^(BlockBits-1)
			}
			if got, want := f.Count(lo, hi), max(0, before[hi]-before[lo]); got != want {
				t.Fatalf("filter %d: %d matches in [%d, %d), want %d", i, got, lo, hi, want)
			}
		}
		if f.Count(n, 2*n) != 0 || f.Count(5, 5) != 0 || f.Count(6, 5) != 0 {
			t.Fatalf("filter %d counts matches in an empty range", i)
		}
	}
}
