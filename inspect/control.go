package inspect

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/vastgo/vast/sched"
)

const (
	maxTicks  = 10_000          // limit of the ticks of one step
	ticksTime = 2 * time.Second // limit of the wait for the ticks of a step
)

// control returns Options.Control if it is set, otherwise a running schedule, or nil if no schedule runs.
func (in *Inspector) control() Control {
	if in.options.Control != nil {
		return in.options.Control
	}
	for _, s := range sched.Of(in.world) {
		if s.Running() {
			return s
		}
	}
	return nil
}

type controlAnswer struct {
	Available bool   `json:"available"` // whether the inspector can pause the program
	Paused    bool   `json:"paused"`
	Reason    string `json:"reason"` // why control is not available
}

func (in *Inspector) controlState() controlAnswer {
	c := in.control()
	switch {
	case c == nil:
		return controlAnswer{Reason: "No sched.Schedule of the world runs. To pause the program " +
			"from here, set inspect.Options.Control."}
	case !in.options.ReadWrite:
		return controlAnswer{Paused: c.Paused(),
			Reason: "The inspector is read-only. To allow control, set " +
				"inspect.Options.ReadWrite (vast earth: -inspect-write)."}
	}
	return controlAnswer{Available: true, Paused: c.Paused()}
}

func (in *Inspector) controlRoutes() []route {
	return []route{{method: "POST", pattern: "control", write: true, answer: in.serveControl}}
}

// order is the body of a request to pause, resume or step.
type order struct {
	Action string `json:"action"`
	Ticks  int    `json:"ticks"` // number of ticks of a step; 0 means 1
}

func readOrder(body io.Reader) (order, error) {
	var o order
	if err := decodeBody(body, &o, `{"action": "step", "ticks": 1}`); err != nil && err != io.EOF {
		return order{}, err
	}
	switch o.Action {
	case "pause", "resume":
		if o.Ticks != 0 {
			return order{}, badRequest("only the action step takes ticks")
		}
	case "step":
		if o.Ticks < 0 || o.Ticks > maxTicks {
			return order{}, badRequest("ticks must be 1 to %d", maxTicks)
		}
		o.Ticks = max(o.Ticks, 1)
	default:
		return order{}, badRequest("the action must be pause, resume or step")
	}
	return o, nil
}

// controlResult is the state after an order.
type controlResult struct {
	Paused bool   `json:"paused"`
	Tick   uint64 `json:"tick"` // number of the schedule's last tick; 0 without a schedule
	Made   uint64 `json:"made"` // number of the step's ticks that have ended
}

func (in *Inspector) serveControl(r *http.Request) (any, error) {
	o, err := readOrder(r.Body)
	if err != nil {
		return nil, err
	}
	c := in.control()
	if c == nil {
		return nil, &problem{Status: http.StatusConflict, Code: "noControl",
			Message: in.controlState().Reason}
	}
	s := in.mainSchedule()
	var made uint64
	switch o.Action {
	case "pause":
		c.Pause()
	case "resume":
		c.Resume()
	case "step":
		made = in.step(r.Context(), c, s, o.Ticks)
	}
	a := controlResult{Paused: c.Paused(), Made: made}
	if s != nil {
		a.Tick = s.Stats().Tick
	}
	return a, nil
}

// step starts a step, waits at most ticksTime for its ticks, and returns the number of ticks that have ended.
// If ticks is at most sched.MaxRecorded, step also records the ticks for the timeline. If the main schedule s
// is nil, step neither records nor waits.
func (in *Inspector) step(ctx context.Context, c Control, s *sched.Schedule, ticks int) (made uint64) {
	if s == nil {
		c.Step(ticks)
		return 0
	}
	const none = ^uint64(0)
	var before uint64
	begin := func() bool {
		if ticks <= sched.MaxRecorded {
			s.Record(ticks)
		}
		before, _ = s.Recent(none, nil)
		c.Step(ticks)
		return true
	}
	// in.look calls begin between two ticks, so that the step does not include the current tick. If
	// in.look fails, for example because no tick ends in time, the step starts anyway.
	c.Pause()
	lookCtx, cancel := context.WithTimeout(ctx, ticksTime/4)
	defer cancel()
	if in.look(lookCtx, begin) != nil {
		begin()
	}
	timeout := time.NewTimer(ticksTime)
	defer timeout.Stop()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for {
		count, _ := s.Recent(none, nil)
		if made = count - before; made >= uint64(ticks) {
			return made
		}
		select {
		case <-poll.C:
		case <-timeout.C:
			return made
		case <-ctx.Done():
			return made
		}
	}
}
