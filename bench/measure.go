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
	// sample does the work reps times and returns the time of the work alone.
	sample func(reps int) time.Duration
	// figure replaces sample if the work of a round is not repeated. It returns a figure in nanoseconds or
	// bytes, for example the longest time of several ticks.
	figure func() float64
	// within returns the share of ticks that end within a bound; it may be nil.
	within func() float64
	// check returns an error if the state is wrong. done is the number of repetitions so far.
	check func(done int) error
	// close frees memory that the collector does not free; it may be nil.
	close func()
	// units is the divisor of times and figures: the number of entities or ticks per repetition, or 1.
	units int
	// done counts the repetitions so far.
	done int
}

func (s *side) run(reps int) time.Duration {
	s.done += reps
	return s.sample(reps)
}

func (s *side) finish() error {
	err := s.check(s.done)
	if s.close != nil {
		s.close()
	}
	return err
}

// timeAll returns a sample function for work that can be repeated without undo. The clock is read before the
// first and after the last repetition.
//
// work must not be inlined, so that all rows run the same machine code. Each repetition costs an indirect
// call.
func timeAll[S any](state *S, work func(*S)) func(reps int) time.Duration {
	return func(reps int) time.Duration {
		start := clock.Now()
		for range reps {
			work(state)
		}
		return clock.Now() - start
	}
}

// timeWork returns a sample function for work that undo must reverse after each repetition. The clock is read
// before and after each repetition of the work, and the cost of these readings is subtracted.
//
// All repetitions use one world, whose data are in the caches. With many worlds, two readings of the clock
// could time many repetitions. But the arrays of these worlds begin at the same offset in a page, so they
// compete for the same few cache sets, and the times at least double.
func timeWork[S any](state *S, work, undo func(*S)) func(reps int) time.Duration {
	return func(reps int) time.Duration {
		return max(1, readTime(state, work, undo, reps)-time.Duration(reps)*clockCost())
	}
}

// readTime does the work reps times, with an undo after each repetition. It returns the time of the work and
// of the readings of the clock.
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

// clockCost returns the time between two readings of the clock without work: about 20 ns. It is the least of
// several rounds, so that timeWork does not subtract too much.
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
	rounds     int           // rounds per row; a round takes one sample of each side
	passes     int           // maximum number of passes over all rows; a pass makes a part of the rounds
	sampleTime time.Duration // minimum time of a sample
	rowTime    time.Duration // time limit for all rounds of a row, see minRounds; 0 for no limit
}

// defaultMeasurement takes about a quarter of an hour for all rows.
var defaultMeasurement = measurement{rounds: 9, passes: 3, sampleTime: 4 * time.Millisecond,
	rowTime: 500 * time.Millisecond}

// minRounds: in each pass, rowTime has no effect on the first minRounds rounds of a row. A row that has taken
// rowTime skips the later passes.
const minRounds = 2

// emptyKey identifies an empty query. Rows with equal keys share one measurement of the empty query.
type emptyKey struct {
	peer   string
	extras int
}

// times are the samples of both sides, in nanoseconds or bytes per unit.
type times struct {
	ours, theirs measure.Samples
	within       *float64 // result of our side's within; nil if the side has no such function
}

// measureAll measures the planned rows and adds them to the report. It writes a message about each pass to
// progress.
//
// Every pass sets up each row again, so that neither a slow minute of the machine nor an unlucky placement in
// memory spoils a row. The last pass adds the rows to the report.
func (m measurement) measureAll(plans []plan, out report, progress io.Writer) error {
	passes := min(m.passes, m.rounds)
	rows := make([]times, len(plans))
	spent := make([]time.Duration, len(plans))
	empties := make(map[emptyKey]*times)
	for pass := range passes {
		fmt.Fprintf(progress, "bench: pass %d of %d, %d rows\n", pass+1, passes, len(plans))
		rounds := (m.rounds + pass) / passes // the sum over all passes is m.rounds
		seen := make(map[emptyKey]bool)
		for i, p := range plans {
			empty := &times{} // has no samples if the row has no empty query
			if p.match.emptyTheirs != nil {
				key := emptyKey{p.match.peer, p.work.extras}
				if empties[key] == nil {
					empties[key] = &times{}
				}
				empty = empties[key]
				if !seen[key] {
					seen[key] = true
					ours, theirs := newEmptyVast(p.work.extras), p.match.emptyTheirs(p.work.extras)
					if err := m.compare(&ours, &theirs, rounds, empty); err != nil {
						return fmt.Errorf("empty query beside %s: %w", p.match.peer, err)
					}
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
				if err := out.add(newRow(p, &rows[i], empty)); err != nil {
					return err
				}
			}
		}
	}
	return out.finish()
}

// comparePlan measures a row, in this process or in child processes.
func (m measurement) comparePlan(p plan, rounds int, to *times) error {
	if p.work.outside != nil {
		return m.sampleOutside(p, to)
	}
	ours, theirs := p.match.ours(p.n), p.match.theirs(p.n)
	return m.compare(&ours, &theirs, rounds, to)
}

// compare measures both sides in turns, and checks and closes them. It appends the samples to the samples of
// earlier passes.
//
// Before each sample, compare runs the garbage collector, so that no side pays for the garbage of the other
// side. If the side has a sample function, compare also does some untimed work, which brings the side's data
// back into the caches.
func (m measurement) compare(ours, theirs *side, rounds int, to *times) error {
	start := time.Now()
	sides := [2]*side{ours, theirs}
	reps := [2]int{m.calibrate(ours), m.calibrate(theirs)}
	enough := func(round int) bool {
		return m.rowTime > 0 && round >= minRounds && time.Since(start) > m.rowTime/time.Duration(m.passes)
	}
	samples := measure.Turns(rounds, len(sides), enough, func(i int) float64 {
		runtime.GC()
		if figure := sides[i].figure; figure != nil {
			return figure() / float64(sides[i].units)
		}
		sides[i].run(max(1, reps[i]/16))
		took := sides[i].run(reps[i])
		return float64(took.Nanoseconds()) / float64(reps[i]) / float64(sides[i].units)
	})
	to.ours, to.theirs = append(to.ours, samples[0]...), append(to.theirs, samples[1]...)
	if ours.within != nil {
		within := rounded(ours.within())
		to.within = &within
	}
	// Close both sides, even if the first check fails.
	errOurs, errTheirs := ours.finish(), theirs.finish()
	if errOurs != nil {
		return fmt.Errorf("vast: %w", errOurs)
	}
	if errTheirs != nil {
		return fmt.Errorf("the peer: %w", errTheirs)
	}
	return nil
}

// calibrate warms up a side and returns the number of repetitions that take at least sampleTime.
func (m measurement) calibrate(s *side) int {
	if s.figure != nil {
		return 1
	}
	s.run(1)
	reps := 1
	for {
		took := s.run(reps)
		if took >= m.sampleTime {
			return reps
		}
		// Aim at 1.2 times sampleTime. But multiply reps by at most 64, because a short time is measured
		// inexactly.
		want := float64(reps) * 1.2 * float64(m.sampleTime) / float64(max(took, 1))
		reps = int(min(max(want, float64(reps+1)), float64(reps)*64))
	}
}
