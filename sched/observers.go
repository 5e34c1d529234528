package sched

import (
	"context"
	"runtime/trace"
	"sync"
	"sync/atomic"
)

// observers are who looks at the course of the tick under way: as a rule nobody, and then it costs a look at two numbers a
// tick and at a nil pointer a system. Workers read recorder and task as they read the systems to run, and only the goroutine
// that ticks writes them, between ticks.
type observers struct {
	recorder *recorder       // nil unless the tick is recorded
	task     *trace.Task     // of runtime/trace; nil unless that runs
	trace    context.Context // of the task

	wanted atomic.Int32 // requests, for begin to look at without the lock

	mu       sync.Mutex
	requests []*request
	unused   []*recorder // as many as the request for most ticks still lacks
	last     *recorder   // the last tick that was recorded
	closed   bool
}

// begin has a tick observed if somebody wants to.
func (o *observers) begin(s *Schedule) {
	if o.wanted.Load() > 0 {
		o.startRecording(s)
	}
	if trace.IsEnabled() {
		o.trace, o.task = trace.NewTask(context.Background(), "tick")
	}
}

// end ends what begin began.
func (o *observers) end(s *Schedule) {
	if o.recorder != nil {
		o.endRecording(s)
	}
	if o.task != nil {
		o.task.End()
		o.trace, o.task = nil, nil
	}
}
