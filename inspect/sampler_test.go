package inspect

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/clock/clocktest"
	"github.com/vastgo/vast/sched"
)

// paced is a world with a schedule and a sampler, in the synthetic time of a test. The first send to the
// channel hang blocks the ticks, the next send releases them.
type paced struct {
	*sampler
	w        *vast.World
	schedule *sched.Schedule
	hang     chan struct{}
	looks    atomic.Int64 // number of the sampler's visits
}

// newPaced starts a world that makes 10 ticks a second. Each tick creates two entities and takes 30 ms.
func newPaced(t *testing.T, control Control) *paced {
	p := &paced{w: vast.NewWorld(vast.Options{MaxEntities: 1 << 18}), hang: make(chan struct{})}
	tag := vast.NewTag(p.w, "Made")
	a := p.w.Archetype(tag)
	p.schedule = sched.New(p.w, sched.Options{Workers: 1, Rate: 10})
	p.schedule.Add(sched.System{Name: "make", Run: func(c *sched.Context) {
		c.Commands().New(a)
		c.Commands().New(a)
		time.Sleep(30 * time.Millisecond)
	}})
	p.schedule.Add(sched.System{Name: "hang", Run: func(*sched.Context) {
		select {
		case <-p.hang:
			<-p.hang
		default:
		}
	}})
	in := &Inspector{world: p.w, options: Options{Control: control}}
	p.sampler = newSampler(p.w, in.mainSchedule, in.control)
	p.census.look = func(w *vast.World, c *census) bool {
		p.looks.Add(1)
		return takeCensus(w, c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.schedule.Run(ctx) }()
	t.Cleanup(func() {
		p.sampler.close()
		cancel()
		if err := errors.Join(<-ended, p.schedule.Close(), p.w.Close()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *paced) sample(t *testing.T) Sample {
	t.Helper()
	s, _, err := p.latest(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func near(got, want float64) bool { return got >= want*0.9 && got <= want*1.1 }

func TestSamplerTakesASampleASecond(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		p := newPaced(t, nil)
		time.Sleep(time.Minute) // without a request
		first := p.sample(t)    // its rates cover a quarter of a second
		time.Sleep(time.Second / 10)
		for range 10 {
			time.Sleep(time.Second)
			s := p.sample(t)
			if !near(s.TicksPerSecond, 10) || !near(s.ChangesPerSecond, 20) || s.BudgetSeconds != 0.1 ||
				!s.Admitting || s.Age > 0.1 {
				t.Errorf("sample %+v, pace %+v", s, s.Pace)
			}
			if want := (TickTimes{0.03, 0.03, 0.03}); s.TickSeconds != want {
				t.Errorf("times of ticks %+v, want %+v", s.TickSeconds, want)
			}
			if s.Entities != int(2*s.Tick) {
				t.Errorf("%d entities after %d ticks, want two entities a tick", s.Entities, s.Tick)
			}
		}
		past := p.past()
		if len(past) != 11 || past[0].At != first.At {
			t.Errorf("%d samples since %v, want 11 since %v", len(past), past[0].At, first.At)
		}
		for i := 1; i < len(past); i++ {
			if passed := past[i].At - past[i-1].At; !near(passed, 1) {
				t.Errorf("sample %d was taken %v s after sample %d, want 1 s", i, passed, i-1)
			}
		}
	})
}

// TestSamplerStopsWithoutReaders: without readers, the sampler does not visit the world and has no goroutine.
func TestSamplerStopsWithoutReaders(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		p := newPaced(t, nil)
		time.Sleep(time.Hour)
		if n := p.looks.Load(); n > 0 {
			t.Fatalf("%d visits before the first request", n)
		}
		p.sample(t)
		time.Sleep(watchTime + 2*time.Second)
		looks := p.looks.Load()
		if looks < 20 || looks > 24 {
			t.Errorf("%d visits in the %v after a request, want 20 to 24", looks, watchTime+2*time.Second)
		}
		p.loops.Wait() // hangs if the loop of the sampler still runs
		time.Sleep(time.Hour)
		if n := p.looks.Load() - looks; n != 0 {
			t.Errorf("%d visits without a reader, want 0", n)
		}
		before := len(p.past())
		p.sample(t)
		time.Sleep(1100 * time.Millisecond)
		if s := p.sample(t); before != 0 || !near(s.TicksPerSecond, 10) || !near(s.ChangesPerSecond, 20) ||
			s.TickSeconds.Worst != 0.03 {
			t.Errorf("%d samples are left after an hour, want 0; the next sample is %+v, pace %+v", before, s,
				s.Pace)
		}
	})
}

func TestSamplerReportsAWorldThatHangs(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		p := newPaced(t, nil)
		time.Sleep(time.Second)
		before := p.sample(t)
		p.hang <- struct{}{} // the next tick does not end
		time.Sleep(10 * time.Second)
		s := p.sample(t)
		if s.Admitting || s.Age < 8 || s.Age > 12 || s.Entities < before.Entities || s.TicksPerSecond != 0 ||
			s.ChangesPerSecond != 0 {
			t.Errorf("while the world hangs: %+v, pace %+v", s, s.Pace)
		}
		if n := len(p.past()); n < 8 {
			t.Errorf("%d samples while the world hangs for 10 s, want at least 8", n)
		}
		if c, err := p.costs(context.Background()); err != nil || len(c.Systems) != 2 || len(c.Columns) != 0 {
			t.Errorf("costs of a hanging world: %+v, %v", c, err)
		}
		p.hang <- struct{}{}
		time.Sleep(3 * time.Second)
		if s := p.sample(t); !s.Admitting || s.Age > 0.1 || !near(s.TicksPerSecond, 10) {
			t.Errorf("after the world hung: %+v, pace %+v", s, s.Pace)
		}
		if c, err := p.costs(context.Background()); err != nil || len(c.Columns) != 1 ||
			c.Columns[0].Name != "Made" {
			t.Errorf("costs after the world hung: %+v, %v", c, err)
		}
	})
}

func TestSamplerOfAWorldThatAdmitsNoVisits(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		w := vast.NewWorld(vast.Options{})
		in := &Inspector{world: w}
		s := newSampler(w, in.mainSchedule, in.control)
		now, systems, err := s.latest(context.Background())
		if err != nil || now.Pace != nil || len(systems) > 0 || now.Entities != 0 {
			t.Errorf("%+v, %v, %v", now, systems, err)
		}
		time.Sleep(5 * time.Second)
		if now, _, err = s.latest(context.Background()); err != nil || now.Admitting || now.Age < 4 {
			t.Errorf("%+v, %v", now, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		time.Sleep(time.Hour)
		if _, _, err := s.latest(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a reader whose context has ended: %v", err)
		}
		s.close()
		if _, _, err := s.latest(context.Background()); !errors.Is(err, vast.ErrClosed) {
			t.Errorf("after close: %v", err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

type controlled struct {
	Control
	paused bool
}

func (c *controlled) Paused() bool { return c.paused }

func (c *controlled) Pace() (budget time.Duration, late, dropped uint64) {
	return 20 * time.Millisecond, 3, 4
}

func TestSamplerAsksControl(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		p := newPaced(t, &controlled{paused: true})
		if s := p.sample(t); !s.Paused || s.BudgetSeconds != 0.02 || s.Late != 3 || s.Dropped != 4 {
			t.Errorf("%+v, pace %+v", s, s.Pace)
		}
	})
}

// TestSamplerFollowsAnotherSchedule: if another schedule becomes the main schedule, its values start at zero.
func TestSamplerFollowsAnotherSchedule(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		p := newPaced(t, nil)
		other := sched.New(p.w, sched.Options{Workers: 1})
		defer other.Close()
		var chosen atomic.Pointer[sched.Schedule]
		chosen.Store(p.schedule)
		p.sampler.schedule = chosen.Load
		p.sample(t)
		time.Sleep(time.Minute)
		p.sample(t)
		chosen.Store(other)
		time.Sleep(2500 * time.Millisecond)
		if s := p.sample(t); s.Tick != 0 || s.TicksPerSecond != 0 || s.TickSeconds.Worst != 0 {
			t.Errorf("the other schedule: %+v", s.Pace)
		}
		if got := (&Inspector{world: p.w}).mainSchedule(); got != p.schedule {
			t.Error("the main schedule is not the running schedule")
		}
	})
}
