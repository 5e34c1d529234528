package sched

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
)

// moment is a place in the order of all steps of all ticks. It does not depend on the number of workers.
type moment struct {
	stage    uint64 // number of the stage, counted over all ticks from 1 on
	position int    // the position of commands that are recorded at this moment
}

func (m moment) compare(o moment) int {
	return cmp.Or(cmp.Compare(m.stage, o.stage), cmp.Compare(m.position, o.position))
}

// moment returns the moment of the step that uses the Context.
func (c *Context) moment() moment {
	s := c.of()
	c.mustBeOwn()
	return moment{s.stage, c.system.place<<sequenceBits | c.sequence}
}

// requests are what systems ask for. The lists are not sorted: see next.
type requests struct {
	mu    sync.Mutex
	once  []requested // one-shot systems
	after []requested // functions of AfterTick
}

type requested struct {
	at     moment
	system *node // the one-shot system, or the system that called AfterTick
	f      func(*Schedule)
}

// add adds a request to a list. Requests of one step keep their order.
func (r *requests) add(list *[]requested, one requested) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*list = append(*list, one)
}

// next removes the request with the earliest moment from a list and returns it. Call next only while no
// system runs.
func next(list *[]requested) (first requested, ok bool) {
	if len(*list) == 0 {
		return requested{}, false
	}
	slices.SortStableFunc(*list, func(a, b requested) int { return a.at.compare(b.at) })
	first = (*list)[0]
	*list = slices.Delete(*list, 0, 1)
	return first, true
}

// dropFrom drops the functions of AfterTick from this stage and from later stages, and all one-shot systems
// that have not run.
func (r *requests) dropFrom(stage uint64) {
	clear(r.once)
	r.once = r.once[:0]
	r.after = slices.DeleteFunc(r.after, func(one requested) bool { return one.at.stage >= stage })
}

// AfterTick calls f when the tick is complete, before the next tick: f may call [Schedule.Add],
// [Schedule.Remove], [Schedule.ConfigureSet], [Schedule.Enable] and [Schedule.Disable], and change the
// structure of the world. The functions of a tick run one after the other. Calls of AfterTick have the same
// order as commands: see [Context.Commands]. If f panics, the tick returns a [*PanicError] with the name of
// the system, and the other functions run nevertheless. If an error stops the tick, the functions given since
// commands were last applied are dropped, as the commands recorded since then are.
//
// In Start, f runs after the tick that follows; in End, after the last End function. In a system of
// [Schedule.RunOnce], f runs when the commands of the system are applied.
func (c *Context) AfterTick(f func(s *Schedule)) {
	at := c.moment()
	r := &c.schedule.requests
	r.add(&r.after, requested{at: at, system: c.system, f: f})
}

// callAfter calls the functions of AfterTick.
func (s *Schedule) callAfter() error {
	var errs []error
	for one, ok := next(&s.requests.after); ok; one, ok = next(&s.requests.after) {
		errs = append(errs, s.callBetween(one))
	}
	return errors.Join(errs...)
}

func (s *Schedule) callBetween(one requested) (err error) {
	s.between = true
	defer func() {
		s.between = false
		if v := recover(); v != nil {
			err = &PanicError{System: one.system.Name, Value: explained(v), Stack: debug.Stack()}
		}
	}()
	one.f(s)
	return nil
}

// change begins a method that changes the schedule between ticks or in a function of AfterTick. The caller
// calls done at the end.
func (s *Schedule) change(what string) (done func()) {
	s.mustBeMade(what)
	if s.between {
		return func() {}
	}
	s.enter(what)
	return func() { s.busy.Store(false) }
}

// mustBeBetween panics inside a tick, except in a function of AfterTick. Unlike change, it also lets visitors
// of the world, and the function that applies the inputs of a store, call the method.
func (s *Schedule) mustBeBetween(what string) {
	if s.ticking && !s.between {
		panic(fmt.Sprintf("sched: %s inside a tick: call it in a function that you give to Context.AfterTick",
			what))
	}
}

// changed tells the store that the program has changed the schedule between ticks, so that a replay must not
// begin before the change. changed does nothing before the first tick and in functions of AfterTick, because
// the program makes these changes in a replay, too.
func (s *Schedule) changed() {
	if s.keeper != nil && s.ticked && !s.between {
		s.keeper.Changed()
	}
}
