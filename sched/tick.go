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

// What these call is the work of the world's owner: on the goroutine that ticks, and on those of the other
// workers.
func init() {
	atwork.Mark((*Schedule).tick)
	atwork.Mark((*team).stay)
}

// goexit is what stands for a panic where a system ended its goroutine.
const goexit = "runtime.Goexit was called"

// Tick lets one step of time pass: it runs the systems of each phase and applies the commands that they recorded.
//
// The first time, and after [Schedule.Add], it may return what [Schedule.Build] does. Other errors stop the tick:
//
//   - When commands cannot be applied for want of memory or slots, the [*vm.Error] is returned and nothing is lost: the next
//     Tick applies what is left and goes on with the phases that are left of the same tick. A hook that panics there is a
//     [*PanicError] and has the same consequence, with the command that it was told of done or gone.
//   - When a system panics a [*PanicError] is returned, when one changes the structure though it is not exclusive a
//     [*StructureError], and when one touches what it does not declare, in builds that look, an [*AccessError]. Systems under way
//     end first, and no more start. What this phase recorded and was not applied is dropped; what systems wrote stays.
//     The next Tick is a new one. Recording commands for which there is no memory panics, too; errors.As finds the
//     [*vm.Error].
//
// Visitors of the world are let in afterwards, see Options.Visits.
//
// Tick allocates nothing on the Go heap in the long run, but for what the systems do and what the world needs when it grows.
func (s *Schedule) Tick() error {
	s.enter("Tick")
	defer s.busy.Store(false)
	if err := s.build(); err != nil {
		return err
	}
	err := s.tick()
	s.admit(s.options.Visits)
	return err
}

func (s *Schedule) tick() (err error) {
	atwork.Enter(s.world)
	defer atwork.Leave(s.world)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	ended := false
	defer func() {
		if !ended {
			s.abandon()
		}
	}()
	if !s.applying {
		s.number++
		s.at = 0
	}
	s.observers.begin(s)
	start := s.now()
	for ; s.at < len(s.stages); s.at++ {
		if r := s.observers.recorder; r != nil {
			r.enter(s.stages[s.at].nodes[0].Phase, s.now())
		}
		if !s.applying {
			if err = s.runStage(&s.stages[s.at]); err != nil {
				if dropped := s.drop(); dropped != nil {
					err = errors.Join(err, dropped)
				}
				break
			}
		}
		s.applying = true
		if err = s.applyAll(); err != nil {
			break
		}
		s.applying = false
	}
	s.took = measured{s.now() - start, true}
	s.record()
	ended = true
	return err
}

// abandon ends a tick whose goroutine is ending: a system called runtime.Goexit on it, as testing.T.FailNow does.
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
			t.sleep(w)
		}
	}
	w.system = nil
	t.ready = t.ready[:0]
	t.mu.Unlock()
	s.applying = false
	_ = s.drop()
	s.record()
}

// runStage runs the systems of a stage and returns what stopped it.
func (s *Schedule) runStage(st *stage) error {
	s.changes = s.world.Changes()
	t := &s.team
	t.mu.Lock()
	t.halted, t.err = false, nil
	t.mu.Unlock()
	// A look-up cannot know which goroutine it is on, and so not for which of several systems: builds that check what systems
	// touch run them one after the other.
	if len(t.workers) == 1 || len(st.nodes) == 1 || invariants.Enabled {
		t.runInTurn(st)
	} else {
		t.runStage(st)
	}
	return t.err
}

// run runs a system, if its condition holds. A panic halts the team.
func (s *Schedule) run(w *worker, n *node) {
	ended := false
	defer func() {
		if !ended {
			s.failed(n, recover())
		}
	}()
	c := &n.context
	c.worker, c.sequence = w, 0
	if invariants.Enabled && !n.Exclusive {
		defer s.watch(n)()
	}
	if n.If == nil || n.If(c) {
		n.took.done = true
		if s.observers.task == nil {
			n.Run(c)
		} else {
			s.runTraced(n, c)
		}
	}
	ended = true
}

// runTraced runs a system in a region of runtime/trace.
func (s *Schedule) runTraced(n *node, c *Context) {
	defer trace.StartRegion(s.observers.trace, n.Name).End()
	n.Run(c)
}

// failed halts the team because a system panicked, or ended its goroutine.
func (s *Schedule) failed(n *node, v any) {
	var err error
	switch v := v.(type) {
	case nil:
		err = &PanicError{System: n.Name, Value: goexit}
	case *partPanic:
		err = &PanicError{System: n.Name, Value: v.value, Stack: v.stack}
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

// applyAll applies what the workers recorded.
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
	start := s.now()
	if s.observers.task != nil {
		defer trace.StartRegion(s.observers.trace, "commands").End()
	}
	defer func() {
		end := s.now()
		s.apply = measured{s.apply.took + end - start, true}
		if s.observers.recorder != nil {
			s.observers.recorder.keep(s.team.workers[0], mark{kind: AppliedCommands, part: -1, start: start, end: end})
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

// record enters a tick into the statistics.
func (s *Schedule) record() {
	s.observers.end(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.counters
	c.tick = s.number
	c.commands.Done += s.applied.Done
	c.commands.Skipped += s.applied.Skipped
	c.ticks.record(&s.took)
	c.applying.record(&s.apply)
	for i := range s.stages {
		for _, n := range s.stages[i].nodes {
			n.times.record(&n.took)
		}
	}
	s.applied, s.apply = vast.Applied{}, measured{}
}

// now returns the time since the schedule was made.
func (s *Schedule) now() time.Duration { return clock.Now() - s.epoch }
