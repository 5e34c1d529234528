package bitset

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

func TestSetAgainstModel(t *testing.T) {
	rounds := longtest.Pick(8, 60)
	for range rounds {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0))
		data := make([]byte, 40+r.IntN(2000))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		t.Logf("seed %d", seed)
		play(t, newSet(t, capacityTest), data)
	}
}

func TestFillAndEraseAtBorders(t *testing.T) {
	s := newSet(t, capacityTest)
	n := uint(s.Len())
	borders := []uint{0, 1, 63, 64, 65, BlockBits - 1, BlockBits, BlockBits + 1, groupBits - 1, groupBits,
		groupBits + 1, n - 1, n}
	for _, lo := range borders {
		for _, hi := range borders {
			if lo > hi {
				continue
			}
			s.Fill(lo, hi)
			s.CheckInvariants()
			if got := s.Count(); got != int(hi-lo) {
				t.Fatalf("Fill(%d, %d) set %d slots", lo, hi, got)
			}
			if got := s.Next(0); lo < hi && got != lo || lo == hi && got != n {
				t.Fatalf("after Fill(%d, %d) the first slot is %d", lo, hi, got)
			}
			if got := s.NextClear(lo); got != hi {
				t.Fatalf("after Fill(%d, %d) the first clear slot from %d on is %d", lo, hi, lo, got)
			}
			s.Fill(0, n)
			s.Erase(lo, hi)
			s.CheckInvariants()
			if got := s.Count(); got != int(n-(hi-lo)) {
				t.Fatalf("Erase(%d, %d) left %d slots of %d", lo, hi, got, n)
			}
			s.Erase(0, n)
		}
	}
}

func TestGrowKeepsWhatIsSet(t *testing.T) {
	r, err := vm.Reserve(Size(capacityTest), vm.Options{Name: "bitset test"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := New(r, capacityTest)
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 0 || s.Next(0) != 0 || s.NextClear(0) != 0 || s.Test(3) || s.Count() != 0 {
		t.Fatalf("a set without memory has %d slots", s.Len())
	}
	set := 0
	for n := 1; n <= capacityTest; n = n*3 + 1 {
		if err := s.Grow(n); err != nil {
			t.Fatal(err)
		}
		if s.Len() < n || s.Len()%wordBits != 0 {
			t.Fatalf("Grow(%d) made %d slots usable", n, s.Len())
		}
		for i := uint(set); i < uint(s.Len()); i++ {
			if s.Test(i) {
				t.Fatalf("new slot %d is set", i)
			}
		}
		s.Fill(uint(set), uint(n))
		set = n
		s.CheckInvariants()
		if s.Count() != set {
			t.Fatalf("%d slots are set, want %d", s.Count(), set)
		}
	}
}

func TestGrowBeyondLimitChangesNothing(t *testing.T) {
	limit := vm.NewLimit(3 * 64 << 10)
	r, err := vm.Reserve(Size(100*groupBits), vm.Options{Name: "bitset test", Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := New(r, 100*groupBits)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Grow(1000); err != nil {
		t.Fatal(err)
	}
	n, used := s.Len(), limit.Used()
	if err := s.Grow(100 * groupBits); !errors.Is(err, vm.ErrLimit) {
		t.Fatalf("Grow beyond the limit: %v", err)
	}
	if s.Len() != n || limit.Used() != used || s.Committed() != used {
		t.Fatalf("after a failed Grow, %d slots are usable and %d bytes used, want %d and %d", s.Len(),
			limit.Used(), n, used)
	}
	s.Fill(0, uint(n))
	s.CheckInvariants()
}

func FuzzSet(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 0, 2, 1, 0, 0, 3, 1, 1, 0, 0, 5, 9, 0, 0, 7, 0, 0, 0, 0, 8, 0, 0, 0, 0})
	f.Add([]byte{0, 3, 63, 0, 0, 1, 3, 63, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 {
			return // long inputs fill the whole range often, which is slow and finds no further errors
		}
		play(t, newSet(t, capacityTest), data)
	})
}
