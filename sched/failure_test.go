package sched

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/vastgo/vast"
)

func TestPanic(t *testing.T) {
	bug := errors.New("a bug")
	for _, workers := range []int{1, 2, 4} {
		w, c := newWorld(t, 1)
		a := w.Archetype(c[0])
		a.NewN(1000, nil)
		q := w.Query(c[0])
		s := newSchedule(t, w, Options{Workers: workers})
		where, after := "", 0
		s.Add(System{Name: "make", Run: func(x *Context) { x.Commands().New(a) }})
		s.Add(System{Name: "bad", After: []string{"make"}, Writes: Columns(c[0]), Run: func(x *Context) {
			if where == "system" {
				panic(bug)
			}
			if where == "goexit" {
				runtime.Goexit()
			}
			x.Each(q, 64, func(_ *Context, b vast.Batch) {
				x := b.Len()
				if x > 0 && where == "part" {
					panic(bug)
				}
			})
			if where == "nested" {
				x.Each(q, 64, func(x *Context, _ vast.Batch) { x.Each(q, 64, nil) })
			}
		}})
		s.Add(System{Name: "after", Phase: "next", Run: func(*Context) { after++ }})
		for i, place := range []string{"system", "part", "nested"} {
			where = place
			var e *PanicError
			err := s.Tick()
			if !errors.As(err, &e) || e.System != "bad" ||
				!strings.Contains(string(e.Stack), "failure_test.go") ||
				!strings.Contains(err.Error(), `system "bad" panicked`) {
				t.Fatalf("%s: %v", place, err)
			}
			if place != "nested" && (e.Value != bug || !errors.Is(err, bug)) {
				t.Errorf("%s: %v", place, err)
			}
			if w.Len() != 1000+i || after != i {
				t.Errorf("%s: %d entities, the next phase ran %d times", place, w.Len(), after)
			}
			where = ""
			tick(t, s, 1)
		}
		// If a worker other than the goroutine of Tick runs the system, Tick returns an error. Otherwise
		// Goexit ends the goroutine of Tick, and ended is closed without a value.
		where = "goexit"
		ended := make(chan error, 1)
		go func() {
			defer close(ended)
			ended <- s.Tick()
		}()
		if err, ok := <-ended; ok {
			var e *PanicError
			if !errors.As(err, &e) || e.Value != goexit {
				t.Errorf("%v", err)
			}
		}
		where = ""
		tick(t, s, 3)
		if w.Len() != 1006 || after != 6 {
			t.Errorf("%d entities, the next phase ran %d times", w.Len(), after)
		}
	}
}

// TestGoexitOnWorker: a worker gets a new goroutine after Goexit.
func TestGoexitOnWorker(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 2})
	meet := make(chan struct{})
	s.Add(System{Name: "a", Run: func(x *Context) {
		meet <- struct{}{}
		if x.worker != s.team.workers[0] {
			runtime.Goexit()
		}
	}})
	s.Add(System{Name: "b", Run: func(x *Context) {
		<-meet
		if x.worker != s.team.workers[0] {
			runtime.Goexit()
		}
	}})
	if serial(s) {
		t.Skip("systems run one after the other")
	}
	for range 3 { // each tick hangs if a worker is missing
		var e *PanicError
		if err := s.Tick(); !errors.As(err, &e) || e.Value != goexit {
			t.Fatalf("%v", err)
		}
	}
}

// TestHookPanics: the next tick applies the commands that remain after the panic of a hook.
func TestHookPanics(t *testing.T) {
	w, c := newWorld(t, 1)
	a := w.Archetype(c[0])
	c[0].OnAdd(func(_ vast.Entity, v *uint64) {
		if w.Len() == 2 {
			panic("a hook's bug")
		}
	})
	s := newSchedule(t, w, Options{Workers: 2})
	s.Add(System{Name: "make", Run: func(x *Context) {
		for range 3 {
			x.Commands().New(a)
		}
	}})
	var e *PanicError
	if err := s.Tick(); !errors.As(err, &e) || e.System != "" || e.Value != "a hook's bug" {
		t.Fatalf("%v", err)
	}
	if w.Len() != 2 {
		t.Errorf("%d entities", w.Len())
	}
	tick(t, s, 1)
	if w.Len() != 3 || s.Stats().Tick != 1 {
		t.Errorf("%d entities after tick %d", w.Len(), s.Stats().Tick)
	}
}

func TestMisuseOfSchedule(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1})
	s.Add(System{Name: "a", Run: func(*Context) { s.Add(System{Name: "b", Run: nothing}) }})
	var e *PanicError
	if err := s.Tick(); !errors.As(err, &e) ||
		!strings.Contains(err.Error(), "Schedule.Add while the schedule is at work") {
		t.Errorf("%v", err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	w2, c := newWorld(t, 1)
	a := w2.Archetype(c[0])
	late := New(w2, Options{Workers: 2})
	late.Add(System{Name: "a", Run: func(x *Context) { x.Commands().New(a) }})
	tick(t, late, 1)
	if err := w2.Close(); err != nil {
		t.Error(err)
	}
	if err := late.Tick(); !errors.As(err, &e) || e.System != "a" ||
		!strings.Contains(err.Error(), "closed world") {
		t.Errorf("%v", err)
	}
	if err := late.Close(); err != nil {
		t.Error(err)
	}
	mustPanic(t, "closed schedule", func() { s.Tick() })
	mustPanic(t, "Step(-1)", func() { s.Step(-1) })
}
