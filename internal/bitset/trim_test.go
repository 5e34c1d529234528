package bitset

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vastgo/vast/vm"
)

func TestGapsAndTrim(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	const n = 1 << 22
	r, err := vm.Reserve(Size(n), vm.Options{Pages: vm.PagesSmall})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := New(r, n)
	if err != nil || s.Grow(n) != nil {
		t.Fatal(err)
	}
	s.Fill(0, n)
	full, err := s.Resident()
	if err != nil {
		t.Fatal(err)
	}
	s.Erase(0, n)
	model := make([]bool, n)
	for range 20 {
		lo := uint(rnd.IntN(n))
		hi := min(n, lo+uint(rnd.IntN(100)))
		s.Fill(lo, hi)
		for i := lo; i < hi; i++ {
			model[i] = true
		}
	}
	if err := s.Trim(); err != nil {
		t.Fatal(err)
	}
	resident, err := s.Resident() // before reads make the pages resident again
	if err != nil || !vm.ReadFacts().HeapStandIn && resident > full/2+20*2*(vm.PageSize()-4096) {
		t.Errorf("%d of %d bytes are resident after Trim; error %v", resident, full, err)
	}
	s.CheckInvariants()
	for _, end := range []uint{0, 1, 63, 64, 5000, n} {
		seen := slices.Clone(model[:end])
		at := uint(0)
		for lo, hi := range s.Gaps(end) {
			if lo >= hi || hi > end || lo > 0 && !model[lo-1] || hi < end && !model[hi] || lo < at {
				t.Fatalf("Gaps(%[3]d) yields [%[1]d, %[2]d), which is not a gap", lo, hi, end)
			}
			for i := lo; i < hi; i++ {
				if seen[i] {
					t.Fatalf("slot %d of the gap [%d, %d) is set", i, lo, hi)
				}
				seen[i] = true
			}
			at = hi
		}
		if slices.Contains(seen, false) {
			t.Fatalf("a gap below %d is missing", end)
		}
	}
	for i, want := range model {
		if s.Test(uint(i)) != want {
			t.Fatalf("slot %d changed", i)
		}
	}
}
