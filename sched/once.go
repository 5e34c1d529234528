package sched

import "fmt"

// RunOnce runs a system once, as soon as the running systems are done and their commands are applied: see
// [Context.Commands]. One-shot systems run one after the other. Calls of RunOnce have the same order as
// commands, so the order does not depend on the number of workers. The schedule applies the commands of each
// one-shot system before the next one runs. If a one-shot system calls RunOnce, the new one-shot system runs
// after those that already wait. A one-shot system keeps to its declarations, as other systems do. Phase,
// Sets, Before, After, Every, Rate, Offset, Start and End must be zero.
//
// If a system panics or breaks a rule, one-shot systems that have not run are dropped. If the tick stops
// because commands cannot be applied, the waiting one-shot systems run when the next Tick continues the tick.
//
// RunOnce allocates a few hundred bytes. It panics if the system is invalid: see [Schedule.Add].
func (c *Context) RunOnce(sys System) {
	at := c.moment()
	s := c.schedule
	n := s.newSingle("Context.RunOnce", sys)
	s.requests.add(&s.requests.once, requested{at: at, system: n})
}

// RunOnce runs a system once between two ticks, and then applies its commands. RunOnce returns errors as
// [Schedule.Tick] does. In the system, [Context.Tick] returns the number of the last tick. The rules of
// [Context.RunOnce] hold. Systems must not call this method, and neither may functions of
// [Context.AfterTick].
//
// A store does not repeat the call in a replay: the call counts as a change outside of ticks.
func (s *Schedule) RunOnce(sys System) error {
	s.enter("RunOnce")
	defer s.busy.Store(false)
	n := s.newSingle("Schedule.RunOnce", sys)
	s.changed()
	return s.runAsOwner(func(s *Schedule) error {
		if _, err := s.settle(); err != nil { // commands that an earlier call could not apply
			return err
		}
		if err := s.runSingle(n); err != nil {
			return err
		}
		if _, err := s.settle(); err != nil || s.applying {
			return err
		}
		return s.callAfter()
	})
}

// newSingle returns the node of a system that runs outside of the phases. The argument what is the name of
// the public method, for the texts of the panics.
func (s *Schedule) newSingle(what string, sys System) *node {
	if sys.Phase != "" || sys.Every != 0 || sys.Rate != 0 || sys.Offset != 0 || sys.Start != nil ||
		sys.End != nil || len(sys.Sets)+len(sys.Before)+len(sys.After) > 0 {
		panic(fmt.Sprintf("sched: %s: system %q has Phase, Sets, Before, After, Every, Rate, Offset, Start "+
			"or End: leave them out, or add the system with Schedule.Add", what, sys.Name))
	}
	return newNode(s, what, sys)
}

// runSingle runs a system that is no part of the phases. Several such systems of one name have different
// random numbers in a tick.
func (s *Schedule) runSingle(n *node) error {
	s.singles++
	n.hash += mix(s.singles)
	n.rank = s.nextRank()
	err := s.runOrDrop(&stage{nodes: []*node{n}})
	s.shift++
	return err
}

// nextRank returns the rank of the first system that has not had its turn.
func (s *Schedule) nextRank() int {
	if i := s.at + 1 - len(s.early); i > 0 {
		if i < len(s.stages) {
			return s.stages[i].nodes[0].rank
		}
		return len(s.nodes)
	}
	return 0
}

// settle applies the commands of the last stage, and runs the one-shot systems. unapplied reports whether err
// says that commands could not be applied.
func (s *Schedule) settle() (unapplied bool, err error) {
	for {
		if err := s.applyAll(); err != nil {
			return true, err
		}
		if len(s.requests.once) == 0 {
			return false, nil
		}
		one, _ := next(&s.requests.once)
		if err := s.runSingle(one.system); err != nil {
			return false, err
		}
	}
}
