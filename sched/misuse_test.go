package sched

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vastgo/vast"
)

func TestZeroValues(t *testing.T) {
	var c Context
	var s Schedule
	for i, test := range []struct {
		do   func()
		says string
	}{
		{func() { s.Add(System{Name: "a", Run: func(*Context) {}}) }, "make one with New"},
		{func() { _ = s.Build() }, "make one with New"},
		{func() { _ = s.Tick() }, "make one with New"},
		{func() { _ = s.Run(t.Context()) }, "make one with New"},
		{func() { _ = s.Close() }, "make one with New"},
		{func() { s.Stats() }, "make one with New"},
		{func() { s.Graph() }, "make one with New"},
		{func() { s.Pause() }, "make one with New"},
		{func() { s.Step(1) }, "make one with New"},
		{func() { _ = (*Schedule)(nil).Tick() }, "make one with New"},
		{func() { c.World() }, "the Context that the system receives"},
		{func() { c.System() }, "the Context that the system receives"},
		{func() { c.Tick() }, "the Context that the system receives"},
		{func() { c.Delta() }, "the Context that the system receives"},
		{func() { c.Seconds() }, "the Context that the system receives"},
		{func() { c.Elapsed() }, "the Context that the system receives"},
		{func() { c.Seed() }, "the Context that the system receives"},
		{func() { c.Commands() }, "the Context that the system receives"},
		{func() { c.Random(vast.Entity{}) }, "the Context that the system receives"},
		{func() { Resources(ResourceOf[int](), nil) }, "argument 2 is nil: give a queue, Jobs, or"},
		{func() { c.Each(vast.Query{}, 1, nil) }, "the Context that the system receives"},
		{func() { Reduce[int](&c, vast.Query{}, 1, nil, nil) }, "the Context that the system receives"},
		{func() { Reduce[int](nil, vast.Query{}, 1, nil, nil) }, "the Context that the system receives"},
	} {
		func() {
			defer func() {
				if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), test.says) {
					t.Errorf("case %d panics with %v, want %q", i, v, test.says)
				}
			}()
			test.do()
		}()
	}
}

// TestOuterContextInPart: a part must not use the system's Context for Commands, Each, Split or Reduce.
func TestOuterContextInPart(t *testing.T) {
	for _, workers := range []int{1, 4} {
		for says, misuse := range map[string]func(outer *Context, q vast.Query){ // by a part of the error
			"uses its own Context in a part": func(outer *Context, _ vast.Query) { outer.Commands() },
			"calls Each, Split or Reduce inside a": func(outer *Context, q vast.Query) {
				outer.Each(q, 64, func(*Context, vast.Batch) {})
			},
			"calls Each, Split or Reduce inside a part": func(outer *Context, q vast.Query) {
				Reduce(outer, q, 64, func(*Context, vast.Batch) int { return 1 }, func(a, b int) int {
					return a + b
				})
			},
		} {
			w, c := newWorld(t, 1)
			w.Archetype(c[0]).NewN(1000, nil)
			q := w.Query(c[0])
			s := newSchedule(t, w, Options{Workers: workers})
			s.Add(System{Name: "a", Run: func(outer *Context) {
				outer.Commands()
				outer.Each(q, 64, func(part *Context, _ vast.Batch) {
					part.Commands()
					if outer.Tick() == 1 {
						misuse(outer, q)
					}
				})
				outer.Commands()
			}})
			var panicked *PanicError
			if err := s.Tick(); !errors.As(err, &panicked) || !strings.Contains(err.Error(), says) {
				t.Errorf("%d workers: %v, want %q", workers, err, says)
			}
			tick(t, s, 1)
		}
	}
}
