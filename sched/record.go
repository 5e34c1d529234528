package sched

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/vastgo/vast/internal/atwork"
)

// MaxRecorded is the largest number of ticks that one call of [Schedule.Record] can record.
const MaxRecorded = 16

// ErrClosed is the error for a recording that ended because the schedule was closed: see [Schedule.Record].
var ErrClosed = errors.New("sched: the schedule is closed")

// Recording describes the course of one tick.
type Recording struct {
	Tick    uint64
	Began   time.Time
	Took    time.Duration
	Workers int
	Phases  []PhaseSpan // in order
	Spans   []Span      // sorted by Start; spans with equal Start are sorted from the longest to the shortest
	// Lost is the number of parts and waits that are not in Spans because the room was full. The room of
	// 8,192 spans is divided equally among the workers, but each worker has room for at least 256 spans.
	// Spans of systems and commands count, too, but are never lost.
	Lost int
}

// PhaseSpan is the time of a phase in a [Recording], including its commands and one-shot systems. Systems of
// states run before the first phase. Times count from the beginning of the tick.
type PhaseSpan struct {
	Phase      Phase
	Start, End time.Duration
}

// Span is one piece of work, or one wait, of a worker in a [Recording]. If no spans are lost and no part
// panicked, a worker ran no system, part or commands between its spans. A system whose condition If returned
// false has no span. Times count from the beginning of the tick.
type Span struct {
	Kind       SpanKind
	System     string // empty for commands
	Part       int    // number of the batch, or the argument i of Split; -1 if the span is not a part
	Worker     int    // the number of the worker; 0 is the goroutine that called Tick
	Start, End time.Duration
}

// SpanKind is the kind of a [Span].
type SpanKind string

// A part or a wait on the worker of its system lies within the span of the system. A system that panicked has
// a span. A part that panicked has no span.
const (
	RanSystem       SpanKind = "system"   // a system ran; the span includes its condition If
	RanPart         SpanKind = "part"     // a part of Each, Split or Reduce ran
	AwaitedParts    SpanKind = "wait"     // a system waited for parts on other workers
	AppliedCommands SpanKind = "commands" // commands were applied
)

// Record records the next ticks and returns a function that waits for them and returns their recordings. The
// first recorded tick is the first that begins after the call. A call of Tick that only continues a tick,
// because commands could not be applied, counts as a tick. Record panics if ticks is less than 1 or more than
// [MaxRecorded].
//
// If the context of wait ends before all ticks are recorded, wait returns the recordings made so far with the
// context's error, and recording ends. If the schedule is closed earlier, the error is [ErrClosed].
//
// Record and wait may be called from any goroutine at any time. But wait must not block the goroutine that
// makes the ticks: there, call wait after the ticks. Inside a tick, wait panics if it recognizes that the
// tick would wait for itself.
//
// In a recorded tick each part costs one reading of the clock. Record itself allocates the room for the
// spans.
func (s *Schedule) Record(ticks int) (wait func(context.Context) ([]Recording, error)) {
	s.mustBeMade("Record")
	if ticks < 1 || ticks > MaxRecorded {
		panic(fmt.Sprintf("sched: Schedule.Record of %d ticks: ask for 1 to %d", ticks, MaxRecorded))
	}
	q := &request{left: ticks, done: make(chan struct{})}
	o := &s.observers
	o.add(q, len(s.team.workers))
	return func(ctx context.Context) ([]Recording, error) {
		select {
		case <-q.done:
		default:
			if atwork.Inside(s.world) {
				panic("sched: code inside a tick waits for the recording of a tick, and therefore waits " +
					"for itself: wait on another goroutine")
			}
		}
		select {
		case <-q.done:
		case <-ctx.Done():
		}
		recorded, err := o.settle(ctx, q)
		list := make([]Recording, 0, len(recorded))
		for _, r := range recorded {
			list = append(list, r.recording())
		}
		return list, err
	}
}

// Recording returns the last recording, or false if there is none. It may be called from any goroutine at any
// time.
func (s *Schedule) Recording() (r Recording, ok bool) {
	s.mustBeMade("Recording")
	o := &s.observers
	o.mu.Lock()
	last := o.last
	o.mu.Unlock()
	if last == nil {
		return Recording{}, false
	}
	return last.recording(), true
}

// request is one call of Record. The mutex of the observers guards it.
type request struct {
	left     int  // number of ticks that are not recorded yet
	begun    bool // whether the request is older than the tick under way
	recorded []*recorder
	err      error         // error of wait
	done     chan struct{} // closed at the end of the request
}

// add adds a request, and recorders for its ticks.
func (o *observers) add(q *request, workers int) {
	room := make([]*recorder, q.left)
	for i := range room {
		room[i] = newRecorder(workers)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		q.end(ErrClosed)
		return
	}
	o.requests = append(o.requests, q)
	if missing := q.left - len(o.unused); missing > 0 {
		o.unused = append(o.unused, room[:missing]...)
	}
	o.wanted.Store(int32(len(o.requests)))
}

// settle returns the recorded ticks of a request. If the request has not ended, its context has ended: settle
// then ends the request.
func (o *observers) settle(ctx context.Context, q *request) (recorded []*recorder, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.Index(o.requests, q); i >= 0 {
		o.requests = slices.Delete(o.requests, i, i+1)
		q.end(ctx.Err())
		o.tidy()
	}
	return q.recorded, q.err
}

func (q *request) end(err error) {
	q.err = err
	close(q.done)
}

// tidy drops recorders that the remaining requests do not need. The caller holds the mutex.
func (o *observers) tidy() {
	needed := 0
	for _, q := range o.requests {
		needed = max(needed, q.left)
	}
	needed = min(needed, len(o.unused)) // the tick under way may use one of the needed recorders
	clear(o.unused[needed:])
	o.unused = o.unused[:needed]
	o.wanted.Store(int32(len(o.requests)))
}

func (o *observers) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for _, q := range o.requests {
		q.end(ErrClosed)
	}
	o.requests = nil
	o.tidy()
}

// startRecording assigns a recorder to the tick that begins, if there are requests.
func (o *observers) startRecording(s *Schedule) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last := len(o.unused) - 1; last >= 0 {
		o.recorder = o.unused[last]
		o.unused[last] = nil
		o.unused = o.unused[:last]
		for _, q := range o.requests {
			q.begun = true
		}
		o.recorder.tick, o.recorder.began, o.recorder.start = s.number, time.Now(), s.now()
	}
}

// endRecording adds the recorded tick to all requests that are older than the tick.
func (o *observers) endRecording(s *Schedule) {
	r := o.recorder
	o.recorder = nil
	r.end = s.now()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = r
	o.requests = slices.DeleteFunc(o.requests, func(q *request) bool {
		if !q.begun {
			return false
		}
		q.recorded = append(q.recorded, r)
		if q.left--; q.left == 0 {
			q.end(nil)
		}
		return q.left == 0
	})
	o.tidy()
}

// A recorder has room for maxMarks marks, divided equally among the workers, but at least minWorkerMarks
// marks of each worker.
const (
	maxMarks       = 8192
	minWorkerMarks = 256
)

// recorder collects the marks of one tick. Each worker writes its own list, without a lock.
type recorder struct {
	tick       uint64
	began      time.Time
	start, end time.Duration // since the schedule was made
	phases     []PhaseSpan
	workers    []marks

	once   sync.Once // guards the computation of result
	result Recording
}

// marks are the marks of one worker.
type marks struct {
	list []mark
	lost int
	_    [64]byte // keeps the lists of two workers on different cache lines
}

// mark becomes a Span.
type mark struct {
	kind       SpanKind
	system     *node
	part       int
	start, end time.Duration // since the schedule was made
}

func newRecorder(workers int) *recorder {
	r := &recorder{workers: make([]marks, workers)}
	for i := range r.workers {
		r.workers[i].list = make([]mark, 0, max(maxMarks/workers, minWorkerMarks))
	}
	return r
}

// keep adds a mark. It must be called on the goroutine of the worker. Marks of systems and commands are never
// lost, because a tick has few of them.
func (r *recorder) keep(w *worker, m mark) {
	own := &r.workers[w.index]
	full := len(own.list) >= max(maxMarks/len(r.workers), minWorkerMarks)
	if full && (m.kind == RanPart || m.kind == AwaitedParts) {
		own.lost++
		return
	}
	own.list = append(own.list, m)
}

// enter records that a stage of the phase begins.
func (r *recorder) enter(p Phase, now time.Duration) {
	now -= r.start
	if last := len(r.phases) - 1; last >= 0 {
		if r.phases[last].Phase == p {
			return
		}
		r.phases[last].End = now
	}
	r.phases = append(r.phases, PhaseSpan{Phase: p, Start: now})
}

// recording returns a copy of the Recording. The tick must have ended.
func (r *recorder) recording() Recording {
	r.once.Do(func() {
		r.result = Recording{Tick: r.tick, Began: r.began, Took: r.end - r.start, Workers: len(r.workers),
			Phases: r.phases}
		if last := len(r.phases) - 1; last >= 0 {
			r.phases[last].End = r.result.Took
		}
		for i := range r.workers {
			own := &r.workers[i]
			r.result.Lost += own.lost
			for _, m := range own.list {
				span := Span{Kind: m.kind, Part: m.part, Worker: i, Start: m.start - r.start,
					End: m.end - r.start}
				if m.system != nil {
					span.System = m.system.Name
				}
				r.result.Spans = append(r.result.Spans, span)
			}
			own.list = nil
		}
		// With a coarse clock a system can have the same times as its parts. The system then comes first.
		inner := func(s Span) int {
			if s.Kind == RanPart || s.Kind == AwaitedParts {
				return 1
			}
			return 0
		}
		slices.SortStableFunc(r.result.Spans, func(a, b Span) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End),
				cmp.Compare(inner(a), inner(b)))
		})
	})
	result := r.result
	result.Phases, result.Spans = slices.Clone(result.Phases), slices.Clone(result.Spans)
	return result
}
