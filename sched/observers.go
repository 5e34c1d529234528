package sched

import (
	"context"
	"runtime/trace"
	"sync"
	"sync/atomic"
)

// observers record and trace the tick under way. A tick that is neither recorded nor traced costs two loads,
// and one nil check for each system. Workers read recorder and task while they run systems. Only the
// goroutine that ticks writes them, between ticks.
type observers struct {
	recorder *recorder       // nil unless the tick is recorded
	task     *trace.Task     // nil unless runtime/trace runs
	trace    context.Context // context of the task

	wanted atomic.Int32 // number of requests; begin reads it without the lock

	mu       sync.Mutex
	requests []*request
	unused   []*recorder // a recorder for each tick that the longest request still needs
	last     *recorder   // recorder of the last recorded tick
	closed   bool
}

// begin starts the recorder and the trace task if they are wanted.
func (o *observers) begin(s *Schedule) {
	if o.wanted.Load() > 0 {
		o.startRecording(s)
	}
	if trace.IsEnabled() {
		o.trace, o.task = trace.NewTask(context.Background(), "tick")
	}
}

// end ends the recorder and the trace task.
func (o *observers) end(s *Schedule) {
	if o.recorder != nil {
		o.endRecording(s)
	}
	if o.task != nil {
		o.task.End()
		o.trace, o.task = nil, nil
	}
}
