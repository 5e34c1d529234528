package earth

import (
	"math"
	"testing"
)

// The values are the first outputs of the reference implementation of SplitMix64 for the seed 1234567.
func TestMixIsSplitMix64(t *testing.T) {
	state := uint64(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423,
		4593380528125082431,
		16408922859458223821} {
		state += golden
		if got := mix(state); got != want {
			t.Errorf("output %d is %d, want %d", i, got, want)
		}
	}
}

func TestDrawsDifferByEverything(t *testing.T) {
	seen := map[stream]bool{}
	n := 0
	for seed := range uint64(5) {
		for number := range uint32(20) {
			for tick := range uint32(20) {
				for p := forHome; p <= forCells; p++ {
					seen[draws(seed, number, tick, p)] = true
					n++
				}
			}
		}
	}
	if len(seen) != n {
		t.Errorf("draws gave %d different streams for %d different arguments", len(seen), n)
	}
}

func TestDistributions(t *testing.T) {
	s := draws(1, 0, 0, forStay)
	const n = 200_000
	var sum, squares, units float64
	var sixths [6]int
	for range n {
		x := float64(s.exponential(1000))
		sum += x
		squares += x * x
		u := s.unit()
		if !(u > 0 && u <= 1) {
			t.Fatalf("unit returned %v, want a number in (0, 1]", u)
		}
		units += u
		sixths[s.below(6)]++
	}
	mean := sum / n
	deviation := math.Sqrt(squares/n - mean*mean)
	if math.Abs(mean-1000.5) > 12 || math.Abs(deviation-1000) > 20 {
		t.Errorf("exponential(1000) has mean %v and deviation %v, want 1000.5 and 1000", mean, deviation)
	}
	if math.Abs(units/n-0.5) > 0.004 {
		t.Errorf("unit has mean %v, want 0.5", units/n)
	}
	for i, k := range sixths {
		if math.Abs(float64(k)-n/6) > 5*math.Sqrt(n/6) {
			t.Errorf("below(6) returned %d in %d of %d draws", i, k, n)
		}
	}
}
