package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/internal/measure"
)

// A side is one party of a comparison, set up and ready to be timed.
type side struct {
	// sample does the work reps times and returns the time that the work alone took.
	sample func(reps int) time.Duration
	// check returns an error if doing the work done times should have left something else than it did.
	check func(done int) error
	// close gives back what the collector does not; nil if there is nothing.
	close func()
	// units is how many entities one repetition handles: the times of a row are for one of them.
	units int
	// done counts how often the work was done.
	done int
}

// run takes one sample.
func (s *side) run(reps int) time.Duration {
	s.done += reps
	return s.sample(reps)
}

// finish checks what the side computed and closes it.
func (s *side) finish() error {
	err := s.check(s.done)
	if s.close != nil {
		s.close()
	}
	return err
}

// timeAll returns a sample function for work that can be done again and again as it is: the clock runs around all of it.
//
// The work is a function of its own that must not be inlined, so that what is timed is compiled the same wherever it is
// called from; it costs either side one indirect call a repetition.
func timeAll[S any](state *S, work func(*S)) func(reps int) time.Duration {
	return func(reps int) time.Duration {
		start := clock.Now()
		for range reps {
			work(state)
		}
		return clock.Now() - start
	}
}

// timeWork returns a sample function for work that must be undone before it can be done again: the clock runs around the
// work alone, and what reading it costs is taken off.
//
// All repetitions are in one world, whose data is in the caches. Working on many worlds between two readings would make
// their cost negligible, but measure something else: the arrays of many worlds begin at the same place of a page and so
// compete for the same few cache sets, which doubles the times of both sides and more.
func timeWork[S any](state *S, work, undo func(*S)) func(reps int) time.Duration {
	return func(reps int) time.Duration {
		return max(1, readTime(state, work, undo, reps)-time.Duration(reps)*clockCost())
	}
}

// readTime does the work reps times, undoing it after each, and returns the time between the readings around the work.
func readTime[S any](state *S, work, undo func(*S), reps int) time.Duration {
	var total time.Duration
	for range reps {
		start := clock.Now()
		work(state)
		total += clock.Now() - start
		undo(state)
	}
	return total
}

// nothing is work that takes no time.
//
//go:noinline
func nothing(*struct{}) {}

// clockCost returns the time between two readings of the clock around no work: some 20 ns. It is the least of several
// rounds, so that rather too little is taken off than too much.
var clockCost = sync.OnceValue(func() time.Duration {
	const reps, rounds = 10_000, 20
	least := time.Duration(math.MaxInt64)
	for range rounds {
		least = min(least, readTime(&struct{}{}, nothing, nothing, reps)/reps)
	}
	return least
})

// A measurement says how rows are measured.
type measurement struct {
	rounds     int           // rounds a row, each with one sample of either side
	passes     int           // passes that the rounds are spread over, at most
	sampleTime time.Duration // the least time that a sample takes
	rowTime    time.Duration // a row that has taken so long gets no more rounds than leastRounds; 0 for no limit
}

// defaultMeasurement takes some ten minutes for all rows together.
var defaultMeasurement = measurement{rounds: 9, passes: 3, sampleTime: 4 * time.Millisecond, rowTime: 500 * time.Millisecond}

// leastRounds is how many rounds a row gets in a pass that it takes part in, however slow it is.
const leastRounds = 2

// emptyKey names an empty query: all rows with the same one share its measurement.
type emptyKey struct {
	peer   string
	extras int
}

// times are the samples of both sides, in nanoseconds a unit.
type times struct {
	ours, theirs measure.Samples
}

// measureAll measures the planned rows and hands each to the report.
//
// It goes through all rows several times and sets each up anew every time, so that neither a bad minute of the machine nor
// an unlucky place in memory spoils a row. A row that is slow to set up or to measure leaves out later passes. Rows are
// handed over in the last pass; the earlier ones are announced on progress.
func (m measurement) measureAll(plans []plan, out report, progress io.Writer) error {
	passes := min(m.passes, m.rounds)
	rows := make([]times, len(plans))
	spent := make([]time.Duration, len(plans))
	empties := make(map[emptyKey]*times)
	for pass := range passes {
		fmt.Fprintf(progress, "bench: pass %d of %d, %d rows\n", pass+1, passes, len(plans))
		rounds := (m.rounds + pass) / passes // adds up to m.rounds
		seen := make(map[emptyKey]bool)
		for i, p := range plans {
			key := emptyKey{p.match.peer, p.work.extras}
			if empties[key] == nil {
				empties[key] = &times{}
			}
			if !seen[key] && p.work.outside == nil {
				seen[key] = true
				ours, theirs := newEmptyVast(p.work.extras), p.match.emptyTheirs(p.work.extras)
				if err := m.compare(&ours, &theirs, rounds, empties[key]); err != nil {
					return fmt.Errorf("empty query beside %s: %w", p.match.peer, err)
				}
			}
			if m.rowTime == 0 || spent[i] < m.rowTime {
				start := time.Now()
				if err := m.comparePlan(p, rounds, &rows[i]); err != nil {
					return fmt.Errorf("%s, n = %d, beside %s: %w", p.work.name, p.n, p.match.peer, err)
				}
				spent[i] += time.Since(start)
			}
			if pass == passes-1 {
				if err := out.add(newRow(p, &rows[i], empties[key])); err != nil {
					return err
				}
			}
		}
	}
	return out.finish()
}

// comparePlan measures one row, in processes of its own or in this one.
func (m measurement) comparePlan(p plan, rounds int, to *times) error {
	if p.work.outside != nil {
		return m.measureOutside(p, to)
	}
	ours, theirs := p.match.ours(p.n), p.match.theirs(p.n)
	return m.compare(&ours, &theirs, rounds, to)
}

// compare measures both sides in alternating rounds, adds the samples to those of earlier passes and checks what the sides
// computed.
//
// Before each sample the collector runs, so that neither side pays for the other's garbage, and some untimed work brings
// the side's data back into the caches that the collector and the other side have taken.
func (m measurement) compare(ours, theirs *side, rounds int, to *times) error {
	start := time.Now()
	sides := [2]*side{ours, theirs}
	reps := [2]int{m.calibrate(ours), m.calibrate(theirs)}
	enough := func(round int) bool {
		return m.rowTime > 0 && round >= leastRounds && time.Since(start) > m.rowTime/time.Duration(m.passes)
	}
	samples := measure.Turns(rounds, len(sides), enough, func(i int) float64 {
		runtime.GC()
		sides[i].run(max(1, reps[i]/16))
		took := sides[i].run(reps[i])
		return float64(took.Nanoseconds()) / float64(reps[i]) / float64(sides[i].units)
	})
	to.ours, to.theirs = append(to.ours, samples[0]...), append(to.theirs, samples[1]...)
	// Both are checked and closed, whatever the first says.
	errOurs, errTheirs := ours.finish(), theirs.finish()
	if errOurs != nil {
		return fmt.Errorf("vast: %w", errOurs)
	}
	if errTheirs != nil {
		return fmt.Errorf("the peer: %w", errTheirs)
	}
	return nil
}

// calibrate warms a side up and returns how many repetitions make a sample of the wanted time.
func (m measurement) calibrate(s *side) int {
	s.run(1)
	reps := 1
	for {
		took := s.run(reps)
		if took >= m.sampleTime {
			return reps
		}
		// Aim a fifth beyond the wanted time, and grow step by step while the measured time is too short to rely on.
		want := float64(reps) * 1.2 * float64(m.sampleTime) / float64(max(took, 1))
		reps = int(min(max(want, float64(reps+1)), float64(reps)*64))
	}
}
