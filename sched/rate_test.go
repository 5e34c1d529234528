package sched

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestRate: in each of the first three seconds, a system runs as often as its Rate or its Every says. From
// the second run on, Delta is the time since the previous run.
func TestRate(t *testing.T) {
	w, _ := newWorld(t, 0)
	for _, test := range []struct{ of, rate, every, offset int }{
		{60, 60, 0, 0}, {60, 1, 0, 0}, {60, 25, 0, 0}, {60, 25, 0, 7}, {60, 59, 0, 59}, {7, 3, 0, 2},
		{50, 0, 1, 0}, {50, 0, 50, 49}, {10, 0, 10, 3}, {1, 1, 0, 0},
	} {
		s := newSchedule(t, w, Options{Workers: 1, Rate: test.of})
		runs, perSecond := 0, test.rate
		if test.every > 0 {
			perSecond = test.of / test.every
		}
		var last uint64
		sys := System{Name: "a", Rate: test.rate, Every: test.every, Offset: test.offset}
		sys.Run = func(c *Context) {
			runs++
			step := time.Second / time.Duration(test.of)
			if last > 0 && c.Delta() != step*time.Duration(c.Tick()-last) {
				t.Errorf("%+v: after tick %d, Delta is %v in tick %d", test, last, c.Delta(), c.Tick())
			}
			last = c.Tick()
		}
		s.Add(sys)
		for second := range 3 {
			tick(t, s, test.of)
			if want := (second + 1) * perSecond; runs != want {
				t.Errorf("%+v: %d runs in %d seconds, want %d", test, runs, second+1, want)
			}
		}
	}
}

func TestEveryAndOffset(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1, Rate: 10})
	var ran []string
	for i := range 3 {
		s.Add(System{Name: fmt.Sprint("s", i), Every: 3, Offset: i, Run: func(c *Context) {
			ran = append(ran, fmt.Sprint(c.System(), "@", c.Tick()))
			if c.Delta() != 300*time.Millisecond || c.Seconds() != 0.3 {
				t.Errorf("tick %d: Delta is %v", c.Tick(), c.Delta())
			}
			c.Split(2, func(part *Context, _ int) {
				if part.Delta() != c.Delta() {
					t.Errorf("a part has Delta %v", part.Delta())
				}
			})
		}})
	}
	starts := func(c *Context) {
		if c.Delta() != 100*time.Millisecond {
			t.Errorf("Delta is %v in Start", c.Delta())
		}
	}
	s.Add(System{Name: "if", Every: 2, Start: starts, Run: func(c *Context) { ran = append(ran, "if") },
		If: func(c *Context) bool {
			if c.Tick()%2 != 0 {
				t.Errorf("If is called in tick %d", c.Tick())
			}
			return c.Tick() == 4
		}})
	tick(t, s, 5)
	if want := []string{"s1@1", "s2@2", "s0@3", "s1@4", "if", "s2@5"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
	if g := s.Graph().Systems[1]; g.Every != 3 || g.Offset != 1 {
		t.Errorf("the graph has %+v", g)
	}
}

// TestRateFarAhead: a rate is exact in any tick.
func TestRateFarAhead(t *testing.T) {
	const second = 1_000_000_000
	for _, r := range []rate{{1, 7, 3}, {second - 1, second, second - 2}, {25, 60, 59}, {1, 1 << 62, 5}} {
		for _, from := range []uint64{1 << 40, 1<<63 - 100} {
			last := uint64(0)
			for tick := from; tick < from+300; tick++ {
				if !r.due(tick) {
					continue
				}
				if last > 0 && r.steps(tick) != tick-last {
					t.Errorf("%+v: %d steps in tick %d after tick %d", r, r.steps(tick), tick, last)
				}
				last = tick
			}
		}
	}
}

// TestElapsed: the time since the start is the same in all systems, and rounding errors do not add up.
func TestElapsed(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1, Rate: 60})
	want := func(ticks uint64) time.Duration { return time.Duration(ticks * 1_000_000_000 / 60) }
	check := func(c *Context) {
		if c.Elapsed() != want(c.Tick()) {
			t.Errorf("%s: Elapsed is %v in tick %d, want %v", c.System(), c.Elapsed(), c.Tick(),
				want(c.Tick()))
		}
	}
	s.Add(System{Name: "all", Start: check, Run: check})
	s.Add(System{Name: "some", Every: 4, Offset: 1, Run: func(c *Context) {
		check(c)
		c.Split(2, func(part *Context, _ int) { check(part) })
	}})
	s.Add(System{Name: "rate", Rate: 25, If: func(c *Context) bool {
		check(c)
		return true
	}, Run: check})
	tick(t, s, 61)
	if c := s.nodes[0].context; c.Elapsed() != time.Second+want(1) {
		t.Errorf("%v have passed in 61 ticks", c.Elapsed())
	}
	for _, rate := range []int{1, 7, 1_000_000_000} {
		far := newSchedule(t, w, Options{Workers: 1, Rate: rate})
		far.Add(System{Name: "a", Run: nothing})
		far.number = uint64(rate)*9e9 + uint64(rate) - 1 // 285 years
		wants := 9e9*time.Second + time.Second*time.Duration(rate-1)/time.Duration(rate)
		if c := far.nodes[0].context; c.Elapsed() != wants {
			t.Errorf("Rate %d: Elapsed is %v, want %v", rate, c.Elapsed(), wants)
		}
	}
	if err := s.Reset(1); err != nil {
		t.Fatal(err)
	}
	tick(t, s, 1)
}

func TestRateMisuse(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1, Rate: 30})
	for want, sys := range map[string]System{
		"Every is -1":                    {Every: -1},
		"Rate -2":                        {Rate: -2},
		"Offset -3":                      {Every: 9, Offset: -3},
		"leave one of them out":          {Every: 2, Rate: 2},
		"a second has 30 ticks":          {Rate: 31},
		"use an Offset less than 3, the": {Every: 3, Offset: 3},
		"use an Offset less than 30":     {Rate: 7, Offset: 30},
		"use an Offset less than 1":      {Offset: 1},
	} {
		sys.Name, sys.Run = "a", nothing
		mustPanic(t, want, func() { s.Add(sys) })
	}
}
