package protocol

import (
	"errors"
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
		if seed%3 == 0 {
			s.upgradeLater()
		}
		if err := s.run(); err != nil {
			t.Error(err)
		}
		sum.add(s.count)
	}
	t.Log(sum)
	for _, what := range []string{"crashes", "early", "fenced", "followed", "inputs", "intruders", "loads",
		"purged", "refilled", "refused", "reported", "sleeps", "tails", "twice", "unknown"} {
		if sum[what] < seeds/2 {
			t.Errorf("the simulations are too tame: %d times %s in %d seeds", sum[what], what, seeds)
		}
	}
}

// TestLossInTakeover: while a process takes a region over, the owner before moves the pointer, and then the
// outbox loses the last tick and the record of the process. The process has read the tick, so it must stop.
func TestLossInTakeover(t *testing.T) {
	moved := 0
	for i := range 400 {
		seed, turns := uint64(i/40), i%40
		s := newSim(seed, 1, faults{}, noMistake)
		s.lookahead = 1
		log, pointer := s.outboxes[0], &s.pointers[0]
		run := func(o *simOwner, enough func() bool) {
			for ok := true; ok && !enough(); {
				if len(s.late) > 0 {
					s.deliver()
				} else {
					_, ok = o.next()
				}
			}
		}
		never := func() bool { return false }

		s.start(0, 0)
		run(s.owners[0], func() bool { return log.tick == 6 })
		s.start(1, 0)
		run(s.owners[1], func() bool { return log.epoch == 2 })
		run(s.owners[1], func() bool { turns--; return turns < 0 || log.tick > 6 })
		if log.tick == 6 {
			revision := pointer.revision
			run(s.owners[0], never)
			moved += int(pointer.revision - revision)
			log.messages = log.messages[:len(log.messages)-2]
			length := len(log.messages)
			run(s.owners[1], never)
			if err := s.owners[1].err; !errors.Is(err, ErrLost) || len(log.messages) != length {
				t.Errorf("seed %d, turn %d: the process appended %d messages, and then: %v", seed, i%40,
					len(log.messages)-length, err)
			}
		}
		for _, o := range s.owners {
			o.stop()
		}
	}
	if moved == 0 {
		t.Error("the owner before has never moved the pointer")
	}
}

// TestMistakes breaks each rule on purpose: the simulation must find it.
func TestMistakes(t *testing.T) {
	for m := noMistake + 1; m <= versionSoon; m++ {
		var found error
		seed := uint64(0)
		for ; found == nil && seed < 300; seed++ {
			s := newSim(seed, 2+int(seed%3), usual, m)
			if m == versionSoon {
				s.upgradeLater()
			}
			found = s.run()
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
