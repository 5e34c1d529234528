package sched

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/internal/layout"
)

// ErrJobLimit is wrapped by the error of [Jobs.Start] for a job above JobsOptions.Limit.
var ErrJobLimit = errors.New("sched: too many jobs are in flight")

// JobsOptions are the options of [Jobs]. The zero value works.
type JobsOptions struct {
	// Name identifies the Jobs among the Jobs of the schedule: in messages, in statistics and in the [Graph].
	// Default: the name of the type In.
	Name string
	// Ticks is the number of ticks from the start of a job to the tick in which its result is handed in.
	// Default: 1.
	Ticks int
	// Limit is the largest number of jobs in flight: jobs whose results are not handed in. Default: 1,024.
	Limit int
	// Workers is the largest number of goroutines that run these jobs. The workers of the schedule run no
	// jobs. Default: 1.
	Workers int
}

// Jobs runs background jobs of one kind: a function that works beside the ticks on a copy of its input, for
// several ticks, such as a search for a path. A system starts a job with [Jobs.Start], and a system receives
// the result with [Jobs.Results], JobsOptions.Ticks ticks later. If a job has not ended by then, the system
// waits for it. So the world does not depend on the speed of the machine, and a replay gives the same world.
// Make Jobs with [NewJobs].
//
// In is the type of the inputs, without Go pointers, and Out the type of the results. A system that calls
// Start or Results names the Jobs in WritesResources, with [Resources], unless it is exclusive.
//
// Jobs start in the order of the calls of Start, and Results returns their results in this order. If a tick
// fails, its jobs stay in flight. [Schedule.Reset] drops all jobs. [Schedule.Close] ends their contexts and
// waits for the jobs that have begun; a store can still save the inputs. [Stats] counts the jobs and the time
// that ticks waited for them.
//
// If the schedule is attached to a store, name the Jobs in Options.Containers of the store, and make them
// before Open. The store saves the inputs of the jobs in flight, and a program that opens the store starts
// these jobs again. A replay runs all jobs again. So the results are saved nowhere.
type Jobs[In, Out any] struct {
	schedule *Schedule
	resource Resource
	run      func(context.Context, In) Out
	options  JobsOptions

	mu      sync.Mutex // guards the fields below
	changed sync.Cond  // a job or a goroutine has ended
	ctx     context.Context
	cancel  context.CancelFunc
	list    []*jobRun[In, Out] // the jobs in flight, in the order of their starts
	handed  int                // number of jobs at the beginning of list that Results has handed in
	begun   int                // number of jobs at the beginning of list that goroutines have begun
	running int                // number of goroutines
	counts  JobStats
}

// jobRun is a job in flight. The goroutine that runs the job sets done last, after the fields out and failed.
type jobRun[In, Out any] struct {
	due    uint64 // number of the tick in which the result is handed in
	in     In
	out    Out
	failed *partPanic
	done   bool // guarded by Jobs.mu
}

// anyJobs is a *Jobs.
type anyJobs interface {
	kept
	stats() JobStats
	reset()
	close()
	delay(ticks uint64)
}

// JobStats are the statistics of [Jobs].
type JobStats struct {
	Name     string
	InFlight int           // jobs whose results are not handed in
	Started  uint64        // jobs that were started since the Jobs were made, or were restored from a store
	Late     uint64        // results for which a tick waited
	Waited   time.Duration // time for which ticks waited
	Longest  time.Duration // the longest time for which a tick waited for one result
}

// NewJobs makes Jobs of a schedule, which run the function run. NewJobs panics when In holds Go pointers,
// when run is nil, when an option is negative, when Ticks is above [math.MaxInt32], when the schedule has
// Jobs of the same name, and when the schedule is attached to a store. Call NewJobs between ticks, and before
// [Schedule.Add] of the systems that use the Jobs.
//
// run is called on goroutines of its own, for several jobs at the same time if JobsOptions.Workers allows it.
// Its result must depend only on the input. So run must not use the world or the schedule, the clock or
// random numbers of Go. It may read data that never changes, such as a map that the program loads before the
// first tick. A [Random] can be a part of the input. run must not call World.Visit either: Visit waits for
// the end of the tick, and the tick may wait for run. Reset and Close end ctx. run should then return soon,
// because Reset and Close wait for it.
func NewJobs[In, Out any](s *Schedule, run func(ctx context.Context, in In) Out,
	o JobsOptions) *Jobs[In, Out] {
	layout.Check[In]("sched: NewJobs")
	s.enter("NewJobs")
	defer s.busy.Store(false)
	if o.Name == "" {
		o.Name = layout.Name[In]()
	}
	if run == nil {
		panic(fmt.Sprintf("sched: NewJobs %q: the function is nil", o.Name))
	}
	if o.Ticks < 0 || o.Limit < 0 || o.Workers < 0 || o.Ticks > math.MaxInt32 {
		panic(fmt.Sprintf("sched: NewJobs %q: Ticks is %d, Limit %d, Workers %d: none can be negative, and "+
			"Ticks must be at most %d", o.Name, o.Ticks, o.Limit, o.Workers, math.MaxInt32))
	}
	if s.keeper != nil {
		panic(fmt.Sprintf("sched: NewJobs %q: the schedule is attached to a store: make the Jobs before "+
			"Attach", o.Name))
	}
	for _, other := range s.jobs {
		if other.stats().Name == o.Name {
			panic(fmt.Sprintf("sched: NewJobs: the schedule has Jobs %q: set another JobsOptions.Name",
				o.Name))
		}
	}
	o.Ticks, o.Limit, o.Workers = cmp.Or(o.Ticks, 1), cmp.Or(o.Limit, 1024), cmp.Or(o.Workers, 1)
	j := &Jobs[In, Out]{schedule: s, run: run, options: o, counts: JobStats{Name: o.Name},
		resource: Resource{typ: reflect.TypeFor[Jobs[In, Out]](), jobs: o.Name}}
	j.changed.L = &j.mu
	j.ctx, j.cancel = context.WithCancel(context.Background())
	s.mu.Lock()
	s.jobs = append(s.jobs, j)
	s.mu.Unlock()
	return j
}

// of returns the schedule. It panics if NewJobs did not make the Jobs.
func (j *Jobs[In, Out]) of() *Schedule {
	if j == nil || j.schedule == nil {
		panic("sched: the nil or zero Jobs belong to no schedule: make Jobs with NewJobs")
	}
	return j.schedule
}

// Resource returns the Resource of the Jobs, for [Resources].
func (j *Jobs[In, Out]) Resource() Resource {
	j.of()
	return j.resource
}

// Start starts a job with a copy of the input. Start returns an error wrapping [ErrJobLimit], and starts no
// job, if JobsOptions.Limit jobs are in flight.
//
// c is the Context that the system receives. A nil c is for code between ticks: on the goroutine of the
// world, in the function that applies the inputs of a store, and in a function given to [Context.AfterTick].
// The ticks of such a job count from the last tick. Start panics in a part of Each, Split or Reduce, where
// the order of the jobs would depend on the workers: start the jobs after the loop. In a world that a store
// keeps, the function Start of a [System] runs in each process, so it must not start a job again that the
// store keeps: see Store.Attach.
//
// Complexity: O(1). Start allocates memory for the input, the result and a goroutine.
func (j *Jobs[In, Out]) Start(c *Context, in In) error {
	s := j.of()
	if c != nil {
		j.mustMay(c, "Start")
	} else if s.ticking && !s.between {
		panic(fmt.Sprintf("sched: Jobs.Start of %q without a Context inside a tick: give the Context that "+
			"the system receives", j.options.Name))
	} else if s.closed {
		panic(fmt.Sprintf("sched: Jobs.Start of %q on a closed schedule: do not use a schedule after Close",
			j.options.Name))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := len(j.list) - j.handed; n >= j.options.Limit {
		return fmt.Errorf("sched: Jobs.Start of %q: %d jobs are in flight, and JobsOptions.Limit is %d: "+
			"start the job in a later tick, or raise the limit: %w", j.options.Name, n, j.options.Limit,
			ErrJobLimit)
	}
	if c == nil && !s.between && s.keeper != nil {
		s.keeper.Changed()
	}
	j.begin(&jobRun[In, Out]{due: s.number + uint64(j.options.Ticks), in: in})
	return nil
}

// begin adds a job. The caller holds the mutex.
func (j *Jobs[In, Out]) begin(r *jobRun[In, Out]) {
	j.list = append(j.list, r)
	j.counts.Started++
	if j.running < j.options.Workers {
		j.running++
		go j.work()
	}
}

// Results returns the inputs and the results of the jobs whose tick has come, in the order in which the jobs
// were started. It waits for each job that has not ended. Each result is handed in once: results that the
// loop does not reach, and results of a tick in which no system calls Results, stay for the next call.
//
// If the function panicked for an input, the loop panics when it reaches this job, and Tick returns a
// [*PanicError] with the value of the function's panic. The next call continues with the next job.
//
// Results panics if the system does not declare the Jobs, and in a part of Each, Split or Reduce.
func (j *Jobs[In, Out]) Results(c *Context) iter.Seq2[In, Out] {
	j.mustMay(c, "Results")
	return func(yield func(In, Out) bool) {
		defer j.tidy()
		for r := j.next(); r != nil && yield(r.in, r.out); r = j.next() {
		}
	}
}

// mustMay panics if a Context may not be used for the method what.
func (j *Jobs[In, Out]) mustMay(c *Context, what string) {
	s, n := c.of(), c.system
	switch {
	case s != j.of():
		panic(fmt.Sprintf("sched: Jobs.%s of %q in system %q: the Jobs belong to another schedule: make "+
			"the Jobs with the schedule of the system", what, j.options.Name, n.Name))
	case c.part || c.division.underWay():
		remedy := "collect the inputs with Reduce, and start the jobs after it"
		if what == "Results" {
			remedy = "collect the results in a slice before the parts"
		}
		panic(fmt.Sprintf("sched: Jobs.%s of %q in system %q, in a part of Each, Split or Reduce: %s", what,
			j.options.Name, n.Name, remedy))
	case !n.Exclusive && !slices.Contains(n.WritesResources, j.resource):
		panic(fmt.Sprintf("sched: Jobs.%s of %q in system %q, which does not declare them: name the Jobs in "+
			"the system's WritesResources, with Resources", what, j.options.Name, n.Name))
	}
}

// next hands in the next result, and returns nil if the tick of the next job has not come.
func (j *Jobs[In, Out]) next() *jobRun[In, Out] {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handed == len(j.list) || j.list[j.handed].due > j.schedule.number {
		return nil
	}
	r := j.list[j.handed]
	if !r.done {
		start := clock.Now()
		for !r.done {
			j.changed.Wait()
		}
		waited := clock.Now() - start
		j.counts.Late++
		j.counts.Waited += waited
		j.counts.Longest = max(j.counts.Longest, waited)
	}
	j.handed++
	if r.failed != nil {
		panic(r.failed)
	}
	return r
}

// tidy removes the jobs that were handed in.
func (j *Jobs[In, Out]) tidy() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list = slices.Delete(j.list, 0, j.handed)
	j.begun -= j.handed
	j.handed = 0
}

// work runs jobs until goroutines have begun all of them.
func (j *Jobs[In, Out]) work() {
	debug.SetPanicOnFault(true)
	ended := false
	defer func() {
		if !ended {
			go j.work() // the function has called runtime.Goexit
		}
	}()
	j.mu.Lock()
	for j.begun < len(j.list) {
		r, ctx := j.list[j.begun], j.ctx
		j.begun++
		j.mu.Unlock()
		j.compute(ctx, r)
		j.mu.Lock()
	}
	j.running--
	j.changed.Broadcast()
	j.mu.Unlock()
	ended = true
}

func (j *Jobs[In, Out]) compute(ctx context.Context, r *jobRun[In, Out]) {
	ended := false
	defer func() {
		if !ended {
			r.failed = &partPanic{value: goexit, job: j.options.Name}
			if v := recover(); v != nil {
				r.failed.value, r.failed.stack = explained(v), debug.Stack()
			}
		}
		j.mu.Lock()
		r.done = true
		j.changed.Broadcast()
		j.mu.Unlock()
	}()
	r.out = j.run(ctx, r.in)
	ended = true
}

// close ends the jobs, and waits for those that have begun. The inputs stay, so that a store can save them.
func (j *Jobs[In, Out]) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cancel()
	j.begun = len(j.list)
	for j.running > 0 {
		j.changed.Wait()
	}
}

// reset drops all jobs.
func (j *Jobs[In, Out]) reset() {
	j.close()
	j.mu.Lock()
	defer j.mu.Unlock()
	clear(j.list)
	j.list, j.begun, j.handed = j.list[:0], 0, 0
	j.ctx, j.cancel = context.WithCancel(context.Background())
}

func (j *Jobs[In, Out]) stats() JobStats {
	j.mu.Lock()
	defer j.mu.Unlock()
	st := j.counts
	st.InFlight = len(j.list) - j.handed
	return st
}

// delay hands in all results later.
func (j *Jobs[In, Out]) delay(ticks uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.list {
		r.due += ticks
	}
}
