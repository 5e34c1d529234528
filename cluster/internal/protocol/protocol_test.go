package protocol

import (
	"errors"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

var usual = faults{crash: 2, process: 1, sleep: 4, rival: 4, lostAppend: 30, lostAnswer: 30, twice: 60,
	lostStore: 30}

// TestFaults: with faults of messages, owners and processes, the cluster reaches the last tick, and its ticks
// have the same results as without a cluster.
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
	for _, what := range []string{"crashes", "early", "fenced", "followed", "inputs", "intruders",
		"left", "loads", "purged", "refilled", "refused", "removed", "reported", "sleeps", "tails", "twice",
		"unknown"} {
		if sum[what] < seeds/2 {
			t.Errorf("the simulations of %d seeds count %q %d times, want at least %d times", seeds, what,
				sum[what], seeds/2)
		}
	}
}

// TestLossInTakeover: while a process takes a region over, the earlier owner moves the pointer, and the
// outbox loses its last tick and the epoch record of the process. The process has read this tick, so it must
// stop.
func TestLossInTakeover(t *testing.T) {
	moved := 0
	for i := range 400 {
		seed, turns := uint64(i/40), i%40
		s := newSim(seed, 1, faults{}, noMistake)
		s.lookahead = 1
		log, pointer := s.outboxes[0], &s.pointers[0]
		never := func() bool { return false }

		s.start(0, 0)
		s.runAlone(s.owners[0], func() bool { return log.tick == 6 })
		s.start(1, 0)
		s.runAlone(s.owners[1], func() bool { return log.epoch == 2 })
		s.runAlone(s.owners[1], func() bool { turns--; return turns < 0 || log.tick > 6 })
		if log.tick == 6 {
			revision := pointer.revision
			s.runAlone(s.owners[0], never)
			moved += int(pointer.revision - revision)
			log.messages = log.messages[:len(log.messages)-2]
			length := len(log.messages)
			s.runAlone(s.owners[1], never)
			if err := s.owners[1].err; !errors.Is(err, ErrLost) || len(log.messages) != length {
				t.Errorf("seed %d, turn %d: got %d new messages and the error %v, want 0 and ErrLost",
					seed, i%40, len(log.messages)-length, err)
			}
		}
		for _, o := range s.owners {
			o.stop()
		}
	}
	if moved == 0 {
		t.Error("the earlier owner has not moved the pointer in any simulation")
	}
}

// loseAfterTheEnd makes region 0 run its last tick. After that, the outbox of region 0 loses its last
// messages, some of which other regions may need.
func (s *sim) loseAfterTheEnd() {
	before := s.faults
	s.faults = faults{}
	for region := range s.regions {
		s.start(region%len(s.journals), region)
	}
	for o := s.owners[0]; !o.guards; {
		switch {
		case len(s.late) > 0:
			s.deliver()
		case len(s.storing) > 0:
			s.store()
		default:
			next := s.choose()
			if next == nil || next != o && s.outboxes[next.region].tick+s.lookahead >= s.until {
				continue
			}
			if _, ok := next.next(); !ok {
				s.ended(next)
			}
		}
	}
	for s.count["tails"] == 0 {
		s.loseTail(0)
	}
	s.faults = before
}

// TestLossAfterTheEnd: after the last tick of a region, the outbox of the region loses its last messages.
// Other regions may need some of these. The owner of the region appends them again.
func TestLossAfterTheEnd(t *testing.T) {
	refilled := 0
	for seed := range uint64(40) {
		s := newSim(seed, 2+int(seed%3), faults{}, noMistake)
		s.loseAfterTheEnd()
		if err := s.run(); err != nil {
			t.Error(err)
		}
		refilled += s.count["refilled"]
	}
	if refilled < 40 {
		t.Errorf("%d ticks were appended again, want at least 40", refilled)
	}
}

// TestLossBeforePurges: the outbox loses its end while an owner that has appended its last message still
// makes checkpoints. After each checkpoint the owner removes messages from the outbox and from its journal.
// The journal must keep the lost messages.
func TestLossBeforePurges(t *testing.T) {
	for i := range 600 {
		s := newSim(uint64(i/60), 1, faults{}, noMistake)
		s.lookahead = 1
		s.start(0, 0)
		o, turns := s.owners[0], i%60
		s.runAlone(o, func() bool { return s.outboxes[0].tick == s.until })
		s.runAlone(o, func() bool { turns--; return turns < 0 })
		s.loseTail(0)
		if err := s.run(); err != nil {
			t.Fatalf("%d steps after the last append: %v", i%60, err)
		}
	}
}

// TestLostStores: when an owner has stored a checkpoint, it removes the earlier checkpoints. Among these are
// checkpoints that were stored in part, or whose acknowledgement was lost.
func TestLostStores(t *testing.T) {
	most := 0
	for seed := range uint64(60) {
		s := newSim(seed, 1, faults{lostStore: 200, lostAnswer: 200}, noMistake)
		s.lookahead = 1
		s.start(0, 0)
		o, stored := s.owners[0], s.checkpoints[0]
		s.runAlone(o, func() bool {
			most = max(most, len(stored))
			return false
		})
		if len(stored) != 1 && !errors.Is(o.err, errUnstored) {
			t.Errorf("seed %d: %d checkpoints are stored at the end, want 1; the owner returned %v", seed,
				len(stored), o.err)
		}
		o.stop()
	}
	if most < 3 {
		t.Errorf("no simulation had more than %d checkpoints at a time, want at least 3 in one of them", most)
	}
}

// TestMistakes breaks rules of the protocol on purpose. The simulation must detect each mistake.
func TestMistakes(t *testing.T) {
	for m := noMistake + 1; m <= versionSoon; m++ {
		var found error
		seed := uint64(0)
		for ; found == nil && seed < 300; seed++ {
			s := newSim(seed, 2+int(seed%3), usual, m)
			if m == noGuard {
				s.loseAfterTheEnd()
			}
			if m == versionSoon {
				s.upgradeLater()
			}
			found = s.run()
		}
		t.Logf("mistake %d, %d seeds: %v", m, seed, found)
		if found == nil {
			t.Errorf("no simulation detects mistake %d", m)
		}
	}
}

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
		t.Errorf("the first simulation took %d steps, and the second took %d", steps[0], steps[1])
	}
}
