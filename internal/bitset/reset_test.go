package bitset

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// TestReset: after Reset, a set and all its summaries are empty, and the set can be filled, loaded and shrunk
// again.
func TestReset(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	const n = 3 * groupBits
	r, err := vm.Reserve(Size(n), vm.Options{Pages: vm.PagesSmall})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	inRegion, err := New(r, n)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Set{"region": inRegion, "heap": NewOnHeap()} {
		if err := s.Grow(n); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			words := map[uint]uint64{}
			for range 500 {
				i := uint(rnd.IntN(n))
				s.Set(i)
				words[i/64] |= 1 << (i % 64)
			}
			s.Fill(n/2, n/2+70_000) // makes several blocks full
			for i := uint(n / 2); i < n/2+70_000; i++ {
				words[i/64] |= 1 << (i % 64)
			}
			count := 0
			for _, w := range words {
				count += bits.OnesCount64(w)
			}
			if s.OccupiedWords() != len(words) || s.Count() != count {
				t.Errorf("%s: %d words are occupied, want %d; %d slots are set, want %d", name,
					s.OccupiedWords(), len(words), s.Count(), count)
			}
			kept := slices.Clone(unsafe.Slice((*uint64)(s.Words()), n/64-rnd.IntN(100)))
			s.Reset()
			s.Load(kept)
			s.CheckInvariants()
			for i, word := range kept {
				if s.Word(uint(i)) != word {
					t.Fatalf("%s: word %d is %x after Load, want %x", name, i, s.Word(uint(i)), word)
				}
			}
			s.Reset()
			s.CheckInvariants()
			if s.OccupiedWords() != 0 || s.Count() != 0 || s.Next(0) != uint(s.Len()) || s.NextClear(0) != 0 {
				t.Fatalf("%s: after Reset, %d words are occupied, %d slots are set, the first set slot is "+
					"%d, the first clear slot is %d; want an empty set", name, s.OccupiedWords(), s.Count(),
					s.Next(0), s.NextClear(0))
			}
			for b := range uint(n / 4096) {
				if any, full := s.Block(b); any != 0 || full != 0 {
					t.Fatalf("%s: the summary of block %d is %x, %x after Reset", name, b, any, full)
				}
			}
		}
	}
	before := inRegion.Len()
	inRegion.Shrink(n / 2)
	if inRegion.Len() >= before || inRegion.Len() < n/2 {
		t.Errorf("Shrink(%d) leaves %d of %d slots usable", n/2, inRegion.Len(), before)
	}
}

func TestGroupsNarrow(t *testing.T) {
	const n = 1 << 14
	all, a, b := NewOnHeap(), NewOnHeap(), NewOnHeap()
	for _, s := range []*Set{all, a, b} {
		if err := s.Grow(n); err != nil {
			t.Fatal(err)
		}
	}
	all.Fill(0, n)
	a.Fill(0, 640)
	b.Fill(320, n)
	f := NewFilter([]*Set{all}, nil, []*Set{a}, []*Set{b})
	if any, _ := f.blockAny(0); any != 0b11111_00000 {
		t.Errorf("words %b of the block may match, want words 5 to 9", any)
	}
}
