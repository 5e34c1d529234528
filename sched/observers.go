package sched

import (
	"context"
	"runtime/trace"
	"sync"
	"sync/atomic"
)

// observers record and trace the tick under way. If neither is wanted, they cost two atomic loads in each
// tick, and a few nil checks for each system. Workers read recorder, task and trace while they run systems.
// Only the goroutine that calls Tick writes these three fields, when no system runs.
type observers struct {
	recorder *recorder       // nil if the tick is not recorded
	task     *trace.Task     // nil if the tick is not traced
	trace    context.Context // context of the task

	wanted atomic.Int32 // number of requests, for reading without the mutex

	mu       sync.Mutex // guards the fields below
	requests []*request
	unused   []*recorder // one recorder for each tick that the requests still need
	last     *recorder   // recorder of the last recorded tick
	closed   bool
}

func (o *observers) begin(s *Schedule) {
	if o.wanted.Load() > 0 {
		o.startRecording(s)
	}
	if trace.IsEnabled() {
		o.trace, o.task = trace.NewTask(context.Background(), "tick")
	}
}

func (o *observers) end(s *Schedule) {
	if o.recorder != nil {
		o.endRecording(s)
	}
	if o.task != nil {
		o.task.End()
		o.trace, o.task = nil, nil
	}
}
