// Package events connects package event with package sched, so that package sched need not export anything
// for package event.
package events

import "reflect"

// Turn says where code of a system runs: on which worker, and at which place of the tick. Each Context of
// package sched has a Turn.
type Turn struct {
	Worker int // index of the worker
	// Position orders the steps of a tick: first by the place of the system in the order of the tick, then by
	// the number of the step in the system. Each part of Context.Each, Split or Reduce is a step.
	Position uint64
}

// Turn returns t. A sched.Context gets this method from a Turn that is embedded in the Context.
func (t *Turn) Turn() *Turn { return t }

// StepBits is the number of low bits of a position that hold the step.
const StepBits = 40

// Last is a position after all systems.
const Last = ^uint64(0)

// Queue is a queue of package event. The goroutine that ticks calls Begin, End, Reset and Close, while no
// system runs. The methods have pointer receivers, so two Queue values are equal only if they are the same
// queue.
type Queue interface {
	Name() string
	// Begin begins tick n: it drops the events of tick n-2.
	Begin()
	// End ends a tick: events that are sent from now on belong to the next tick.
	End()
	// Settle makes the events readable that were sent so far. It is called before each system that reads the
	// queue, on any worker, while no system sends to the queue.
	Settle()
	// Reset drops all events.
	Reset()
	Close() error
	// Stats may be called from any goroutine at any time.
	Stats() Stats
}

// Stats are the statistics of a queue up to the end of the last tick.
type Stats struct {
	Type  reflect.Type // type of the events
	Last  int          // number of events of the last tick
	Total uint64       // number of events of all ticks so far
	Bytes int          // committed memory
}

// Sched has the functions of package sched that package event calls. Package sched sets it in an init
// function. The arguments schedule and context are a *sched.Schedule and a *sched.Context.
var Sched Schedules

// Schedules are functions of package sched.
type Schedules interface {
	// Add adds a queue to a schedule, and returns the sched.Resource of the queue. It panics if the schedule
	// is at work, is closed, is attached to a store, or has a queue of the same name.
	Add(schedule any, q Queue) (resource any)
	// Workers returns the number of workers of a schedule.
	Workers(schedule any) int
	// Check panics if the system of a context may not use the queue. The queue must be of the same schedule.
	// A system that is not exclusive must declare that it writes the queue if write is true, and that it
	// reads the queue if write is false. During Each, Split or Reduce, only the Contexts of the parts may
	// write. what names the method that was called.
	Check(context any, q Queue, write bool, what string)
	// Alone returns the Turn for a call without a Context, on the goroutine that ticks. Alone panics while
	// systems run, unless the call comes from an exclusive system, outside of Each, Split and Reduce. send
	// says whether the call sends an event. what names the method that was called.
	Alone(schedule any, send bool, what string) *Turn
}
