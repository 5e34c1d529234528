package sched

import (
	"errors"
	"runtime/debug"
	"runtime/trace"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/atwork"
	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/internal/invariants"
)

// Code that runAsOwner or runWorker calls counts as the work of the world's owner. runAsOwner runs on the
// goroutine that calls Tick, and runWorker on the goroutines of the pool.
func init() {
	atwork.Mark((*Schedule).runAsOwner)
	atwork.Mark((*team).runWorker)
}

// goexit is the panic value of a system that ended its goroutine.
const goexit = "runtime.Goexit was called"

// Tick runs one step of simulated time: it runs the systems of each phase and applies the commands that they
// recorded.
//
// If the systems have no valid order, Tick returns the error of [Schedule.Build] and runs nothing. Other
// errors stop the tick:
//
//   - If there is no memory or slot to apply commands, Tick returns the [*vm.Error] and loses nothing. The
//     next Tick applies the remaining commands and continues the same tick with its remaining phases. If a
//     hook panics while commands are applied, Tick returns a [*PanicError]. The next Tick continues in the
//     same way, but does not repeat the command that called the hook: that command is done or lost.
//   - If a system panics, Tick returns a [*PanicError]. If a system that is not exclusive changes the
//     structure, Tick returns a [*StructureError]. If a system touches a column that it does not declare, in
//     builds that check this, Tick returns an [*AccessError]. Tick waits for the running systems and starts
//     no other systems. Tick drops the commands of this phase that were not applied, and keeps the values
//     that systems wrote. The next Tick begins a new tick. A system also panics when it records commands for
//     which there is no memory: errors.As finds the [*vm.Error].
//
// After the tick, even if an error stopped it, Tick admits visitors of the world: see Options.Visits.
//
// In the long run Tick allocates nothing on the Go heap, except for allocations of the systems and of a world
// that grows.
func (s *Schedule) Tick() error {
	s.enter("Tick")
	defer s.busy.Store(false)
	err := s.runAsOwner((*Schedule).tick)
	s.admit()
	return err
}

// runAsOwner calls f, which runs code of systems, as the world's owner. If that code ends the goroutine,
// runAsOwner abandons the tick.
func (s *Schedule) runAsOwner(f func(*Schedule) error) (err error) {
	atwork.Enter(s.world)
	defer atwork.Leave(s.world)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	ended := false
	defer func() {
		if !ended {
			s.abandon()
		}
	}()
	err = f(s)
	ended = true
	return err
}

// tick runs a tick, or continues a tick whose commands could not be applied. Before a new tick it calls Start
// of the systems that have not started. When the simulation is stopped, it calls End of the systems that have
// started.
func (s *Schedule) tick() (err error) {
	if !s.applying {
		if err := s.build(); err != nil { // systems may have changed in the last tick
			return err
		}
		if _, err := s.settle(); err != nil { // commands that an earlier call could not apply
			return err
		}
		if s.starting && !s.stopped.Load() {
			if err := s.start(); err != nil {
				return err
			}
		}
		if s.stopped.Load() {
			return s.end()
		}
		if s.keeper != nil {
			if err := s.keeper.Begin(); err != nil {
				return err
			}
		}
		s.begin()
		s.queues.begin()
	}
	s.ticking = true
	s.observers.begin(s)
	s.measuring = s.measure.Load()
	s.timing = s.measuring || s.observers.recorder != nil
	start := s.read()
	for ; s.at < len(s.early)+len(s.stages); s.at++ {
		if !s.applying {
			if err = s.runNext(); err != nil {
				break
			}
		}
		s.applying = true
		if s.applying, err = s.settle(); err != nil {
			break
		}
	}
	if len(s.requests.after) > 0 && !s.applying {
		err = errors.Join(err, s.callAfter())
	}
	s.took = measured{s.read() - start, true}
	s.ticking = false
	if !s.applying {
		s.queues.end()
	}
	s.record()
	if s.keeper != nil && !s.applying {
		err = errors.Join(err, s.keeper.End(err != nil))
	}
	if err == nil && s.stopped.Load() {
		err = s.end()
	}
	return err
}

// begin begins a new tick. It collects the stages that run before the phases: the changes of states and the
// conditions of sets.
func (s *Schedule) begin() {
	s.number++
	s.ticked = true
	s.at, s.shift, s.singles = 0, 0, 0
	s.early = s.early[:0]
	if len(s.states) > 0 {
		s.mu.Lock()
		for _, m := range s.states {
			s.early = m.begin(s.early)
		}
		s.mu.Unlock()
	}
	s.early = append(s.early, s.conditions...)
}

// runNext runs the systems of the next stage.
func (s *Schedule) runNext() error {
	if s.at < len(s.early) {
		err := s.runOrDrop(&s.early[s.at])
		s.shift++
		return err
	}
	st := &s.stages[s.at-len(s.early)]
	if r := s.observers.recorder; r != nil {
		r.enter(st.nodes[0].Phase, s.now())
	}
	return s.runOrDrop(st)
}

// abandon ends a tick whose goroutine is ending because a system called runtime.Goexit, as testing.T.FailNow
// does.
func (s *Schedule) abandon() {
	t := &s.team
	w := t.workers[0]
	t.mu.Lock()
	if t.running > 0 {
		t.halted = true
		if w.system != nil {
			w.system = nil
			t.running--
		}
		for t.running > 0 {
			t.sleep()
		}
	}
	w.system = nil
	t.ready = t.ready[:0]
	t.mu.Unlock()
	s.applying, s.ticking, s.between = false, false, false
	s.requests.dropFrom(s.stage)
	s.queues.end()
	_ = s.drop()
	s.record()
}

// runOrDrop runs the systems of a stage. After an error it drops their commands.
func (s *Schedule) runOrDrop(st *stage) error {
	err := s.runStage(st)
	if err == nil {
		return nil
	}
	s.requests.dropFrom(s.stage)
	if dropped := s.drop(); dropped != nil {
		err = errors.Join(err, dropped)
	}
	return err
}

// runStage runs the systems of a stage and returns the error that stopped the stage.
func (s *Schedule) runStage(st *stage) error {
	s.changes = s.world.Changes()
	s.stage++
	s.queues.enter(st)
	t := &s.team
	t.mu.Lock()
	t.halted, t.err = false, nil
	t.mu.Unlock()
	// The check of a column access cannot determine which of several running systems made the access. Builds
	// that check accesses therefore run the systems one after the other.
	if len(t.workers) == 1 || len(st.nodes) == 1 || invariants.Enabled {
		t.runInTurn(st)
	} else {
		t.runStage(st)
	}
	s.queues.leave(st, s.shift)
	return t.err
}

// run runs a system if it has its turn (see due) and its condition holds. A panic halts the team.
func (s *Schedule) run(w *worker, n *node) {
	ended := false
	defer func() {
		if !ended {
			s.failed(n, recover())
		}
	}()
	c := &n.context
	c.seat(w, 0)
	if len(s.queues.list) > 0 {
		s.queues.settle(n)
	}
	if invariants.Enabled && !n.Exclusive {
		defer s.watch(n)()
	}
	if (!n.gated || s.due(n)) && (n.If == nil || n.If(c)) {
		if s.keeper != nil && (n.Exclusive || len(n.written) > 0) {
			s.keeper.Writes(n.written)
		}
		n.took.done = s.timing
		if s.observers.task == nil {
			n.Run(c)
		} else {
			s.runTraced(n, c)
		}
	}
	ended = true
}

// due reports whether a gated system has its turn in this tick: it is not disabled, its rate includes the
// tick, and the conditions of its sets hold.
func (s *Schedule) due(n *node) bool {
	if n.off || !n.rate.due(s.number) {
		return false
	}
	for _, g := range n.groups {
		if !g.on {
			return false
		}
	}
	if n.rate.ticks != 0 {
		n.delta = s.step * time.Duration(n.rate.steps(s.number))
	}
	return true
}

func (s *Schedule) runTraced(n *node, c *Context) {
	defer trace.StartRegion(s.observers.trace, n.Name).End()
	n.Run(c)
}

// failed halts the team because a system panicked or ended its goroutine.
func (s *Schedule) failed(n *node, v any) {
	var err error
	switch v := v.(type) {
	case nil:
		err = &PanicError{System: n.Name, Value: goexit}
	case *partPanic:
		err = &PanicError{System: n.Name, Job: v.job, Value: v.value, Stack: v.stack}
		if e, ok := v.value.(*AccessError); ok {
			err = e
		}
	case *AccessError:
		err = v
	default:
		err = &PanicError{System: n.Name, Value: explained(v), Stack: debug.Stack()}
	}
	s.team.mu.Lock()
	defer s.team.mu.Unlock()
	s.team.halt(n, err)
}

func (s *Schedule) applyAll() (err error) {
	s.commands = s.commands[:0]
	for _, w := range s.team.workers {
		if w.recorded {
			s.commands = append(s.commands, w.commands)
		}
	}
	if len(s.commands) == 0 {
		return nil
	}
	start := s.read()
	if s.observers.task != nil {
		defer trace.StartRegion(s.observers.trace, "commands").End()
	}
	defer func() {
		end := s.read()
		s.apply = measured{s.apply.took + end - start, true}
		if s.observers.recorder != nil {
			s.observers.recorder.keep(s.team.workers[0],
				mark{kind: AppliedCommands, part: -1, start: start, end: end})
		}
		if v := recover(); v != nil {
			err = &PanicError{Value: explained(v), Stack: debug.Stack()}
		}
	}()
	done, err := s.world.Apply(s.commands...)
	s.applied.Done += done.Done
	s.applied.Skipped += done.Skipped
	if err != nil {
		return err
	}
	for _, w := range s.team.workers {
		w.recorded = false
	}
	return nil
}

// record ends the recording of a tick and adds the tick to the statistics.
func (s *Schedule) record() {
	s.observers.end(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.counters
	c.tick = s.number
	c.commands.Done += s.applied.Done
	c.commands.Skipped += s.applied.Skipped
	if s.took.done {
		c.ended++
	}
	if s.measuring {
		c.ticks.record(&s.took)
		c.applying.record(&s.apply)
	}
	if s.timing {
		for i := range s.stages {
			for _, n := range s.stages[i].nodes {
				if s.measuring {
					n.times.record(&n.took)
				}
				n.took.done = false
			}
		}
	}
	s.took, s.apply, s.applied = measured{}, measured{}, vast.Applied{}
	s.measuring, s.timing = false, false
}

func (s *Schedule) now() time.Duration { return clock.Now() - s.epoch }

// read returns the result of now if the tick under way is measured or recorded. Otherwise it returns 0 and
// does not read the clock.
func (s *Schedule) read() time.Duration {
	if !s.timing {
		return 0
	}
	return s.now()
}
