package sched

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// loop is the state of Run and RunTicks that other goroutines may read and change.
type loop struct {
	poke chan struct{} // holds a token when Run or RunTicks must read the state again

	mu      sync.Mutex
	running bool
	budget  time.Duration // time from one tick to the next while Run is running, otherwise 0
	paused  bool
	steps   int // number of ticks to run despite the pause
}

// Run makes Options.Rate ticks a second, the first one immediately, until ctx ends, the simulation is stopped
// or a tick returns an error. When ctx ends, Run finishes the tick under way, and a later Run, RunTicks or
// Tick continues the simulation. When [Schedule.Stop] or [Context.Stop] was called, Run also calls the End
// functions of the systems. Run returns the error of a tick or of [Schedule.Build], or nil.
//
// Each tick stands for the same step of simulated time. When ticks are late, Run makes up to Options.CatchUp
// late ticks without waiting, and drops further late ticks. Simulated time then stays behind real time, and
// [Stats] counts the dropped ticks. While the schedule is paused, no ticks become due.
func (s *Schedule) Run(ctx context.Context) error {
	s.enter("Run")
	defer s.busy.Store(false)
	if err := s.build(); err != nil {
		return err
	}
	s.loop.setRunning(true, s.step)
	defer s.loop.setRunning(false, 0)
	defer context.AfterFunc(ctx, s.poke)()
	clock := s.options.Clock
	// due is the time at which the next tick should start. held is true after a pause or a tick that Step
	// requested: the next regular tick is then due immediately.
	due, held := clock.Now(), false
	for !s.stopped.Load() {
		if ctx.Err() != nil {
			return nil
		}
		now, step := s.mayTick()
		if !now {
			s.wait(-1)
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
				s.wait(-behind)
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
		if err := s.runAsOwner((*Schedule).tick); err != nil {
			return err
		}
		if held || s.isBehind(due) {
			s.admit() // otherwise Run admits visitors while it waits for the next tick
		}
	}
	return s.runAsOwner((*Schedule).tick) // calls the End functions that the last tick did not call
}

// RunTicks makes n ticks as fast as possible, or fewer if [Schedule.Stop] or [Context.Stop] is called. Like
// [Schedule.Run], RunTicks obeys Pause and Step. RunTicks returns the error of a tick or of [Schedule.Build],
// the error of ctx if ctx ends before the last tick, or nil. A later RunTicks, Run or Tick continues a
// simulation that is not stopped. RunTicks panics when n is negative.
func (s *Schedule) RunTicks(ctx context.Context, n int) error {
	if n < 0 {
		panic(fmt.Sprintf("sched: Schedule.RunTicks(%d): the number of ticks cannot be negative", n))
	}
	s.enter("RunTicks")
	defer s.busy.Store(false)
	if err := s.build(); err != nil {
		return err
	}
	s.loop.setRunning(true, 0)
	defer s.loop.setRunning(false, 0)
	defer context.AfterFunc(ctx, s.poke)()
	for n > 0 && !s.stopped.Load() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if now, _ := s.mayTick(); !now {
			s.wait(-1)
			continue
		}
		if err := s.runAsOwner((*Schedule).tick); err != nil {
			return err
		}
		s.admit()
		n--
	}
	if s.stopped.Load() {
		return s.runAsOwner((*Schedule).tick) // calls the End functions that the last tick did not call
	}
	return nil
}

func (s *Schedule) isBehind(due time.Time) bool { return !s.options.Clock.Now().Before(due) }

// oneThread reports whether the platform runs all goroutines on one thread and never preempts a goroutine.
const oneThread = runtime.GOARCH == "wasm"

// yield lets other goroutines run if the platform has only one thread. Another goroutine may then visit the
// world, pause the schedule or end the context of Run.
func yield() {
	if oneThread {
		runtime.Gosched()
	}
}

// admit admits visitors of the world for the time Options.Visits.
func (s *Schedule) admit() {
	yield()
	if s.visitable() {
		s.world.Admit(s.options.Visits)
	}
}

func (s *Schedule) visitable() bool {
	return s.options.Visits >= 0 && (s.keeper == nil || s.keeper.Visits())
}

// wait waits until d has passed or the method poke is called. If d is negative, only poke ends the wait.
// Unless Options.Visits or the keeper forbids visits, visitors may enter during the wait.
func (s *Schedule) wait(d time.Duration) {
	yield()
	wait := func() { s.options.Clock.Wait(d, s.loop.poke) }
	if s.visitable() {
		s.world.Idle(wait)
	} else {
		wait()
	}
}

func (l *loop) setRunning(running bool, budget time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running, l.budget = running, budget
}

func (l *loop) budgetNow() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.budget
}

// mayTick reports whether a tick may run now. If Step requested this tick, step is true, and mayTick removes
// the tick from l.steps.
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

// Pause makes [Schedule.Run] and [Schedule.RunTicks] wait after the tick under way. It may be called from any
// goroutine at any time, even before Run.
func (s *Schedule) Pause() { s.control(func(l *loop) { l.paused, l.steps = true, 0 }) }

// Resume ends a pause. Run does not make up for the time of the pause.
func (s *Schedule) Resume() { s.control(func(l *loop) { l.paused, l.steps = false, 0 }) }

// Step pauses [Schedule.Run] and [Schedule.RunTicks] after n more ticks, which Run makes without waiting. It
// panics when n is negative.
func (s *Schedule) Step(n int) {
	if n < 0 {
		panic(fmt.Sprintf("sched: Schedule.Step(%d): the number of ticks cannot be negative", n))
	}
	s.control(func(l *loop) { l.paused, l.steps = true, l.steps+n })
}

// Paused reports whether [Schedule.Pause] or [Schedule.Step] was called after the last call of
// [Schedule.Resume]. It may be called from any goroutine at any time.
func (s *Schedule) Paused() bool {
	s.mustBeMade("Paused")
	s.loop.mu.Lock()
	defer s.loop.mu.Unlock()
	return s.loop.paused
}

// Running reports whether [Schedule.Run] or [Schedule.RunTicks] is running. If neither runs, the program may
// call Tick; a pause does not affect Tick. Running may be called from any goroutine at any time.
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

// poke makes Run and RunTicks read the loop state again.
func (s *Schedule) poke() {
	select {
	case s.loop.poke <- struct{}{}:
	default: // a token is there already
	}
}
