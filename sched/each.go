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

// Each divides the query's entities into [vast.Query.Batches] of n entities and calls f for each batch, on
// this worker and on idle workers. A call of f is called a part. Each returns when all parts are done. A part
// should take at least some microseconds, because waking a worker takes that long. Start with n = 4,096.
//
// f may write the values of its batch's entities in columns that the system writes. f may read everything
// that the system declares and that no part writes. f must use the Context that it receives, and must not
// call Each, [Context.Split] or [Reduce]. The commands of the parts are applied in the order of the batches.
//
// If f panics, Each panics as soon as the other running parts are done, and Tick returns a [*PanicError] with
// the value of f's panic. In the long run Each itself allocates nothing, but a function literal may allocate.
// To avoid this, make f once, outside of System.Run.
func (c *Context) Each(q vast.Query, n int, f func(c *Context, b vast.Batch)) {
	j := c.cut(q, n)
	j.part = f
	j.run()
}

// Split calls f for each i from 0 to n-1, on this worker and on idle workers, and returns when all calls are
// done. A call must not write what another call reads or writes. The rules of [Context.Each] hold, with i as
// the number of the batch. Split panics when n is negative.
func (c *Context) Split(n int, f func(c *Context, i int)) {
	j := c.begin()
	if n < 0 {
		panic(fmt.Sprintf("sched: Context.Split(%d) in system %q: "+
			"the number of parts cannot be negative", n, c.system.Name))
	}
	j.count = n
	j.place()
	j.index = f
	j.run()
}

// cut prepares the context's job for the batches of a query.
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

// begin returns the context's job. It panics inside a part.
func (c *Context) begin() *job {
	c.of()
	j := c.job
	if c.part || j.underWay() {
		panic(fmt.Sprintf("sched: system %q calls Each, Split or Reduce inside a part of another such call: "+
			"merge the two loops", c.system.Name))
	}
	if j == nil {
		j = &job{context: c}
		c.job = j
	}
	return j
}

// place gives each part the number of a step of the system: see Context.sequence.
func (j *job) place() {
	c := j.context
	j.first = c.sequence + 1
	c.advance(j.count + 1)
}

func (j *job) underWay() bool { return j != nil && (j.part != nil || j.index != nil) }

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
		c.settle() // a part may have moved the position of the worker's Commands
	}
	if j.failed != nil {
		panic(j.failed)
	}
}

// job is the work of one Each, Split or Reduce.
type job struct {
	context *Context // the system's Context
	count   int      // number of parts
	batches []vast.Batch
	part    func(*Context, vast.Batch) // callback of Each or Reduce; nil when the job does not run
	index   func(*Context, int)        // callback of Split; nil when the job does not run
	first   int                        // number of the first part's step

	// Guarded by the team's mutex:
	helpers int        // number of other workers that work on this job
	waiting bool       // whether the system's worker waits for the helpers
	failed  *partPanic // first panic of a helper

	_    [64]byte
	next atomic.Int64 // index of the next part; alone on its cache line because all workers write it
	_    [64]byte
}

// partPanic is the panic of a part on another worker.
type partPanic struct {
	value any
	stack []byte
}

// take runs parts on a worker until no part is left.
func (j *job) take(w *worker) {
	c := &w.part
	c.schedule, c.system, c.worker, c.part = j.context.schedule, j.context.system, w, true
	r := c.schedule.observers.recorder
	var start, end time.Duration
	if r != nil {
		start = c.schedule.now()
	}
	for i := int(j.next.Add(1) - 1); i < j.count; i = int(j.next.Add(1) - 1) {
		c.seat(w, j.first+i)
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

// help runs parts on a worker that does not run the system. It stores the panic of a part in j.failed. The
// system's worker then panics with this value.
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

// share runs the job together with idle workers, and returns when the job is done.
func (t *team) share(j *job) {
	t.mu.Lock()
	t.jobs = append(t.jobs, j)
	t.rouse(j.count - 1)
	t.mu.Unlock()
	// The system must not continue before all parts are done, even if a part panics.
	defer func() {
		j.next.Store(int64(j.count))
		w := j.context.worker
		t.mu.Lock()
		t.unlist(j)
		r := t.schedule.observers.recorder
		if r != nil && j.helpers > 0 {
			start := t.schedule.now()
			defer func() {
				r.keep(w, mark{kind: AwaitedParts, system: j.context.system, part: -1, start: start,
					end: t.schedule.now()})
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

// unlist removes a job from the list. The caller holds the mutex.
func (t *team) unlist(j *job) {
	if i := slices.Index(t.jobs, j); i >= 0 {
		t.jobs = slices.Delete(t.jobs, i, i+1)
	}
}
