package inspect

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/clock/clocktest"
	"github.com/vastgo/vast/sched"
)

// ticking returns a schedule and a function that makes a tick of the given length.
func ticking(t *testing.T) (s *sched.Schedule, tick func(time.Duration)) {
	w := vast.NewWorld(vast.Options{})
	s = sched.New(w, sched.Options{Workers: 1})
	var length time.Duration
	s.Add(sched.System{Name: "wait", Run: func(*sched.Context) { time.Sleep(length) }})
	t.Cleanup(func() {
		s.Close()
		w.Close()
	})
	return s, func(d time.Duration) {
		t.Helper()
		length = d
		if err := s.Tick(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTickMeter(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		var m tickMeter
		s, tick := ticking(t)
		tick(time.Hour) // not measured, because it ends before the first read
		m.read(s)
		if got := m.sumUp(); got != (TickTimes{}) {
			t.Errorf("without measured ticks, the times are %+v", got)
		}
		for range 98 {
			tick(3 * time.Millisecond)
		}
		tick(40 * time.Millisecond)
		tick(2 * time.Second)
		m.read(s)
		m.read(s) // each tick counts once
		if got, want := m.sumUp(), (TickTimes{0.003, 0.04, 2}); got != want {
			t.Errorf("times %+v, want %+v", got, want)
		}
		if got := m.sumUp(); got != (TickTimes{}) {
			t.Errorf("the second sum is %+v", got)
		}
		tick(5 * time.Millisecond) // a bucket contains its upper bound
		m.read(s)
		h := m.histogram()
		if h.count != 101 || math.Abs(h.sum-(0.294+0.04+2+0.005)) > 1e-9 {
			t.Errorf("%d ticks, their sum is %v s; want 101 ticks, their sum 2.339 s", h.count, h.sum)
		}
		for bound, want := range map[float64]uint64{0.002: 0, 0.005: 99, 0.02: 99, 0.05: 100, 1: 100} {
			if h.buckets[bound] != want {
				t.Errorf("%d ticks took at most %v s, want %d ticks", h.buckets[bound], bound, want)
			}
		}

		other, tick := ticking(t)
		m.read(other)
		tick(time.Millisecond)
		m.read(other)
		if h := m.histogram(); h.count != 1 || h.buckets[0.001] != 1 {
			t.Errorf("the histogram of another schedule is %+v", h)
		}
	})
}

func TestTickMeterIsBounded(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		var m tickMeter
		s, tick := ticking(t)
		m.read(s)
		for range 3 {
			for range maxPending {
				tick(time.Millisecond)
			}
			m.read(s)
		}
		if len(m.pending) != maxPending {
			t.Errorf("%d ticks are pending, want %d", len(m.pending), maxPending)
		}
		if h := m.histogram(); h.count != 3*maxPending {
			t.Errorf("%d ticks were counted, want %d", h.count, 3*maxPending)
		}
	})
}

func TestTimesOf(t *testing.T) {
	var times []time.Duration
	for i := range 1000 {
		times = append(times, time.Duration(i+1)*time.Second)
	}
	seed := rand.Uint64()
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(times), func(i, j int) {
		times[i], times[j] = times[j],
			times[i]
	})
	if got, want := timesOf(times), (TickTimes{500, 990, 1000}); got != want {
		t.Errorf("seed %d: %+v, want %+v", seed, got, want)
	}
	if got, want := timesOf([]time.Duration{time.Second}), (TickTimes{1, 1, 1}); got != want {
		t.Errorf("times of one tick: %+v, want %+v", got, want)
	}
}
