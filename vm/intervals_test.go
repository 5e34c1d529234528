package vm

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// modelSize is small, so that random ranges often touch, overlap and cover each other.
const modelSize = 64

// intervalModel is a set of offsets: m[i] says whether offset i is in the set.
type intervalModel [modelSize]bool

// ranges returns the maximal ranges of offsets i in [lo, hi) with m[i] == inside.
func (m *intervalModel) ranges(lo, hi int, inside bool) []interval {
	var out []interval
	for i := lo; i < hi; i++ {
		if m[i] != inside {
			continue
		}
		if n := len(out); n > 0 && out[n-1].hi == i {
			out[n-1].hi++
		} else {
			out = append(out, interval{i, i + 1})
		}
	}
	return out
}

// driveIntervals runs the operations on a set and on its model, and compares the two. Three bytes of ops
// describe an operation.
func driveIntervals(t *testing.T, ops []byte) {
	var s intervals
	var m intervalModel
	for ; len(ops) >= 3; ops = ops[3:] {
		lo, hi := int(ops[1])%(modelSize+1), int(ops[2])%(modelSize+1)
		switch ops[0] % 2 {
		case 0:
			s.add(lo, hi)
		case 1:
			s.remove(lo, hi)
		}
		for i := lo; i < hi; i++ {
			m[i] = ops[0]%2 == 0
		}
		if got, want := s.of, m.ranges(0, modelSize, true); !slices.Equal(got, want) {
			t.Fatalf("after op %d of [%d, %d): %v, want %v", ops[0]%2, lo, hi, got, want)
		}
		bytes := 0
		for _, in := range m {
			if in {
				bytes++
			}
		}
		if s.bytes != bytes {
			t.Fatalf("the set counts %d offsets, want %d", s.bytes, bytes)
		}
		// Query another range than the changed one.
		lo, hi = hi/2, lo
		if got, want := s.gaps(lo, hi, nil), m.ranges(lo, hi, false); !slices.Equal(got, want) {
			t.Fatalf("gaps of [%d, %d) in %v: %v, want %v", lo, hi, s.of, got, want)
		}
		if got, want := s.covered(lo, hi), m.ranges(lo, hi, true); !slices.Equal(got, want) {
			t.Fatalf("covered of [%d, %d) in %v: %v, want %v", lo, hi, s.of, got, want)
		}
		if got, want := s.meets(lo, hi), len(m.ranges(max(lo-1, 0), min(hi+1, modelSize),
			true)) > 0; lo < hi && got != want {
			t.Fatalf("meets [%d, %d) in %v: %v, want %v", lo, hi, s.of, got, want)
		}
		if got, want := s.contains(lo, hi), len(m.ranges(lo, hi, false)) == 0; got != want {
			t.Fatalf("contains [%d, %d) in %v: %v, want %v", lo, hi, s.of, got, want)
		}
	}
}

func TestIntervalsRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		ops := make([]byte, 3*100)
		for i := range ops {
			ops[i] = byte(rnd.Uint32())
		}
		driveIntervals(t, ops)
	}
}

func FuzzIntervals(f *testing.F) {
	f.Add([]byte{0, 1, 9, 0, 9, 12, 1, 3, 4, 0, 0, 64, 1, 20, 10})
	f.Fuzz(driveIntervals)
}
