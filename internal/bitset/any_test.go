package bitset

import (
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

// TestCursorOfGroups walks filters with groups of sets of different lengths. The model of a group is the
// union of the models of its sets.
func TestCursorOfGroups(t *testing.T) {
	rounds := longtest.Pick(5, 30)
	for range rounds {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		s, minus := newSet(t, capacityTest), newSet(t, 1+r.IntN(capacityTest))
		in := []model{pattern(r, s)}
		out := []model{pattern(r, minus)}
		var groups [][]*Set
		for range 1 + r.IntN(2) {
			var group []*Set
			union := make(model, s.Len())
			for range 1 + r.IntN(3) {
				one := newSet(t, 1+r.IntN(capacityTest))
				for i, set := range pattern(r, one) {
					if i < len(union) {
						union[i] = union[i] || set
					}
				}
				group = append(group, one)
			}
			groups, in = append(groups, group), append(in, union)
		}
		f := NewFilter([]*Set{s}, []*Set{minus}, groups...)
		words := uint(s.Len()) / wordBits
		want := runsOf(in, out, 0, words*wordBits)
		var c, byWord Cursor
		c.Start(&f, ^uint(0))
		same(t, "Start", walk(&c), want)
		masks := map[uint]uint64{}
		for _, one := range want {
			for i := one.lo; i < one.hi; i++ {
				masks[i/wordBits] |= 1 << (i % wordBits)
			}
		}
		byWord.Start(&f, words)
		last, n := -1, 0
		for {
			word, mask := byWord.NextWord()
			if mask == 0 {
				break
			}
			if int(word) <= last || mask != masks[word] {
				t.Fatalf("NextWord returns word %d after word %d, with the mask %#x, want %#x", word, last,
					mask, masks[word])
			}
			last, n = int(word), n+1
		}
		if n != len(masks) {
			t.Fatalf("NextWord returned %d words, want %d", n, len(masks))
		}
		lo, hi := r.UintN(words), r.UintN(words+70)
		c = Cursor{}
		c.StartAt(&f, lo, hi)
		same(t, "StartAt", walk(&c), runsOf(in, out, lo*wordBits, min(hi, words)*wordBits))
	}
}

// TestRunsThatAGroupFills: a run continues over words that are full in the union of a group, but in none of
// its sets.
func TestRunsThatAGroupFills(t *testing.T) {
	all, even, odd := newSet(t, capacityTest), newSet(t, capacityTest), newSet(t, capacityTest)
	n := uint(all.Len())
	all.Fill(0, n)
	for i := range n / wordBits {
		even.Store(i, 0x5555555555555555)
		odd.Store(i, 0xaaaaaaaaaaaaaaaa)
	}
	f := NewFilter([]*Set{all}, nil, []*Set{even, odd})
	var c Cursor
	c.Start(&f, n)
	same(t, "full", walk(&c), []run{{0, n}})
	odd.Clear(BlockBits + 1)
	c = Cursor{}
	c.Start(&f, n)
	same(t, "with a gap", walk(&c), []run{{0, BlockBits + 1}, {BlockBits + 2, n}})
}
