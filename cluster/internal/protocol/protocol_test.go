package protocol

import (
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

// usual are the faults of a simulation.
var usual = faults{crash: 2, process: 1, sleep: 4, rival: 4, lostAppend: 30, lostAnswer: 30, twice: 60}

// TestFaults: whatever happens to messages, owners and processes, the ticks are those of a run without a
// cluster, and the cluster goes on.
func TestFaults(t *testing.T) {
	sum := simCounts{}
	seeds := longtest.Pick(200, 100_000)
	for seed := range uint64(seeds) {
		f := usual
		switch seed % 4 {
		case 2:
			f.intruder = 2
		case 3:
			f.lostTail = 2
		}
		s := newSim(seed, 1+int(seed%5), f, noMistake)
		if err := s.run(); err != nil {
			t.Error(err)
		}
		sum.add(s.count)
	}
	t.Log(sum)
	for _, what := range []string{"crashes", "fenced", "inputs", "intruders", "loads", "purged", "refilled",
		"refused", "reported", "sleeps", "tails", "twice", "unknown"} {
		if sum[what] < seeds/2 {
			t.Errorf("the simulations are too tame: %d times %s in %d seeds", sum[what], what, seeds)
		}
	}
}

// TestMistakes breaks each rule on purpose: the simulation must find it.
func TestMistakes(t *testing.T) {
	for m := noMistake + 1; m <= purgeMore; m++ {
		var found error
		seed := uint64(0)
		for ; found == nil && seed < 300; seed++ {
			found = newSim(seed, 2+int(seed%3), usual, m).run()
		}
		t.Logf("mistake %d, %d seeds: %v", m, seed, found)
		if found == nil {
			t.Errorf("mistake %d is not found", m)
		}
	}
}

// TestSameSeed: a seed makes the same run each time.
func TestSameSeed(t *testing.T) {
	var steps [2]int
	for i := range steps {
		s := newSim(5, 4, usual, noMistake)
		if err := s.run(); err != nil {
			t.Fatal(err)
		}
		steps[i] = s.step
	}
	if steps[0] != steps[1] {
		t.Errorf("the seed made %d steps, and then %d", steps[0], steps[1])
	}
}
