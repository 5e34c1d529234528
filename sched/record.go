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

// ErrClosed is the error that the function wait of [Schedule.Record] returns if the schedule is closed before
// all ticks are recorded.
var ErrClosed = errors.New("sched: the schedule is closed")

// Recording describes the course of one tick.
type Recording struct {
	Tick    uint64
	Began   time.Time
	Took    time.Duration
	Workers int
	Phases  []PhaseSpan // in order
	Spans   []Span      // sorted by Start; of spans that start together, the longest comes first
	// Lost is the number of parts and waits that are not in Spans because the room was full. There is room
	// for 8,192 spans, divided equally among the workers, but for at least 256 spans of each worker. Spans of
	// systems and commands fill the room, too, but are never lost.
	Lost int
}

// PhaseSpan is a phase in a [Recording], from its first system to the last of its commands. Times count from
// the beginning of the tick.
type PhaseSpan struct {
	Phase      Phase
	Start, End time.Duration
}

// Span is one piece of work, or one wait, of a worker in a [Recording]. If no spans are lost, a worker was
// idle between its spans. Times count from the beginning of the tick.
type Span struct {
	Kind       SpanKind
	System     string // empty for commands
	Part       int    // of a part: the number of the batch, or Split's argument i; otherwise -1
	Worker     int    // the number of the worker; 0 is the goroutine that called Tick
	Start, End time.Duration
}

// SpanKind is the kind of a [Span].
type SpanKind string

// A part or a wait lies within the span of its system if both are on the same worker. A system that panicked
// has a span. A part that panicked has no span.
const (
	RanSystem       SpanKind = "system"   // a system ran; the span includes its condition If
	RanPart         SpanKind = "part"     // a part of Each, Split or Reduce ran
	AwaitedParts    SpanKind = "wait"     // a system waited for parts on other workers
	AppliedCommands SpanKind = "commands" // commands were applied
)

// Record records the next ticks and returns a function that waits for them. The first recorded tick is the
// first that begins after the call. wait returns the recordings in order. If the context of wait ends before
// all ticks are recorded, wait returns the context's error with the ticks recorded so far, and this call of
// Record records no further ticks. If the schedule is closed, wait returns [ErrClosed]. Each call of Tick
// counts as a tick, even if it only continues a tick whose commands could not be applied. Record and wait may
// be called from any goroutine at any time, except that the goroutine that makes the ticks must not call wait
// before the ticks are recorded.
//
// Recording costs a tick one reading of the clock for each part. Record allocates the room for the spans. The
// possibility of recording costs every other tick one atomic load, and each system one nil check. Record
// panics if ticks is less than 1 or more than [MaxRecorded].
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

// Recording returns the recording of the last recorded tick, or false if there is none. It may be called from
// any goroutine at any time.
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

// request is one call of Record. The lock of the observers guards it.
type request struct {
	left     int  // number of ticks that are not recorded yet
	begun    bool // whether the request is older than the tick under way
	recorded []*recorder
	err      error         // the reason why no more ticks are recorded
	done     chan struct{} // closed when no more ticks are recorded
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

// settle returns the recorded ticks of a request. A request that is still in o.requests lacks ticks, and its
// context has ended: settle removes the request.
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

// tidy drops recorders that the remaining requests do not need. The caller holds the lock.
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

// close ends all requests.
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

// startRecording assigns a recorder to the tick that begins, if a request needs the tick.
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

// The room for marks in a recorder.
const (
	marksKept        = 8192 // for all workers together
	marksKeptAtLeast = 256  // for one worker, even if all workers together then have more than marksKept
)

// recorder notes the work of each worker in one tick. Each worker writes its own list, without locks.
type recorder struct {
	tick       uint64
	began      time.Time
	start, end time.Duration // since the schedule was made, like the times of marks
	phases     []PhaseSpan
	workers    []marks

	once sync.Once // makes made
	made Recording
}

// marks are the notes of one worker. The padding keeps the marks of two workers on different cache lines.
type marks struct {
	list []mark
	lost int
	_    [64]byte
}

// mark is a Span under construction.
type mark struct {
	kind       SpanKind
	system     *node
	part       int
	start, end time.Duration
}

func newRecorder(workers int) *recorder {
	r := &recorder{workers: make([]marks, workers)}
	for i := range r.workers {
		r.workers[i].list = make([]mark, 0, max(marksKept/workers, marksKeptAtLeast))
	}
	return r
}

// keep adds a mark. Only the goroutine of the worker calls keep. Systems and commands are always kept: the
// schedule bounds their number.
func (r *recorder) keep(w *worker, m mark) {
	own := &r.workers[w.index]
	full := len(own.list) >= max(marksKept/len(r.workers), marksKeptAtLeast)
	if full && (m.kind == RanPart || m.kind == AwaitedParts) {
		own.lost++
		return
	}
	own.list = append(own.list, m)
}

// enter notes that a stage of the phase begins.
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

// recording returns the Recording of a tick that has ended. The first call makes the Recording, and each call
// returns a copy.
func (r *recorder) recording() Recording {
	r.once.Do(func() {
		r.made = Recording{Tick: r.tick, Began: r.began, Took: r.end - r.start, Workers: len(r.workers),
			Phases: r.phases}
		if last := len(r.phases) - 1; last >= 0 {
			r.phases[last].End = r.made.Took
		}
		for i := range r.workers {
			own := &r.workers[i]
			r.made.Lost += own.lost
			for _, m := range own.list {
				span := Span{Kind: m.kind, Part: m.part, Worker: i, Start: m.start - r.start,
					End: m.end - r.start}
				if m.system != nil {
					span.System = m.system.Name
				}
				r.made.Spans = append(r.made.Spans, span)
			}
			own.list = nil
		}
		// With a coarse clock a system can begin and end at the same time as its parts. The span of the
		// system then comes first.
		inner := func(s Span) int {
			if s.Kind == RanPart || s.Kind == AwaitedParts {
				return 1
			}
			return 0
		}
		slices.SortStableFunc(r.made.Spans, func(a, b Span) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End),
				cmp.Compare(inner(a), inner(b)))
		})
	})
	made := r.made
	made.Phases, made.Spans = slices.Clone(made.Phases), slices.Clone(made.Spans)
	return made
}
