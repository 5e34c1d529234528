package sched

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// loop is what other goroutines may tell Run.
type loop struct {
	poke     chan struct{} // holds a token when Run is to look again
	unnotify func()        // ends the tokens for visitors of the world

	mu      sync.Mutex
	running bool
	paused  bool
	steps   int // ticks to be made though paused
}

// Run lets time pass: it calls for Options.Rate ticks a second, the first one at once, until ctx ends or a tick returns an
// error. It returns that error, or nil when ctx has ended; a tick under way is ended first.
//
// Each tick stands for the same step of time. When ticks come too late, Run makes up for up to Options.CatchUp of them
// without waiting, and drops the rest: then simulated time is behind for good, and [Stats] counts how much. While the
// schedule is paused no ticks become due.
func (s *Schedule) Run(ctx context.Context) error {
	s.enter("Run")
	defer s.busy.Store(false)
	if err := s.build(); err != nil {
		return err
	}
	s.loop.setRunning(true)
	defer s.loop.setRunning(false)
	defer context.AfterFunc(ctx, s.poke)()
	clock := s.options.Clock
	due, held := clock.Now(), false // when the next tick is to begin; whether the schedule was paused meanwhile
	for ctx.Err() == nil {
		now, step := s.mayTick()
		if !now {
			if !s.admit(s.options.Visits) {
				clock.Wait(-1, s.loop.poke)
			}
			held = true
			continue
		}
		if step {
			held = true
		} else {
			if held {
				due, held = clock.Now(), false
			}
			behind := clock.Now().Sub(due)
			if behind < 0 {
				if !s.admit(min(s.options.Visits, -behind)) {
					clock.Wait(-behind, s.loop.poke)
				}
				continue
			}
			if missed := int64(behind / s.step); missed > 0 {
				dropped := max(missed+1-int64(s.options.CatchUp), 0)
				due = due.Add(s.step * time.Duration(dropped))
				s.mu.Lock()
				s.counters.late++
				s.counters.dropped += uint64(dropped)
				s.mu.Unlock()
			}
			due = due.Add(s.step)
		}
		if err := s.tick(); err != nil {
			return err
		}
		if held || s.isBehind(due) {
			// There is no wait in which visitors would be let in.
			s.admit(s.options.Visits)
		}
	}
	return nil
}

// isBehind reports whether the next tick is due already.
func (s *Schedule) isBehind(due time.Time) bool { return !s.options.Clock.Now().Before(due) }

// oneThread says that nothing interrupts a goroutine: while one does not wait, no other one runs.
const oneThread = runtime.GOARCH == "wasm"

// admit lets visitors of the world in and reports whether some still wait. Between two ticks it is always called, so that on
// one thread others come to run, who visit, pause the schedule or end the loop, even where ticks follow each other without
// a wait.
func (s *Schedule) admit(most time.Duration) (more bool) {
	if oneThread {
		runtime.Gosched()
	}
	return s.options.Visits > 0 && s.world.Admit(most)
}

func (l *loop) setRunning(is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = is
}

// mayTick reports whether a tick may be made, and whether that is one that Step asked for.
func (s *Schedule) mayTick() (now, step bool) {
	l := &s.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.paused {
		return true, false
	}
	if l.steps == 0 {
		return false, false
	}
	l.steps--
	return true, true
}

// Pause makes [Schedule.Run] wait once the tick under way is done. It may be called from any goroutine at any time, even
// before Run.
func (s *Schedule) Pause() { s.control(func(l *loop) { l.paused, l.steps = true, 0 }) }

// Resume ends a pause. Time that passed meanwhile is not made up for.
func (s *Schedule) Resume() { s.control(func(l *loop) { l.paused, l.steps = false, 0 }) }

// Step pauses [Schedule.Run] but for n more ticks, which it makes without waiting. It panics when n is negative.
func (s *Schedule) Step(n int) {
	if n < 0 {
		panic(fmt.Sprintf("sched: Schedule.Step(%d): the number of ticks cannot be negative", n))
	}
	s.control(func(l *loop) { l.paused, l.steps = true, l.steps+n })
}

// Paused reports whether [Schedule.Run] waits, or will, but for ticks that Step asked for. It may be called from any
// goroutine at any time.
func (s *Schedule) Paused() bool {
	s.mustBeMade("Paused")
	s.loop.mu.Lock()
	defer s.loop.mu.Unlock()
	return s.loop.paused
}

// Running reports whether [Schedule.Run] is at work: a program that calls Tick itself need not heed Pause. It may be called
// from any goroutine at any time.
func (s *Schedule) Running() bool {
	s.mustBeMade("Running")
	s.loop.mu.Lock()
	defer s.loop.mu.Unlock()
	return s.loop.running
}

func (s *Schedule) control(f func(l *loop)) {
	s.mustBeMade("Pause, Resume or Step")
	s.loop.mu.Lock()
	f(&s.loop)
	s.loop.mu.Unlock()
	s.poke()
}

// poke makes Run look again.
func (s *Schedule) poke() {
	select {
	case s.loop.poke <- struct{}{}:
	default: // it will
	}
}
