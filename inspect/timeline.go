package inspect

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/vastgo/vast/sched"
)

const (
	maxRecorded  = 5 // limit of the ticks per request
	maxRecording = 4 // limit of the concurrent requests that record
)

// timelineAnswer is a recording of some ticks. Times are in seconds from the beginning of the tick.
type timelineAnswer struct {
	Schedule uint64         `json:"schedule"`
	Fresh    bool           `json:"fresh"` // false if Ticks is an earlier recording
	Ticks    []tickTimeline `json:"ticks"`
}

type tickTimeline struct {
	Tick    uint64      `json:"tick"`
	Began   float64     `json:"began"` // in seconds since 1970
	Took    float64     `json:"took"`
	Workers int         `json:"workers"`
	Lost    int         `json:"lost"` // number of spans that did not fit into the recording
	Phases  []phaseSpan `json:"phases"`
	Spans   []span      `json:"spans"` // ordered by Start
}

type phaseSpan struct {
	Phase string  `json:"phase"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
}

type span struct {
	Kind   string  `json:"kind"`   // system, part, wait or commands
	System string  `json:"system"` // empty for commands
	Part   int     `json:"part"`   // -1 if the span is not a part
	Worker int     `json:"worker"`
	Start  float64 `json:"start"`
	End    float64 `json:"end"`
}

// serveTimeline records ticks. If the ticks are slow, the answer may have fewer ticks than requested. If the
// program is paused, the answer is the last recording.
func (in *Inspector) serveTimeline(r *http.Request) (any, error) {
	s, err := in.askedSchedule(r)
	if err != nil {
		return nil, err
	}
	ticks := 1
	if text := r.URL.Query().Get("ticks"); text != "" {
		if ticks, err = strconv.Atoi(text); err != nil || ticks < 1 || ticks > maxRecorded {
			return nil, badRequest("ticks must be 1 to %d", maxRecorded)
		}
	}
	if c := in.control(); c != nil && c.Paused() {
		last, ok := s.Recording()
		if !ok {
			return nil, &problem{Status: http.StatusConflict, Code: "paused",
				Message: "the program is paused, and there is no earlier recording: step or resume first"}
		}
		return timelineAnswer{s.ID(), false, []tickTimeline{timelineOf(last)}}, nil
	}
	select {
	case in.records <- struct{}{}:
		defer func() { <-in.records }()
	default:
		return nil, tooBusy("ticks are being recorded for other requests: try again")
	}
	patience := in.options.Patience * time.Duration(ticks)
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	list, err := s.Record(ticks)(ctx)
	switch {
	case errors.Is(err, sched.ErrClosed):
		return nil, &problem{Status: http.StatusGone, Code: "closed",
			Message: "the program has closed the schedule"}
	case err != nil && len(list) == 0:
		return nil, &problem{Status: http.StatusServiceUnavailable, Code: "noTick", Retry: 1,
			Message: "the program has made no tick for " + patience.String()}
	}
	a := timelineAnswer{Schedule: s.ID(), Fresh: true, Ticks: make([]tickTimeline, 0, len(list))}
	for _, rec := range list {
		a.Ticks = append(a.Ticks, timelineOf(rec))
	}
	return a, nil
}

func timelineOf(r sched.Recording) tickTimeline {
	t := tickTimeline{
		Tick: r.Tick, Began: float64(r.Began.UnixNano()) / 1e9, Took: r.Took.Seconds(), Workers: r.Workers,
		Lost:   r.Lost,
		Phases: make([]phaseSpan, 0, len(r.Phases)), Spans: make([]span, 0, len(r.Spans)),
	}
	for _, p := range r.Phases {
		t.Phases = append(t.Phases, phaseSpan{string(p.Phase), p.Start.Seconds(), p.End.Seconds()})
	}
	for _, s := range r.Spans {
		t.Spans = append(t.Spans, span{string(s.Kind), s.System, s.Part, s.Worker, s.Start.Seconds(),
			s.End.Seconds()})
	}
	return t
}
