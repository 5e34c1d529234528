package sched

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/trace"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/invariants"
)

func record(t *testing.T, s *Schedule, n int) []Recording {
	t.Helper()
	wait := s.Record(n)
	for range n {
		_ = s.Tick()
	}
	list, err := wait(context.Background())
	if err != nil || len(list) != n {
		t.Fatalf("%d ticks recorded, want %d: %v", len(list), n, err)
	}
	return list
}

func (r Recording) spansOf(kind SpanKind, system string) (list []Span) {
	for _, s := range r.Spans {
		if s.Kind == kind && s.System == system {
			list = append(list, s)
		}
	}
	return list
}

func (r Recording) check(t *testing.T) {
	t.Helper()
	if r.Took < 0 || r.Began.IsZero() {
		t.Errorf("began %v, took %v", r.Began, r.Took)
	}
	ends := make([]time.Duration, r.Workers)      // end of each worker's last outermost span
	innerEnds := make([]time.Duration, r.Workers) // end of each worker's last part or wait
	for i, s := range r.Spans {
		if s.Worker < 0 || s.Worker >= r.Workers || s.Start < 0 || s.End < s.Start || s.End > r.Took {
			t.Fatalf("span %+v of a tick of %v on %d workers", s, r.Took, r.Workers)
		}
		if i > 0 && s.Start < r.Spans[i-1].Start {
			t.Fatalf("span %d, %+v, begins before the previous span, %+v", i, s, r.Spans[i-1])
		}
		if s.Start == s.End {
			continue // with a coarse clock the order of a span of length 0 is arbitrary
		}
		outer := s.Start >= ends[s.Worker]
		if !outer && s.End > ends[s.Worker] {
			t.Fatalf("%+v overlaps another span of its worker that ends at %v", s, ends[s.Worker])
		}
		if (s.Kind == RanSystem || s.Kind == AppliedCommands) && !outer {
			t.Fatalf("%+v begins before another span of its worker ends at %v", s, ends[s.Worker])
		}
		if outer {
			ends[s.Worker], innerEnds[s.Worker] = s.End, s.Start
		} else {
			if s.Start < innerEnds[s.Worker] {
				t.Fatalf("%+v overlaps a part that ends at %v", s, innerEnds[s.Worker])
			}
			innerEnds[s.Worker] = s.End
		}
	}
	var last time.Duration
	for _, p := range r.Phases {
		if p.Start < last || p.End < p.Start {
			t.Errorf("phase %+v begins before %v, or ends before it begins", p, last)
		}
		last = p.End
	}
	if last > r.Took {
		t.Errorf("the last phase ends at %v, the tick at %v", last, r.Took)
	}
}

func TestRecord(t *testing.T) {
	for _, workers := range []int{1, 2, 4, 9} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			w, c := newWorld(t, 4)
			a := w.Archetype(c[0], c[1])
			a.NewN(10_000, nil)
			q := w.Query(c[0])
			s := newSchedule(t, w, Options{Workers: workers})
			s.Add(System{Name: "each", Writes: Columns(c[0]), Run: func(x *Context) {
				x.Each(q, 64, func(x *Context, b vast.Batch) {
					for e := range b.All() {
						*c[0].Get(e)++
					}
				})
			}})
			s.Add(System{Name: "after", Reads: Columns(c[0]), Run: func(x *Context) { x.Commands().New(a) }})
			s.Add(System{Name: "beside", Writes: Columns(c[1]), Run: func(x *Context) {
				x.Split(7, func(*Context, int) {})
			}})
			s.Add(System{Name: "never", If: func(*Context) bool { return false }, Run: nothing})
			s.Add(System{Name: "alone", Phase: "second", Exclusive: true, Run: nothing})
			tick(t, s, 3)
			if _, ok := s.Recording(); ok {
				t.Error("a tick was recorded without a call of Record")
			}
			list := record(t, s, 3)
			for i, r := range list {
				r.check(t)
				if r.Tick != uint64(4+i) || r.Workers != workers || r.Lost != 0 {
					t.Errorf("tick %d, %d workers, lost %d", r.Tick, r.Workers, r.Lost)
				}
				each, after := r.spansOf(RanSystem, "each"), r.spansOf(RanSystem, "after")
				beside, alone := r.spansOf(RanSystem, "beside"), r.spansOf(RanSystem, "alone")
				if len(each) != 1 || len(after) != 1 || len(beside) != 1 || len(alone) != 1 ||
					r.spansOf(RanSystem, "never") != nil {
					t.Fatalf(`runs of the systems "each": %d, "after": %d, "beside": %d, "alone": %d, `+
						`want 1 run of each; runs of "never": %v, want no run`, len(each), len(after),
						len(beside), len(alone), r.spansOf(RanSystem, "never"))
				}
				if after[0].Start < each[0].End {
					t.Errorf("%+v begins before the end of %+v", after[0], each[0])
				}
				atLeast := map[string]int{"each": (w.Len() - len(list) + i + 63) / 64, "beside": 7}
				for system, want := range atLeast {
					var parts []int
					for _, p := range r.spansOf(RanPart, system) {
						parts = append(parts, p.Part)
						if whole := r.spansOf(RanSystem, system)[0]; p.Start < whole.Start ||
							p.End > whole.End {
							t.Errorf("%+v lies outside of %+v", p, whole)
						}
					}
					slices.Sort(parts)
					if n := len(parts); n < want || parts[0] != 0 || parts[n-1] != n-1 ||
						len(slices.Compact(parts)) != n {
						t.Errorf("parts of %s, want at least %d: %v", system, want, parts)
					}
				}
				commands := r.spansOf(AppliedCommands, "")
				if len(commands) != 1 || commands[0].Worker != 0 || commands[0].Start < after[0].End ||
					alone[0].Start < commands[0].End {
					t.Errorf("spans of commands %+v, of their system %+v, of the next phase %+v", commands,
						after, alone)
				}
				if len(r.Phases) != 2 || r.Phases[0].Phase != Update || r.Phases[1].Phase != "second" ||
					r.Phases[0].End < commands[0].End || r.Phases[1].Start > alone[0].Start ||
					r.Phases[1].End < alone[0].End {
					t.Errorf("phases %+v", r.Phases)
				}
			}
			if last, ok := s.Recording(); !ok || last.Tick != 6 || !slices.Equal(last.Spans, list[2].Spans) {
				t.Errorf("the last recording is of tick %d, %v", last.Tick, ok)
			}
			tick(t, s, 2)
			if last, _ := s.Recording(); last.Tick != 6 || len(s.observers.unused) != 0 {
				t.Errorf("the schedule still records: tick %d, room for %d ticks", last.Tick,
					len(s.observers.unused))
			}
		})
	}
}

func TestRecordIsBounded(t *testing.T) {
	w, _ := newWorld(t, 0)
	for workers, room := range map[int]int{1: 8192, 64: 256} {
		s := newSchedule(t, w, Options{Workers: workers})
		const parts = 100_000
		s.Add(System{Name: "many", Run: func(x *Context) {
			for range 2 {
				x.Split(parts/2, func(*Context, int) {})
			}
		}})
		s.Add(System{Name: "after", After: []string{"many"}, Run: nothing})
		r := record(t, s, 1)[0]
		r.check(t)
		kept := len(r.spansOf(RanPart, "many")) + len(r.spansOf(AwaitedParts, "many"))
		if kept > room*workers || kept+r.Lost < parts || kept+r.Lost > parts+2 ||
			len(r.spansOf(RanSystem, "after")) != 1 {
			t.Errorf("%d workers: of %d parts and at most 2 waits, %d are kept and %d lost", workers, parts,
				kept, r.Lost)
		}
		if workers == 1 && kept != room {
			t.Errorf("kept %d, want %d", kept, room)
		}
	}
}

// TestRecordFailures: a panic or Goexit that stops a tick also ends its recording.
func TestRecordFailures(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		w, _ := newWorld(t, 0)
		s := newSchedule(t, w, Options{Workers: workers})
		where := ""
		s.Add(System{Name: "first", Run: nothing})
		s.Add(System{Name: "bad", After: []string{"first"}, Run: func(x *Context) {
			if where == "system" {
				panic(where)
			}
			x.Split(100, func(_ *Context, i int) {
				if where == "part" && i == 50 {
					panic(where)
				}
			})
		}})
		s.Add(System{Name: "after", Phase: "next", Run: nothing})
		for _, where = range []string{"system", "part"} {
			r := record(t, s, 1)[0]
			r.check(t)
			if len(r.spansOf(RanSystem, "first")) != 1 || len(r.spansOf(RanSystem, "bad")) != 1 ||
				r.spansOf(RanSystem, "after") != nil ||
				len(r.Phases) != 1 {
				t.Errorf("panic in %s: %+v", where, r)
			}
			for _, p := range r.spansOf(RanPart, "bad") {
				if p.Part == 50 {
					t.Errorf("the recording has a part that panicked: %+v", p)
				}
			}
			where = ""
			if r = record(t, s, 1)[0]; len(r.spansOf(RanPart, "bad")) != 100 ||
				len(r.spansOf(RanSystem, "after")) != 1 {
				t.Errorf("the tick after the panic: %+v", r)
			}
		}
	}
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1})
	s.Add(System{Name: "ends", Run: func(*Context) { runtime.Goexit() }})
	wait := s.Record(1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Tick()
	}()
	if list, err := wait(context.Background()); err != nil || list[0].Tick != 1 || list[0].Spans != nil {
		t.Errorf("%+v, %v", list, err)
	}
	<-ended
}

func TestRecordEndsWithContextAndSchedule(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 2})
	s.Add(System{Name: "a", Run: nothing})
	ctx, cancel := context.WithCancel(context.Background())
	five, three := s.Record(5), s.Record(3)
	tick(t, s, 2)
	cancel()
	if list, err := five(ctx); !errors.Is(err, context.Canceled) || len(list) != 2 || list[1].Tick != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	if n := len(s.observers.unused); n != 1 {
		t.Errorf("room for %d ticks, want 1", n)
	}
	tick(t, s, 1)
	for range 2 { // wait may be called again
		if list, err := three(context.Background()); err != nil || len(list) != 3 || list[2].Tick != 3 ||
			s.observers.wanted.Load() != 0 {
			t.Errorf("%+v, %v", list, err)
		}
	}
	if list, err := five(context.Background()); err != context.Canceled || len(list) != 2 {
		t.Errorf("after the wait was cancelled: %+v, %v", list, err)
	}
	wait := s.Record(1)
	s.Close()
	if list, err := wait(context.Background()); err != ErrClosed || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := s.Record(1)(context.Background()); err != ErrClosed || len(list) != 0 {
		t.Errorf("on a closed schedule: %+v, %v", list, err)
	}
	for _, ticks := range []int{-1, 0, MaxRecorded + 1} {
		mustPanic(t, "Schedule.Record of ", func() { s.Record(ticks) })
	}
}

// TestRecordBesideTicks: each call of Record gets consecutive ticks.
func TestRecordBesideTicks(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 3})
	for i := range 6 {
		s.Add(System{Name: fmt.Sprint(i), Run: func(x *Context) { x.Split(20, func(*Context, int) {}) }})
	}
	var asking sync.WaitGroup
	for i := range 8 {
		asking.Go(func() {
			for k := range 10 {
				n := 1 + (i+k)%MaxRecorded
				ctx, cancel := context.WithCancel(context.Background())
				if k%3 == 2 {
					cancel() // before wait is called
				}
				list, err := s.Record(n)(ctx)
				cancel()
				if err == nil && len(list) != n || err != nil && err != context.Canceled {
					t.Errorf("%d of %d ticks recorded: %v", len(list), n, err)
				}
				for j, r := range list {
					r.check(t)
					if r.Tick != list[0].Tick+uint64(j) || len(r.spansOf(RanSystem, "5")) != 1 {
						t.Errorf("recording %d is of tick %d and has %d spans; recording 0 is of tick %d", j,
							r.Tick, len(r.Spans), list[0].Tick)
					}
				}
				_, _ = s.Recording()
			}
		})
	}
	done := make(chan struct{})
	go func() {
		asking.Wait()
		close(done)
	}()
	for {
		select {
		case <-done:
			if n := len(s.observers.unused); n != 0 || s.observers.wanted.Load() != 0 {
				t.Errorf("room for %d ticks is left", n)
			}
			return
		default:
			tick(t, s, 1)
		}
	}
}

func TestRecordCostsNoAllocations(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1})
	part := func(*Context, int) {}
	s.Add(System{Name: "a", Run: func(x *Context) { x.Split(20, part) }})
	tick(t, s, 2)
	if n := testing.AllocsPerRun(100, func() { _ = s.Tick() }); n != 0 && !invariants.Enabled {
		t.Errorf("%v allocations a tick", n)
	}
	q := &request{left: 1, done: make(chan struct{}), recorded: make([]*recorder, 0, 1)}
	s.observers.add(q, 1)
	r := s.observers.unused[0]
	r.phases = make([]PhaseSpan, 0, 1)
	before := &r.workers[0].list[:1][0]
	tick(t, s, 1)
	if after := r.workers[0].list; len(after) != 21 || &after[0] != before {
		t.Errorf("the list has %d spans, want 21; it was reallocated: %v", len(after), &after[0] != before)
	}
}

func TestTrace(t *testing.T) {
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Skip("tracing is already on:", err)
	}
	w, c := newWorld(t, 1)
	a := w.Archetype(c[0])
	s := newSchedule(t, w, Options{Workers: 2})
	s.Add(System{Name: "a system to be traced", Run: func(x *Context) {
		x.Commands().New(a)
		var both sync.WaitGroup
		both.Add(2) // each part waits until the other part runs, so the parts run on two workers
		x.Split(2, func(*Context, int) { both.Done(); both.Wait() })
	}})
	s.Add(System{Name: "one that panics", After: []string{"a system to be traced"}, Phase: "next",
		Run: func(*Context) {
			panic("!")
		}})
	for range 2 {
		if s.Tick() == nil {
			t.Error("the tick did not report the panic")
		}
	}
	trace.Stop()
	for _, name := range []string{"a system to be traced", "parts of a system to be traced",
		"one that panics", "commands", "tick"} {
		if !bytes.Contains(out.Bytes(), []byte(name)) {
			t.Errorf("the trace does not name %q", name)
		}
	}
	if s.observers.task != nil || s.observers.trace != nil {
		t.Error("the trace task has not ended")
	}
}
