package bitset

import (
	"math/rand/v2"
	"testing"
)

func TestGrowHeapSetAgainstModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 7))
	s := NewOnHeap()
	if s.Len() != 0 || s.Next(0) != 0 || s.Test(5) {
		t.Fatalf("a new set: Len() = %d, Next(0) = %d, Test(5) = %t; want 0, 0 and false", s.Len(), s.Next(0),
			s.Test(5))
	}
	var m model
	for len(m) < 2*groupBits {
		n := len(m) + 1 + r.IntN(groupBits/3)
		if err := s.Grow(n); err != nil || s.Len() < n {
			t.Fatalf("Grow(%d): %v, %d slots", n, err, s.Len())
		}
		m = append(m, make(model, s.Len()-len(m))...)
		for range 20 {
			lo := uint(r.IntN(len(m)))
			hi := min(lo+uint(r.IntN(3*BlockBits)), uint(len(m)))
			if value := r.IntN(2) == 0; value {
				s.Fill(lo, hi)
				m.fill(lo, hi, true)
			} else {
				s.Erase(lo, hi)
				m.fill(lo, hi, false)
			}
		}
		s.CheckInvariants()
		if s.Count() != m.count() {
			t.Fatalf("%d slots are set, want %d", s.Count(), m.count())
		}
		for at := uint(0); at < uint(len(m)); at = s.Next(at) + 1 {
			if want := m.next(at, true); s.Next(at) != want {
				t.Fatalf("Next(%d) is %d, want %d", at, s.Next(at), want)
			}
		}
	}
	s.Shrink(0)
	if n, err := s.Resident(); n != 0 || err != nil || s.Committed() != 0 || s.Trim() != nil ||
		s.Count() != m.count() {
		t.Errorf("after Shrink: %d bytes resident, %d committed, want 0; error %v; %d slots are set, want %d",
			n, s.Committed(), err, s.Count(), m.count())
	}
}

// TestFullHeapSet: in a full set, the search for a clear slot stops at the end of the set. The first set ends
// inside a group, the others end at the end of a group.
func TestFullHeapSet(t *testing.T) {
	for _, n := range []int{BlockBits, groupBits, 2 * groupBits} {
		s := NewOnHeap()
		if err := s.Grow(n); err != nil || s.Len() != n {
			t.Fatalf("Grow(%d): %d slots, %v", n, s.Len(), err)
		}
		s.Fill(0, uint(n))
		if at := s.NextClear(0); at != uint(n) {
			t.Errorf("NextClear(0) is %d in a full set, want %d", at, n)
		}
		s.Clear(uint(n - 1))
		if at := s.NextClear(0); at != uint(n-1) {
			t.Errorf("NextClear(0) is %d if only the last slot is clear, want %d", at, n-1)
		}
		s.CheckInvariants()
	}
}
