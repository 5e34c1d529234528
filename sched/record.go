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

// MaxRecorded is how many ticks one call of [Schedule.Record] can ask for.
const MaxRecorded = 16

// ErrClosed is what one who waits after [Schedule.Record] gets when the schedule is closed before the ticks came.
var ErrClosed = errors.New("sched: the schedule is closed")

// Recording is the course of one tick.
type Recording struct {
	Tick    uint64
	Began   time.Time
	Took    time.Duration
	Workers int
	Phases  []PhaseSpan // one after the other
	Spans   []Span      // by Start; of those that start together the longest first
	// Lost is how many parts and waits were not kept. There is room for 8,192, each worker having an equal share of it, or for
	// 256 a worker where that is more.
	Lost int
}

// PhaseSpan is a phase in a [Recording], from its first system to the last of its commands. Times count from the
// beginning of the tick.
type PhaseSpan struct {
	Phase      Phase
	Start, End time.Duration
}

// Span is something that a worker did, or waited for, in a [Recording]. Between its spans a worker had nothing to do. Times
// count from the beginning of the tick.
type Span struct {
	Kind       SpanKind
	System     string // empty for commands
	Part       int    // the number of the batch or of Split's call; -1 for what is no part
	Worker     int    // from 0, which is the goroutine that called Tick, to below Options.Workers
	Start, End time.Duration
}

// SpanKind tells what a [Span] is.
type SpanKind string

// A part or a wait on the worker that runs its system lies within the system's span. What panicked is there for systems,
// not for parts.
const (
	RanSystem       SpanKind = "system"   // a system, with its condition
	RanPart         SpanKind = "part"     // a part of Each, Split or Reduce
	AwaitedParts    SpanKind = "wait"     // a system waited for parts on other workers
	AppliedCommands SpanKind = "commands" // commands were applied
)

// Record has the next ticks recorded, from the first that begins after it, and returns how to wait for them: wait returns
// their course in their order. When its context ends before, it returns the context's error with the ticks recorded so far, and
// no more are recorded for it; when the schedule is closed, [ErrClosed]. A tick that goes on later, because its commands could
// not be applied at first, counts twice. Both may be called from any goroutine at any time, but wait not from the one that
// makes the ticks.
//
// A recorded tick takes longer by a look at the clock for each part; room for parts is made beforehand. Without Record
// a tick pays for this with one look at a number, and a system with one at a pointer. It panics unless ticks is 1 to
// [MaxRecorded].
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
				panic("sched: what a tick runs waits for the recording of a tick, and so for itself: wait on another goroutine")
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

// Recording returns the course of the last tick that was recorded, if any was. It may be called from any goroutine at any
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

// request is a call of Record. The lock of the observers guards it.
type request struct {
	left     int
	begun    bool // whether it was there when the tick under way began
	recorded []*recorder
	err      error         // why no more will come
	done     chan struct{} // closed when nothing is left, or nothing will come
}

// add takes a request in, with room for its ticks.
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

// settle returns what there is for a request. One that still lacks ticks has been waited for in vain, and gets no more.
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

// tidy is for when requests have gone. The lock is held.
func (o *observers) tidy() {
	most := 0
	for _, q := range o.requests {
		most = max(most, q.left)
	}
	most = min(most, len(o.unused)) // one may be in use for the tick under way
	clear(o.unused[most:])
	o.unused = o.unused[:most]
	o.wanted.Store(int32(len(o.requests)))
}

// close tells those who wait that no tick will come.
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

// startRecording has the tick that begins recorded, if a request is still there.
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

// endRecording gives the tick to those who wait for it. One who came while it was under way waits for the next one.
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

// How many marks there is room for: in all, and for one worker at least.
const (
	marksKept        = 8192
	marksKeptAtLeast = 256
)

// recorder takes down what workers do in one tick: each into room of its own, without locks.
type recorder struct {
	tick       uint64
	began      time.Time
	start, end time.Duration // as all times here: since the schedule was made
	phases     []PhaseSpan
	workers    []marks

	once sync.Once // guards what follows
	made Recording
}

// marks are what one worker did. They end with room for no other worker's to share their cache line.
type marks struct {
	list []mark
	lost int
	_    [64]byte
}

// mark is a Span as it is taken down.
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

// keep takes a mark down, on the goroutine of the worker. Systems and commands are always kept: there are as many as the
// schedule has.
func (r *recorder) keep(w *worker, m mark) {
	own := &r.workers[w.index]
	if len(own.list) >= max(marksKept/len(r.workers), marksKeptAtLeast) && (m.kind == RanPart || m.kind == AwaitedParts) {
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

// recording returns what was taken down, once the tick has ended. Everyone gets the same slices.
func (r *recorder) recording() Recording {
	r.once.Do(func() {
		r.made = Recording{Tick: r.tick, Began: r.began, Took: r.end - r.start, Workers: len(r.workers), Phases: r.phases}
		if last := len(r.phases) - 1; last >= 0 {
			r.phases[last].End = r.made.Took
		}
		for i := range r.workers {
			own := &r.workers[i]
			r.made.Lost += own.lost
			for _, m := range own.list {
				span := Span{Kind: m.kind, Part: m.part, Worker: i, Start: m.start - r.start, End: m.end - r.start}
				if m.system != nil {
					span.System = m.system.Name
				}
				r.made.Spans = append(r.made.Spans, span)
			}
			own.list = nil
		}
		// A coarse clock makes a system begin and end with its parts.
		inner := func(s Span) int {
			if s.Kind == RanPart || s.Kind == AwaitedParts {
				return 1
			}
			return 0
		}
		slices.SortStableFunc(r.made.Spans, func(a, b Span) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(inner(a), inner(b)))
		})
	})
	made := r.made
	made.Phases, made.Spans = slices.Clone(made.Phases), slices.Clone(made.Spans)
	return made
}
