package sched

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// fakeClock advances when Run waits for a duration, or when a test sets now.
type fakeClock struct {
	now    time.Time
	waits  []time.Duration
	asleep func() // called when Run waits without a limit
}

func (c *fakeClock) Now() time.Time { return c.now }

func (c *fakeClock) Wait(d time.Duration, wake <-chan struct{}) {
	select {
	case <-wake:
		return
	default:
	}
	if d < 0 {
		c.asleep()
		<-wake
		return
	}
	c.waits = append(c.waits, d)
	c.now = c.now.Add(d)
}

const ms = time.Millisecond

// loopOf returns a schedule of 100 ticks a second, and the schedule's clock. The schedule has one system,
// which calls f.
func loopOf(t *testing.T, f func(tick uint64, clock *fakeClock)) (*Schedule, *fakeClock) {
	w, _ := newWorld(t, 0)
	clock := &fakeClock{now: time.Unix(1000, 0)}
	s := newSchedule(t, w, Options{Workers: 1, Rate: 100, CatchUp: 3, Clock: clock})
	s.Add(System{Name: "a", Run: func(c *Context) { f(c.Tick(), clock) }})
	return s, clock
}

func TestRunKeepsTime(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	s, clock := loopOf(t, func(tick uint64, clock *fakeClock) {
		switch tick {
		case 2:
			clock.now = clock.now.Add(4 * ms)
		case 3:
			clock.now = clock.now.Add(25 * ms) // two more ticks are due
		case 7:
			clock.now = clock.now.Add(95 * ms) // nine more ticks are due; Run drops six
		case 12:
			stop()
		}
	})
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	// The waits after ticks 1, 2, 5, 6, 10 and 11.
	want := []time.Duration{10 * ms, 6 * ms, 5 * ms, 10 * ms, 5 * ms, 10 * ms}
	if !slices.Equal(clock.waits, want) {
		t.Errorf("waited %v, want %v", clock.waits, want)
	}
	st := s.Stats()
	if st.Tick != 12 || st.Dropped != 6 || st.Late != 3 {
		t.Errorf("tick %d, dropped %d, late %d", st.Tick, st.Dropped, st.Late)
	}
}

func TestPauseAndStep(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	var s *Schedule
	s, clock := loopOf(t, func(tick uint64, clock *fakeClock) {
		switch tick {
		case 2:
			s.Pause()
		case 6:
			stop()
		}
	})
	slept := 0
	var ticks []uint64
	clock.asleep = func() {
		ticks = append(ticks, s.Stats().Tick)
		slept++
		switch clock.now = clock.now.Add(time.Hour); slept {
		case 1:
			s.Step(2)
		case 2:
			s.Step(0)
		case 3:
			s.Resume()
		}
	}
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ticks, []uint64{2, 4, 4}) {
		t.Errorf("paused after %v", ticks)
	}
	if st := s.Stats(); st.Tick != 6 || st.Dropped != 0 || st.Late != 0 {
		t.Errorf("Run makes up for the hours of the pause: %+v", st)
	}
	if want := []time.Duration{10 * ms, 10 * ms}; !slices.Equal(clock.waits, want) {
		t.Errorf("waited %v, want %v", clock.waits, want)
	}
}

func TestRunEnds(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	ran := 0
	s, clock := loopOf(t, func(uint64, *fakeClock) { ran++ })
	s.Pause()
	clock.asleep = stop
	if err := s.Run(ctx); err != nil || ran != 0 {
		t.Errorf("Run, paused: %v; the system ran %d times, want 0", err, ran)
	}
	if err := s.Run(ctx); err != nil || ran != 0 {
		t.Errorf("Run after the end of ctx: %v; the system ran %d times, want 0", err, ran)
	}
	s, _ = loopOf(t, func(tick uint64, _ *fakeClock) {
		if tick == 3 {
			panic("a bug")
		}
	})
	var e *PanicError
	if err := s.Run(context.Background()); !errors.As(err, &e) || s.Stats().Tick != 3 {
		t.Errorf("%v after %d ticks", err, s.Stats().Tick)
	}
}

func TestMethodsDuringRun(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 2, Rate: 10_000})
	ran := make(chan uint64)
	ctx, stop := context.WithCancel(context.Background())
	s.Add(System{Name: "a", Run: func(c *Context) {
		select {
		case ran <- c.Tick():
		case <-ctx.Done():
		}
	}})
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	<-ran
	s.Pause()
	s.Step(3)
	for range 3 {
		<-ran
		_, _ = s.Stats(), s.Graph()
	}
	s.Resume()
	<-ran
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
