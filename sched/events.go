package sched

import (
	"fmt"
	"slices"

	"github.com/vastgo/vast/internal/events"
)

// turn is a part of each Context. Package event reads it by the promoted method Turn. The alias keeps the
// field unexported.
type turn = events.Turn

// queues are the event queues of a schedule.
type queues struct {
	list      []events.Queue // changes only while the schedule's mutex is locked
	outside   bool           // whether no system runs
	exclusive *Context       // the Context of the running exclusive system, or nil
	between   turn           // the turn of code outside of systems, such as a hook
	ticking   bool           // whether a tick is under way
}

func init() { events.Sched = eventSchedules{} }

// eventSchedules has the functions that package event calls.
type eventSchedules struct{}

func (eventSchedules) Add(schedule any, q events.Queue) (resource any) {
	s := schedule.(*Schedule)
	s.enter("Add, called by event.New,")
	defer s.busy.Store(false)
	if s.keeper != nil {
		panic(fmt.Sprintf("event: New: the schedule of the queue %q is attached to a store: make the queue "+
			"before Attach", q.Name()))
	}
	if slices.ContainsFunc(s.queues.list, func(o events.Queue) bool { return o.Name() == q.Name() }) {
		panic(fmt.Sprintf("event: New: the schedule has a queue %q: set another Options.Name", q.Name()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queues.list = append(s.queues.list, q)
	return Resource{typ: q.Stats().Type, queue: q}
}

func (eventSchedules) Workers(schedule any) int { return len(schedule.(*Schedule).team.workers) }

func (eventSchedules) Check(context any, q events.Queue, write bool, what string) {
	c := context.(*Context)
	s, n := c.of(), c.system
	mine := func(r Resource) bool { return r.queue == q }
	list, declared := "WritesResources", slices.ContainsFunc(n.WritesResources, mine)
	if !write {
		list, declared = "ReadsResources", slices.ContainsFunc(n.ReadsResources, mine)
	}
	switch {
	case !slices.Contains(s.queues.list, q):
		panic(fmt.Sprintf("event: %s of %q in system %q: the queue belongs to another schedule: make the "+
			"queue with the schedule of the system", what, q.Name(), n.Name))
	case !declared && !n.Exclusive:
		panic(fmt.Sprintf("event: %s of %q in system %q, which does not declare it: name the queue in the "+
			"system's %s, with sched.Resources", what, q.Name(), n.Name, list))
	case write && c.division.underWay():
		panic(fmt.Sprintf("event: %s of %q in system %q, in a part of Each, Split or Reduce: use the "+
			"Context that the part receives", what, q.Name(), n.Name))
	}
}

func (eventSchedules) Alone(schedule any, send bool, what string) *turn {
	s := schedule.(*Schedule)
	t := &s.queues.between
	if c := s.queues.exclusive; c != nil && !c.division.underWay() {
		t = c.Turn()
	} else if !s.queues.outside {
		panic("event: " + what + " without a Context while systems run: give the Context that the system " +
			"or the part receives")
	}
	if send && !s.queues.ticking && s.keeper != nil {
		s.keeper.Changed()
	}
	return t
}

// enter begins a stage. In a stage that is no exclusive system, each use of a queue needs a Context.
func (q *queues) enter(st *stage) {
	q.outside = false
	if n := st.nodes[0]; n.Exclusive {
		q.exclusive = &n.context
	}
}

// leave ends a stage. Events from outside of systems come after the events of the stage. shift is
// Schedule.shift.
func (q *queues) leave(st *stage, shift int) {
	q.outside, q.exclusive, q.between.Position = true, nil, events.Last
	if q.ticking {
		last := shift + st.nodes[len(st.nodes)-1].rank
		q.between.Position = uint64(last+1)<<events.StepBits - 1
	}
}

func (q *queues) begin() {
	q.ticking = true
	for _, one := range q.list {
		one.Begin()
	}
}

func (q *queues) end() {
	q.outside, q.exclusive, q.between.Position, q.ticking = true, nil, events.Last, false
	for _, one := range q.list {
		one.End()
	}
}

// settle calls Settle for the queues that system n may read. An exclusive system may read all queues.
func (q *queues) settle(n *node) {
	if n.Exclusive {
		for _, one := range q.list {
			one.Settle()
		}
		return
	}
	for _, r := range n.ReadsResources {
		if r.queue != nil {
			r.queue.Settle()
		}
	}
}

func (q *queues) reset() {
	for _, one := range q.list {
		one.Reset()
	}
}

func (q *queues) close() (errs []error) {
	for _, one := range q.list {
		errs = append(errs, one.Close())
	}
	return errs
}

// EventStats are the statistics of a queue of package event, up to the end of the last tick.
type EventStats struct {
	Name  string // name of the queue
	Type  string // type of the events
	Last  int    // number of events that were sent in the last tick, or between it and the tick before
	Total uint64 // number of events that were sent since the queue was made or reset
	Bytes int    // committed memory
}

// stats returns the statistics of the queues. The caller holds the schedule's mutex.
func (q *queues) stats() (list []EventStats) {
	for _, one := range q.list {
		st := one.Stats()
		list = append(list, EventStats{one.Name(), st.Type.String(), st.Last, st.Total, st.Bytes})
	}
	return list
}
