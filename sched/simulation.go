package sched

import "errors"

// Stop ends the simulation. The tick under way is the last one. When it is complete, the End functions of the
// systems run, and [Schedule.Run] and [Schedule.RunTicks] return nil. If Stop is called between ticks, the
// next Tick, Run or RunTicks calls the End functions and makes no tick. Further ticks do nothing until
// [Schedule.Reset]. Stop may be called from any goroutine at any time; a system can also call [Context.Stop].
func (s *Schedule) Stop() {
	s.mustBeMade("Stop")
	s.stopped.Store(true)
	s.poke()
}

// Stopped reports whether [Schedule.Stop] or [Context.Stop] was called since the schedule was made or reset.
// It may be called from any goroutine at any time.
func (s *Schedule) Stopped() bool {
	s.mustBeMade("Stopped")
	return s.stopped.Load()
}

// Stop ends the simulation when the tick under way is complete: see [Schedule.Stop].
func (c *Context) Stop() { c.of().Stop() }

// Reset ends the simulation and prepares the next one. Reset drops commands that could not be applied, calls
// the End functions that have not run, and drops all events of package event and all [Jobs] in flight. The
// next tick calls the Start functions again, and has number 1. From then on, all random numbers come from the
// given seed. Each [State] has its first value again. Systems and statistics stay, and disabled systems stay
// disabled.
//
// Reset itself does not touch the world. To begin the next simulation with an empty world, call
// vast.World.Reset after this method and not before, because End may read the world. vast.World.Reset
// continues the generations of the slots. The streams of [Context.Random] depend on the generations, so they
// differ from the streams of an earlier simulation with the same seed. To repeat a simulation exactly, draw
// from [Context.RandomOf] with the slots, or make a new world.
//
// If an End function fails, Reset returns the error as [Schedule.Tick] does, and resets the schedule
// nevertheless.
func (s *Schedule) Reset(seed uint64) error {
	s.enter("Reset")
	defer s.busy.Store(false)
	err := s.finish()
	s.queues.reset()
	for _, j := range s.jobs {
		j.reset()
	}
	s.number, s.starting = 0, true
	s.stopped.Store(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.Seed, s.counters.tick = seed, 0
	for _, m := range s.states {
		m.reset()
	}
	if s.keeper != nil {
		s.keeper.Changed()
	}
	return err
}

// start calls Start of the systems that have not started.
func (s *Schedule) start() error {
	for _, n := range s.nodes {
		if n.started {
			continue
		}
		if err := s.runAlone(n.start); err != nil {
			return err // Start runs again in the next tick
		}
		n.started = true
		if _, err := s.settle(); err != nil {
			return err
		}
	}
	s.starting = false
	return nil
}

// end calls the End functions of the systems that have started, in the reverse order of Start, and then the
// functions of [Context.AfterTick]. If an End function fails, end stops; the next call continues behind this
// function.
func (s *Schedule) end() error {
	_, err := s.settle() // commands that an earlier call could not apply
	for i := len(s.nodes) - 1; i >= 0 && err == nil; i-- {
		err = s.endOne(s.nodes[i])
	}
	if err == nil {
		err = s.callAfter()
	}
	s.record()
	return err
}

// endOne calls End of a system if the system has started.
func (s *Schedule) endOne(n *node) error {
	if !n.started {
		return nil
	}
	n.started = false
	if err := s.runAlone(n.end); err != nil {
		return err
	}
	_, err := s.settle()
	return err
}

// runAlone runs n, which is Start or End of a system, or nil. After an error, runAlone drops the commands of
// n.
func (s *Schedule) runAlone(n *node) error {
	if n == nil {
		return nil
	}
	return s.runOrDrop(&stage{nodes: []*node{n}})
}

// finish ends the simulation, even if End functions fail.
func (s *Schedule) finish() error {
	var errs []error
	if s.unapplied() {
		errs = append(errs, s.drop())
	}
	s.applying = false
	s.requests.dropFrom(0)
	for {
		err := s.runAsOwner((*Schedule).end)
		if err == nil {
			return errors.Join(errs...)
		}
		errs = append(errs, err, s.drop())
	}
}
