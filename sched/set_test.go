package sched

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

func TestSetOrder(t *testing.T) {
	w, c := newWorld(t, 1)
	s := newSchedule(t, w, Options{Workers: 1})
	s.ConfigureSet("draw", SetOptions{After: []string{"physics"}})
	s.Add(System{Name: "sky", Sets: []Set{"draw"}, Writes: Columns(c[0]), Run: nothing})
	s.Add(System{Name: "ships", Sets: []Set{"draw"}, After: []string{"draw"}, Run: nothing})
	s.Add(System{Name: "free", Run: nothing})
	s.Add(System{Name: "move", Sets: []Set{"physics"}, Writes: Columns(c[0]), Run: nothing})
	s.Add(System{Name: "collide", Sets: []Set{"physics", "slow"}, Run: nothing})
	s.Add(System{Name: "input", Before: []string{"physics"}, Run: nothing})
	s.ConfigureSet("slow", SetOptions{After: []string{"move"}})
	if got := order(t, s); got != "free input move collide sky ships" {
		t.Errorf("order %s", got)
	}
	want := []string{
		"move>sky: set draw is After physics; both write A", "collide>sky: set draw is After physics",
		"sky>ships: ships is After draw", "move>ships: set draw is After physics",
		"collide>ships: set draw is After physics", "move>collide: set slow is After move",
		"input>move: input is Before physics", "input>collide: input is Before physics",
	}
	if got := edges(s); !slices.Equal(got, want) {
		t.Errorf("edges %q", got)
	}
	if dot := s.Graph().DOT(); !strings.Contains(dot, `collide\nin physics, slow`) {
		t.Errorf("the drawing shows no sets:\n%s", dot)
	}
	s.ConfigureSet("physics", SetOptions{After: []string{"draw"}})
	var e *OrderError
	if err := s.Tick(); !errors.As(err, &e) || !strings.Contains(err.Error(), "cycle") {
		t.Errorf("a cycle of two sets gives %v", err)
	}
	s.ConfigureSet("physics", SetOptions{Before: []string{"drw"}})
	if err := s.Tick(); !errors.As(err, &e) || !strings.Contains(err.Error(),
		`set "physics" names "drw" in Before`) {
		t.Errorf("an unknown name gives %v", err)
	}
	s.ConfigureSet("physics", SetOptions{Before: []string{"slow"}})
	tick(t, s, 1)
}

// TestSetCondition: the condition of a set is called once a tick, and decides about the set in all phases.
func TestSetCondition(t *testing.T) {
	for _, workers := range []int{1, 4} {
		w, c := newWorld(t, 1)
		e := w.Archetype(c[0]).New()
		s := newSchedule(t, w, Options{Workers: workers})
		var ran [5]atomic.Int32
		calls := 0
		s.ConfigureSet("even", SetOptions{If: func(x *Context) bool {
			calls++
			if x.System() != "condition of set even" {
				t.Errorf("the condition belongs to %q", x.System())
			}
			return *c[0].Get(e)%2 == 0
		}})
		s.ConfigureSet("late", SetOptions{If: func(x *Context) bool { return x.Tick() > 2 }})
		for i, sets := range [][]Set{{"even"}, {"late"}, {"even", "late"}, nil} {
			s.Add(System{Name: fmt.Sprint(i), Sets: sets, Run: func(*Context) { ran[i].Add(1) }})
		}
		s.Add(System{Name: "count", Writes: Columns(c[0]), Run: func(*Context) { *c[0].Get(e)++ }})
		s.Add(System{Name: "4", Phase: "end", Sets: []Set{"even"}, Run: func(*Context) { ran[4].Add(1) }})
		tick(t, s, 5) // the value is 0, 1, 2, 3, 4 when the ticks begin
		for i, want := range []int32{3, 3, 2, 5, 3} {
			if got := ran[i].Load(); got != want {
				t.Errorf("%d workers: system %d ran %d times, want %d", workers, i, got, want)
			}
		}
		if calls != 5 {
			t.Errorf("%d workers: %d calls of the condition", workers, calls)
		}
	}
}

func TestSetConditionPanics(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1})
	ran := 0
	s.ConfigureSet("a", SetOptions{If: func(c *Context) bool {
		if c.Tick() == 1 {
			panic("a bug")
		}
		return true
	}})
	s.Add(System{Name: "x", Sets: []Set{"a"}, Run: func(*Context) { ran++ }})
	var e *PanicError
	if err := s.Tick(); !errors.As(err, &e) || e.System != "condition of set a" || ran != 0 {
		t.Errorf("%v, ran %d", err, ran)
	}
	tick(t, s, 1)
	if ran != 1 {
		t.Errorf("ran %d times", ran)
	}
	mustPanic(t, "the set has no name", func() { s.ConfigureSet("", SetOptions{}) })
	mustPanic(t, "a set without a name", func() { s.Add(System{Name: "y", Sets: []Set{""}, Run: nothing}) })
}
