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

// Each divides the query's entities into [vast.Query.Batches] of about n entities and calls f for each batch,
// on this worker and on idle workers. A call of f is called a part. Each returns when all parts are done. A
// part should take at least some microseconds, because waking a worker takes that long. Start with n = 4,096.
//
// f may write the values of its batch's entities in columns that the system writes. f may read everything
// that the system declares and that no part writes. f must use the Context that it receives, and must not
// call Each, [Context.Split] or [Reduce]. The commands of the parts are applied in the order of the batches.
//
// If f panics, Each panics as soon as the other running parts are done, and Tick returns a [*PanicError] with
// the value of f's panic. In the long run Each itself allocates nothing, but a function literal may allocate.
// To avoid this, make f once, outside of System.Run.
func (c *Context) Each(q vast.Query, n int, f func(c *Context, b vast.Batch)) {
	d := c.cut(q, n)
	d.part = f
	d.run()
}

// Split calls f for each i from 0 to n-1, on this worker and on idle workers, and returns when all calls are
// done. A call must not write what another call reads or writes. The rules of [Context.Each] hold, with i as
// the number of the batch. Split panics when n is negative.
func (c *Context) Split(n int, f func(c *Context, i int)) {
	d := c.begin()
	if n < 0 {
		panic(fmt.Sprintf("sched: Context.Split(%d) in system %q: "+
			"the number of parts cannot be negative", n, c.system.Name))
	}
	d.count = n
	d.place()
	d.index = f
	d.run()
}

// cut prepares the context's division for the batches of a query.
func (c *Context) cut(q vast.Query, n int) *division {
	d := c.begin()
	d.batches = d.batches[:0]
	for b := range q.Batches(n) {
		d.batches = append(d.batches, b)
	}
	d.count = len(d.batches)
	d.place()
	return d
}

// begin returns the context's division. It panics inside a part.
func (c *Context) begin() *division {
	c.of()
	d := c.division
	if c.part || d.underWay() {
		panic(fmt.Sprintf("sched: system %q calls Each, Split or Reduce inside a part of another such call: "+
			"merge the two loops", c.system.Name))
	}
	if d == nil {
		d = &division{context: c}
		c.division = d
	}
	return d
}

// place gives each part the number of a step of the system: see Context.sequence.
func (d *division) place() {
	c := d.context
	d.first = c.sequence + 1
	c.advance(d.count + 1)
}

func (d *division) underWay() bool { return d != nil && (d.part != nil || d.index != nil) }

func (d *division) run() {
	c := d.context
	d.failed = nil
	defer func() { d.part, d.index = nil, nil }()
	d.next.Store(0)
	if t := &c.schedule.team; len(t.workers) > 1 && d.count > 1 {
		t.share(d)
	} else {
		d.take(c.worker)
	}
	if c.worker.recorded {
		c.settle() // a part may have moved the position of the worker's Commands
	}
	if d.failed != nil {
		panic(d.failed)
	}
}

// division is the work of one Each, Split or Reduce, divided into parts.
type division struct {
	context *Context // the system's Context
	count   int      // number of parts
	batches []vast.Batch
	part    func(*Context, vast.Batch) // callback of Each or Reduce; nil when the division does not run
	index   func(*Context, int)        // callback of Split; nil when the division does not run
	first   int                        // number of the first part's step

	// Guarded by the team's mutex:
	helpers int        // number of other workers that work on this division
	waiting bool       // whether the system's worker waits for the helpers
	failed  *partPanic // first panic of a helper

	_    [64]byte
	next atomic.Int64 // index of the next part; alone on its cache line because all workers write it
	_    [64]byte
}

// partPanic is the panic of a part on another worker, or of a job.
type partPanic struct {
	value any
	stack []byte
	job   string // the name of the Jobs if a job panicked, or empty
}

// take runs parts on a worker until no part is left.
func (d *division) take(w *worker) {
	c := &w.part
	c.schedule, c.system, c.worker, c.part = d.context.schedule, d.context.system, w, true
	r := c.schedule.observers.recorder
	var start, end time.Duration
	if r != nil {
		start = c.schedule.now()
	}
	for i := int(d.next.Add(1) - 1); i < d.count; i = int(d.next.Add(1) - 1) {
		c.seat(w, d.first+i)
		if d.index != nil {
			d.index(c, i)
		} else {
			d.part(c, d.batches[i])
		}
		if r != nil {
			end = c.schedule.now()
			r.keep(w, mark{kind: RanPart, system: c.system, part: i, start: start, end: end})
			start = end
		}
	}
}

// help runs parts on a worker that does not run the system. It stores the panic of a part in d.failed. The
// system's worker then panics with this value.
func (d *division) help(t *team, w *worker) {
	ended := false
	defer func() {
		var failed *partPanic
		if !ended {
			failed = &partPanic{value: goexit}
			if v := recover(); v != nil {
				failed = &partPanic{value: explained(v), stack: debug.Stack()}
			}
			d.next.Store(int64(d.count))
		}
		t.mu.Lock()
		if failed != nil && d.failed == nil {
			d.failed = failed
		}
		t.unlist(d)
		d.helpers--
		if d.helpers == 0 && d.waiting {
			d.waiting = false
			d.context.worker.wake <- struct{}{}
		}
		t.mu.Unlock()
	}()
	if s := t.schedule; s.observers.task != nil {
		defer trace.StartRegion(s.observers.trace, "parts of "+d.context.system.Name).End()
	}
	d.take(w)
	ended = true
}

// share runs the division together with idle workers, and returns when the division is done.
func (t *team) share(d *division) {
	t.mu.Lock()
	t.shared = append(t.shared, d)
	t.rouse(d.count - 1)
	t.mu.Unlock()
	// The system must not continue before all parts are done, even if a part panics.
	defer func() {
		d.next.Store(int64(d.count))
		w := d.context.worker
		t.mu.Lock()
		t.unlist(d)
		r := t.schedule.observers.recorder
		if r != nil && d.helpers > 0 {
			start := t.schedule.now()
			defer func() {
				r.keep(w, mark{kind: AwaitedParts, system: d.context.system, part: -1, start: start,
					end: t.schedule.now()})
			}()
		}
		for d.helpers > 0 {
			d.waiting = true
			t.mu.Unlock()
			<-w.wake
			t.mu.Lock()
		}
		t.mu.Unlock()
	}()
	d.take(d.context.worker)
}

// unlist removes a division from the list. The caller holds the mutex.
func (t *team) unlist(d *division) {
	if i := slices.Index(t.shared, d); i >= 0 {
		t.shared = slices.Delete(t.shared, i, i+1)
	}
}
