package sched

import (
	"fmt"
	"runtime/debug"
	"runtime/trace"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vastgo/vast"
)

// Each calls f for each part of the query's entities, on this worker and on those that have nothing else to do, and
// returns when all are done. The parts are [vast.Query.Batches] of n entities: where they are cut depends on the world and
// on n only. A part should take some microseconds at least, which is what waking a worker takes; 4,096 entities are a good
// start.
//
// f may write values of the batch's entities in columns that the system writes, and read everything else that the system
// declares and that no part writes. It gets a Context of its own; commands that are recorded in it are applied in the order
// of the batches. It must not call Each, [Context.Split] or [Reduce].
//
// When f panics the system does, once the other parts under way are done. Each itself allocates nothing in the long run; a
// function literal may, so make f once where that matters, outside of System.Run.
func (c *Context) Each(q vast.Query, n int, f func(c *Context, b vast.Batch)) {
	j := c.cut(q, n)
	j.part = f
	j.run()
}

// Split calls f for each i from 0 to n-1, on this worker and on those that have nothing else to do, and returns when all
// are done: [Context.Each] for work that is divided by something else than a query. What is said there holds, with i for
// the number of the batch; calls must not write what others read or write. It panics when n is negative.
func (c *Context) Split(n int, f func(c *Context, i int)) {
	if n < 0 {
		panic(fmt.Sprintf("sched: Context.Split(%d) in system %q: the number of parts cannot be negative", n, c.system.Name))
	}
	j := c.begin()
	j.count = n
	j.place()
	j.index = f
	j.run()
}

// cut returns the job of going over a query in parts.
func (c *Context) cut(q vast.Query, n int) *job {
	j := c.begin()
	j.batches = j.batches[:0]
	for b := range q.Batches(n) {
		j.batches = append(j.batches, b)
	}
	j.count = len(j.batches)
	j.place()
	return j
}

// begin returns the context's job, to be used anew.
func (c *Context) begin() *job {
	c.of()
	j := c.job
	if c.part || j.underWay() {
		panic(fmt.Sprintf("sched: system %q calls Each, Split or Reduce inside a part of another: make one loop of the two", c.system.Name))
	}
	if j == nil {
		j = &job{context: c}
		c.job = j
	}
	return j
}

// place gives the job's parts their places in the system's course.
func (j *job) place() {
	c := j.context
	j.first = c.sequence + 1
	c.advance(j.count + 1)
}

// underWay reports whether the job's parts are being done.
func (j *job) underWay() bool { return j != nil && (j.part != nil || j.index != nil) }

// run does the job.
func (j *job) run() {
	c := j.context
	j.failed = nil
	defer func() { j.part, j.index = nil, nil }()
	j.next.Store(0)
	if t := &c.schedule.team; len(t.workers) > 1 && j.count > 1 {
		t.share(j)
	} else {
		j.take(c.worker)
	}
	if c.worker.recorded {
		// The system may go on to use what Commands returned before.
		c.settle()
	}
	if j.failed != nil {
		panic(j.failed)
	}
}

// job is the work of one Each or Split.
type job struct {
	context *Context // of the system
	count   int      // of its parts
	batches []vast.Batch
	part    func(*Context, vast.Batch) // what Each does with a batch, while it is under way
	index   func(*Context, int)        // or Split with a number
	first   int                        // where in the system's course the first part is

	// Guarded by the team's mutex:
	helpers int  // workers under way, other than the system's
	waiting bool // whether the system's worker sleeps until there are none
	failed  *partPanic

	_    [64]byte
	next atomic.Int64 // alone on its cache line: every worker writes it
	_    [64]byte
}

// partPanic is what a part panicked with on another worker, and where.
type partPanic struct {
	value any
	stack []byte
}

// take works on parts until there are none left.
func (j *job) take(w *worker) {
	c := &w.part
	c.schedule, c.system, c.worker, c.part = j.context.schedule, j.context.system, w, true
	r := c.schedule.observers.recorder
	var start, end time.Duration
	if r != nil {
		start = c.schedule.now()
	}
	for i := int(j.next.Add(1) - 1); i < j.count; i = int(j.next.Add(1) - 1) {
		c.sequence = j.first + i
		if j.index != nil {
			j.index(c, i)
		} else {
			j.part(c, j.batches[i])
		}
		if r != nil {
			end = c.schedule.now()
			r.keep(w, mark{kind: RanPart, system: c.system, part: i, start: start, end: end})
			start = end
		}
	}
}

// help is take for a worker other than the system's. It keeps a panic for the system.
func (j *job) help(t *team, w *worker) {
	ended := false
	defer func() {
		var failed *partPanic
		if !ended {
			failed = &partPanic{goexit, nil}
			if v := recover(); v != nil {
				failed = &partPanic{explained(v), debug.Stack()}
			}
			j.next.Store(int64(j.count))
		}
		t.mu.Lock()
		if failed != nil && j.failed == nil {
			j.failed = failed
		}
		t.unlist(j)
		j.helpers--
		if j.helpers == 0 && j.waiting {
			j.waiting = false
			j.context.worker.wake <- struct{}{}
		}
		t.mu.Unlock()
	}()
	if s := t.schedule; s.observers.task != nil {
		defer trace.StartRegion(s.observers.trace, "parts of "+j.context.system.Name).End()
	}
	j.take(w)
	ended = true
}

// share works on the job with whoever is idle, and returns when it is done.
func (t *team) share(j *job) {
	t.mu.Lock()
	t.jobs = append(t.jobs, j)
	t.rouse(j.count - 1)
	t.mu.Unlock()
	// Whatever happens in a part, the others must be done before the system goes on.
	defer func() {
		j.next.Store(int64(j.count))
		w := j.context.worker
		t.mu.Lock()
		t.unlist(j)
		r := t.schedule.observers.recorder
		if r != nil && j.helpers > 0 {
			start := t.schedule.now()
			defer func() {
				r.keep(w, mark{kind: AwaitedParts, system: j.context.system, part: -1, start: start, end: t.schedule.now()})
			}()
		}
		for j.helpers > 0 {
			j.waiting = true
			t.mu.Unlock()
			<-w.wake
			t.mu.Lock()
		}
		t.mu.Unlock()
	}()
	j.take(j.context.worker)
}

// unlist takes a job of which nothing is left from the list.
func (t *team) unlist(j *job) {
	if i := slices.Index(t.jobs, j); i >= 0 {
		t.jobs = slices.Delete(t.jobs, i, i+1)
	}
}
