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
	ticksTime = 2 * time.Second // how long an answer waits for the ticks of a step
)

// control returns the Control of the program: Options.Control if it is set, otherwise a running schedule. It
// returns nil if no schedule runs.
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

// controlAnswer describes whether the inspector can pause the program, and whether the program is paused.
type controlAnswer struct {
	Available bool   `json:"available"`
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
	Ticks  int    `json:"ticks"` // ticks of a step; 0 means 1
}

// readOrder decodes and checks an order.
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
	Made   uint64 `json:"made"` // number of the step's ticks that ended before this answer
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

// step starts a step and waits at most ticksTime for its ticks. It records the ticks of a short step for the
// timeline. It returns the number of ticks that ended in this time.
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
	// The step starts in a look, which comes after the current tick, because the current tick does not belong
	// to the step. If the world does not admit a look soon, the step starts without a look.
	c.Pause()
	soon, cancel := context.WithTimeout(ctx, ticksTime/4)
	defer cancel()
	if in.look(soon, begin) != nil {
		begin()
	}
	over := time.NewTimer(ticksTime)
	defer over.Stop()
	often := time.NewTicker(2 * time.Millisecond)
	defer often.Stop()
	for {
		count, _ := s.Recent(none, nil)
		if made = count - before; made >= uint64(ticks) {
			return made
		}
		select {
		case <-often.C:
		case <-over.C:
			return made
		case <-ctx.Done():
			return made
		}
	}
}
