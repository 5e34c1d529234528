package sched

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/vastgo/vast"
)

// question is the input of jobs in tests.
type question struct {
	Entity vast.Entity
	Value  uint64
}

func double(_ context.Context, q question) uint64 { return q.Value * 2 }

// TestJobsAreHandedIn: the declared tick hands in the results, in the order of the starts, on any number of
// workers, although a later job ends earlier.
func TestJobsAreHandedIn(t *testing.T) {
	for _, workers := range []int{1, 3} {
		w, c := newWorld(t, 1)
		s := newSchedule(t, w, Options{Workers: workers})
		gates := make([]chan struct{}, 100)
		for i := range gates {
			gates[i] = make(chan struct{})
		}
		jobs := NewJobs(s, func(_ context.Context, q question) uint64 {
			<-gates[q.Value]
			return q.Value * 2
		}, JobsOptions{Ticks: 3, Workers: 2})
		var got []string
		next := uint64(0)
		ask := func(x *Context, n int) {
			for range n {
				if err := jobs.Start(x, question{Value: next}); err != nil {
					t.Error(err)
				}
				next++
			}
		}
		s.Add(System{Name: "receive", WritesResources: Resources(jobs), Run: func(x *Context) {
			for q, v := range jobs.Results(x) {
				got = append(got, fmt.Sprint(x.Tick(), ":", q.Value, "=", v))
			}
		}})
		s.Add(System{Name: "ask", WritesResources: Resources(jobs), Writes: Columns(c[0]),
			Run: func(x *Context) {
				if x.Tick() == 1 || x.Tick() == 2 {
					ask(x, 2)
				}
			}})
		tick(t, s, 2)
		ask(nil, 1) // counts from the last tick
		tick(t, s, 1)
		if len(got) > 0 {
			t.Fatalf("%d workers: early results: %v", workers, got)
		}
		close(gates[1]) // the second job ends first
		close(gates[0])
		close(gates[2])
		tick(t, s, 1)
		close(gates[3])
		close(gates[4])
		tick(t, s, 3)
		want := []string{"4:0=0", "4:1=2", "5:2=4", "5:3=6", "5:4=8"}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: got %v, want %v", workers, got, want)
		}
		st := s.Stats().Jobs
		if len(st) != 1 || st[0].Name != "question" || st[0].InFlight != 0 || st[0].Started != 5 {
			t.Errorf("statistics %+v", st)
		}
	}
}

// TestTickWaitsForJob: a tick waits for a job that has not ended. If the job ends before the
// tick needs the result, the statistics count no wait.
func TestTickWaitsForJob(t *testing.T) {
	w, _ := newWorld(t, 1)
	s := newSchedule(t, w, Options{Workers: 2})
	gate := make(chan struct{})
	jobs := NewJobs(s, func(_ context.Context, q question) uint64 {
		<-gate
		return 7
	}, JobsOptions{Name: "slow"})
	got := uint64(0)
	s.Add(System{Name: "receive", WritesResources: Resources(jobs), Run: func(x *Context) {
		if x.Tick() == 2 {
			go close(gate) // after the system has begun
		}
		for _, v := range jobs.Results(x) {
			got = v
		}
		if x.Tick() == 1 {
			if err := jobs.Start(x, question{}); err != nil {
				t.Error(err)
			}
		}
	}})
	tick(t, s, 1)
	if st := s.Stats().Jobs[0]; st.InFlight != 1 || st.Late != 0 || got != 0 {
		t.Errorf("after tick 1: %+v, %d", st, got)
	}
	tick(t, s, 1)
	st := s.Stats().Jobs[0]
	if st.InFlight != 0 || got != 7 || st.Late > 1 || st.Longest > st.Waited ||
		st.Late == 0 && st.Waited > 0 {
		t.Errorf("after tick 2: %+v, %d", st, got)
	}
}

// TestResultsStay: results that no loop has reached stay for the next call.
func TestResultsStay(t *testing.T) {
	w, _ := newWorld(t, 1)
	s := newSchedule(t, w, Options{Workers: 1})
	jobs := NewJobs(s, double, JobsOptions{})
	var got []uint64
	s.Add(System{Name: "receive", Exclusive: true, Every: 2, Run: func(x *Context) {
		for q, v := range jobs.Results(x) {
			got = append(got, v)
			if q.Value%2 == 1 {
				break
			}
			if err := jobs.Start(x, question{Value: q.Value + 10}); err != nil { // inside the loop
				t.Error(err)
			}
		}
	}})
	for i := range uint64(3) {
		if err := jobs.Start(nil, question{Value: i}); err != nil {
			t.Fatal(err)
		}
	}
	tick(t, s, 6)
	// Tick 2 hands in 0 and 1, tick 4 hands in 2 and 10, tick 6 hands in 12 and 20.
	if want := []uint64{0, 2, 4, 20, 24, 40}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := s.Stats().Jobs[0].InFlight; n != 2 {
		t.Errorf("%d in flight", n)
	}
}

func TestJobLimit(t *testing.T) {
	w, _ := newWorld(t, 1)
	s := newSchedule(t, w, Options{Workers: 1})
	jobs := NewJobs(s, double, JobsOptions{Limit: 2})
	var errs []error
	s.Add(System{Name: "a", WritesResources: Resources(jobs), Run: func(x *Context) {
		for range jobs.Results(x) {
		}
		for range 3 {
			errs = append(errs, jobs.Start(x, question{}))
		}
	}})
	tick(t, s, 2)
	for i, err := range errs {
		if errors.Is(err, ErrJobLimit) != (i%3 == 2) {
			t.Errorf("start %d: %v", i, err)
		}
	}
	want := `sched: Jobs.Start of "question": 2 jobs are in flight, and JobsOptions.Limit is 2: start ` +
		"the job in a later tick, or raise the limit: sched: too many jobs are in flight"
	if errs[2].Error() != want {
		t.Errorf("got %v", errs[2])
	}
}

// TestFailedJob: the panic of a job stops the tick that receives its result, and the next tick continues with
// the next job.
func TestFailedJob(t *testing.T) {
	for _, workers := range []int{1, 3} {
		w, _ := newWorld(t, 1)
		s := newSchedule(t, w, Options{Workers: workers})
		cause := errors.New("no path")
		jobs := NewJobs(s, func(_ context.Context, q question) uint64 {
			switch q.Value {
			case 1:
				panic(cause)
			case 2:
				runtime.Goexit()
			}
			return q.Value
		}, JobsOptions{Name: "paths"})
		var got []uint64
		s.Add(System{Name: "receive", WritesResources: Resources(jobs), Run: func(x *Context) {
			for _, v := range jobs.Results(x) {
				got = append(got, v)
			}
		}})
		s.Add(System{Name: "other", Run: func(*Context) {}})
		for i := range uint64(4) {
			if err := jobs.Start(nil, question{Value: i}); err != nil {
				t.Fatal(err)
			}
		}
		var e *PanicError
		err := s.Tick()
		if !errors.As(err, &e) || e.System != "receive" || e.Job != "paths" || !errors.Is(err, cause) ||
			len(e.Stack) == 0 {
			t.Fatalf("%d workers: error %v", workers, err)
		}
		const want = `sched: system "receive" received the result of a job of "paths" that panicked: no path`
		if err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
		if err := s.Tick(); !errors.As(err, &e) || e.Job != "paths" || e.Value != goexit {
			t.Fatalf("%d workers: error %v", workers, err)
		}
		tick(t, s, 1)
		if want := []uint64{0, 3}; !slices.Equal(got, want) {
			t.Errorf("%d workers: got %v, want %v", workers, got, want)
		}
	}
}

// TestResetDropsJobs: Reset and Close end the context of the jobs, wait for them, and drop their results.
func TestResetDropsJobs(t *testing.T) {
	w, _ := newWorld(t, 1)
	s := newSchedule(t, w, Options{Workers: 1})
	begun := make(chan struct{}, 8)
	ended := 0
	jobs := NewJobs(s, func(ctx context.Context, q question) uint64 {
		if q.Value == 0 {
			begun <- struct{}{}
			<-ctx.Done()
			ended++
		}
		return q.Value
	}, JobsOptions{})
	var got []uint64
	s.Add(System{Name: "receive", WritesResources: Resources(jobs), Run: func(x *Context) {
		for _, v := range jobs.Results(x) {
			got = append(got, v)
		}
	}})
	start := func(v uint64) {
		if err := jobs.Start(nil, question{Value: v}); err != nil {
			t.Fatal(err)
		}
	}
	start(0)
	start(5) // waits behind the first job, and never begins
	<-begun
	if err := s.Reset(1); err != nil {
		t.Fatal(err)
	}
	if st := s.Stats().Jobs[0]; ended != 1 || st.InFlight != 0 {
		t.Errorf("after Reset: %d ended, %+v", ended, st)
	}
	start(6)
	tick(t, s, 2)
	if want := []uint64{6}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	start(0)
	<-begun
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if ended != 2 {
		t.Errorf("after Close: %d ended", ended)
	}
	mustPanic(t, "do not use a schedule after Close", func() { _ = jobs.Start(nil, question{}) })
}

func TestJobsMisuse(t *testing.T) {
	w, c := newWorld(t, 1)
	w.Archetype(c[0]).NewN(128, nil)
	s := newSchedule(t, w, Options{Workers: 2})
	jobs := NewJobs(s, double, JobsOptions{Name: "mine"})
	foreign := NewJobs(newSchedule(t, w, Options{Workers: 1}), double, JobsOptions{})
	mustPanic(t, "set another JobsOptions.Name", func() { NewJobs(s, double, JobsOptions{Name: "mine"}) })
	mustPanic(t, "none can be negative", func() { NewJobs(s, double, JobsOptions{Ticks: -1}) })
	mustPanic(t, "none can be negative", func() { NewJobs(s, double, JobsOptions{Limit: -1}) })
	mustPanic(t, "none can be negative", func() { NewJobs(s, double, JobsOptions{Workers: -1}) })
	mustPanic(t, "the function is nil", func() { NewJobs[int, int](s, nil, JobsOptions{}) })
	mustPanic(t, "must not hold Go pointers", func() {
		NewJobs(s, func(_ context.Context, text string) int { return len(text) }, JobsOptions{})
	})
	q := w.Query(c[0])
	for _, test := range []struct {
		says string
		f    func(x *Context)
	}{
		{"name the Jobs in the system's WritesResources, with Resources", func(x *Context) {
			jobs.Results(x)
		}},
		{"name the Jobs in the system's WritesResources, with Resources", func(x *Context) {
			_ = jobs.Start(x, question{})
		}},
		{"give the Context that the system receives", func(*Context) { _ = jobs.Start(nil, question{}) }},
		{"make the Jobs with the schedule of the system", func(x *Context) { foreign.Results(x) }},
		{"collect the inputs with Reduce, and start the jobs after it", func(x *Context) {
			x.Each(q, 64, func(x *Context, _ vast.Batch) { _ = jobs.Start(x, question{}) })
		}},
		{"collect the results in a slice before the parts", func(outer *Context) {
			outer.Split(2, func(*Context, int) { jobs.Results(outer) })
		}},
	} {
		s.Add(System{Name: "wrong", Run: test.f})
		var e *PanicError
		if err := s.Tick(); !errors.As(err, &e) {
			t.Fatalf("no panic: %v, want %q", err, test.says)
		}
		mustPanic(t, test.says, func() { panic(e.Value) })
		if err := s.Remove("wrong"); err != nil {
			t.Fatal(err)
		}
	}
	if st := s.Stats().Jobs[0]; st.Started != 0 {
		t.Errorf("misuse has started a job: %+v", st)
	}
	var none *Jobs[int, int]
	mustPanic(t, "make Jobs with NewJobs", func() { none.Resource() })
	mustPanic(t, "make Jobs with NewJobs", func() { _ = new(Jobs[int, int]).Start(nil, 1) })
	mustPanic(t, "make one with New", func() { NewJobs((*Schedule)(nil), double, JobsOptions{}) })
}

// TestJobsOrderSystems: the systems of the same Jobs run one after the other, and the Graph names the reason.
func TestJobsOrderSystems(t *testing.T) {
	w, _ := newWorld(t, 1)
	s := newSchedule(t, w, Options{Workers: 1})
	a := NewJobs(s, double, JobsOptions{Name: "a"})
	b := NewJobs(s, double, JobsOptions{Name: "b"})
	s.Add(System{Name: "1", WritesResources: Resources(a), Run: func(*Context) {}})
	s.Add(System{Name: "2", WritesResources: Resources(b), Run: func(*Context) {}})
	s.Add(System{Name: "3", WritesResources: Resources(a), Run: func(*Context) {}})
	if err := s.Build(); err != nil {
		t.Fatal(err)
	}
	if edges := fmt.Sprint(s.Graph().Edges); edges != "[{1 3 [both write a]}]" {
		t.Errorf("edges %s", edges)
	}
}

// BenchmarkJob starts and hands in one job in each tick.
func BenchmarkJob(b *testing.B) {
	w, _ := newWorld(b, 1)
	s := newSchedule(b, w, Options{Workers: 1})
	jobs := NewJobs(s, double, JobsOptions{Ticks: 10})
	s.Add(System{Name: "a", WritesResources: Resources(jobs), Run: func(x *Context) {
		for range jobs.Results(x) {
		}
		if err := jobs.Start(x, question{}); err != nil {
			b.Error(err)
		}
	}})
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Tick(); err != nil {
			b.Fatal(err)
		}
	}
}
