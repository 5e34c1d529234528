package earth

import (
	"errors"
	"io"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/earth/atlas"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/internal/clock/clocktest"
)

// fakeWorld is a world whose ticks and paintings take the time that a test chooses.
type fakeWorld struct {
	counts  simulation.Counts
	tick    func(n uint64) (time.Duration, error)
	paint   time.Duration
	painted []uint64 // the tick numbers at which Paint was called
	began   []time.Time
}

func (w *fakeWorld) Tick() error {
	w.began = append(w.began, time.Now())
	if w.tick != nil {
		d, err := w.tick(w.counts.Ticks)
		time.Sleep(d)
		if err != nil {
			return err
		}
	}
	w.counts.Ticks++
	w.counts.StructuralChanges += 10
	return nil
}

func (w *fakeWorld) Counts() simulation.Counts { return w.counts }
func (w *fakeWorld) Hash() string              { return "hash" + strconv.FormatUint(w.counts.Ticks, 10) }

// Paint puts 500 people in Europe, 100 of them ill, and 20 in Brazil.
func (w *fakeWorld) Paint(m *atlas.Map, density, infected []uint32) {
	time.Sleep(w.paint)
	w.painted = append(w.painted, w.counts.Ticks)
	density[m.Dot(48, 2)] += 500
	infected[m.Dot(48, 2)] += 100
	density[m.Dot(-10, -50)] += 20
}

func steady(d time.Duration) func(uint64) (time.Duration, error) {
	return func(uint64) (time.Duration, error) { return d, nil }
}

func TestDriverKeepsTheRate(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		w := &fakeWorld{tick: steady(3 * time.Millisecond)}
		d := newDriver(w, options{hz: 50, length: 10 * time.Second})
		d.start(nil)
		<-d.done
		if w.counts.Ticks != 500 || d.late != 0 || d.err != nil {
			t.Fatalf("%d ticks in 10 s at 50 Hz, %d late, error %v; want 500, 0 and none", w.counts.Ticks,
				d.late, d.err)
		}
		for i, at := range w.began {
			if due := time.Duration(i) * 20 * time.Millisecond; at.Sub(w.began[0]) != due {
				t.Fatalf("tick %d began after %v, want %v", i, at.Sub(w.began[0]), due)
			}
		}
	})
}

func TestDriverEnds(t *testing.T) {
	for _, c := range []struct {
		name  string
		o     options
		ticks uint64
		after time.Duration
	}{
		{"after ticks", options{hz: 10, ticks: 25}, 25, 2400*time.Millisecond + 7*time.Millisecond},
		{"after a time", options{hz: 10, length: 250 * time.Millisecond}, 3, 250 * time.Millisecond},
		{"after ticks, before the time ends", options{hz: 10, ticks: 2, length: time.Hour}, 2,
			107 * time.Millisecond},
		{"after ticks, as fast as possible", options{ticks: 100}, 100, 700 * time.Millisecond},
		{"after a time, as fast as possible", options{length: 70 * time.Millisecond}, 10,
			70 * time.Millisecond},
	} {
		clocktest.Bubble(t, func(t *testing.T) {
			w, begin := &fakeWorld{tick: steady(7 * time.Millisecond)}, time.Now()
			d := newDriver(w, c.o)
			d.start(nil)
			<-d.done
			if w.counts.Ticks != c.ticks || time.Since(begin) != c.after {
				t.Errorf("%s: %d ticks in %v, want %d in %v", c.name, w.counts.Ticks, time.Since(begin),
					c.ticks, c.after)
			}
			d.halt() // halt does not block after the end
		})
	}
}

func TestDriverCatchesUpWithinBounds(t *testing.T) {
	for _, c := range []struct {
		stall time.Duration // the length of the first tick, with a period of 10 ms
		burst int           // ticks that begin right after the stall
		late  uint64        // ticks of the burst that began at least a period after they were due
	}{
		{5 * time.Millisecond, 0, 0},
		{35 * time.Millisecond, 3, 2},
		{60 * time.Millisecond, 6, 5},
		{61 * time.Millisecond, 1, 1},
		{10 * time.Second, 1, 1},
	} {
		clocktest.Bubble(t, func(t *testing.T) {
			w := &fakeWorld{tick: func(n uint64) (time.Duration, error) {
				if n == 0 {
					return c.stall, nil
				}
				return 0, nil
			}}
			d := newDriver(w, options{hz: 100, ticks: 20})
			d.start(nil)
			<-d.done
			burst := 0
			for _, at := range w.began[1:] {
				if at.Sub(w.began[0]) == c.stall {
					burst++
				}
			}
			if burst != c.burst || d.late != c.late {
				t.Errorf("after a stall of %v: a burst of %d ticks, %d late; want %d and %d", c.stall, burst,
					d.late, c.burst, c.late)
			}
			if got := d.meter.timing(); got.max != c.stall {
				t.Errorf("longest tick %v, want %v", got.max, c.stall)
			}
		})
	}
}

func TestDriverCountsEveryLateTick(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		d := newDriver(&fakeWorld{tick: steady(35 * time.Millisecond)}, options{hz: 100, ticks: 50})
		d.start(nil)
		<-d.done
		if d.late != 49 {
			t.Errorf("%d ticks are late, want 49", d.late)
		}
		if got := d.meter.timing(); got.within != 0 {
			t.Errorf("the share of the ticks inside the budget is %g, want 0", got.within)
		}
	})
}

func TestDriverPauses(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		w := &fakeWorld{}
		d := newDriver(w, options{hz: 10, length: 10 * time.Second})
		d.start(nil)
		read := func() *snapshot {
			d.wanted <- newSnapshot(0, 0)
			return <-d.ready
		}
		time.Sleep(950 * time.Millisecond)
		d.control.Pause()
		synctest.Wait()
		if s := read(); s.counts.Ticks != 10 || !s.paused {
			t.Errorf("%d ticks at the pause, paused %v; want 10 and true", s.counts.Ticks, s.paused)
		}
		time.Sleep(5 * time.Second)
		if s := read(); s.counts.Ticks != 10 {
			t.Errorf("%d ticks after a pause of 5 s, want 10", s.counts.Ticks)
		}
		d.control.Resume()
		synctest.Wait()
		if s := read(); s.counts.Ticks != 11 || s.paused || s.late != 0 {
			t.Errorf("%d ticks right after the pause, paused %v, %d late; want 11, false, 0", s.counts.Ticks,
				s.paused, s.late)
		}
		<-d.done
		// 10 ticks run in the 0.95 s before the pause of 5 s, and 41 ticks in the 4.05 s after the pause.
		if w.counts.Ticks != 10+41 {
			t.Errorf("%d ticks at the end, want 51", w.counts.Ticks)
		}
	})
}

func TestDriverEndsWhilePaused(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		begin := time.Now()
		d := newDriver(&fakeWorld{}, options{hz: 10, length: 3 * time.Second})
		d.start(nil)
		d.control.Pause()
		<-d.done
		if passed := time.Since(begin); passed != 3*time.Second {
			t.Errorf("ended after %v, want 3s", passed)
		}
	})
	clocktest.Bubble(t, func(t *testing.T) {
		d := newDriver(&fakeWorld{}, options{hz: 10})
		d.start(nil)
		d.control.Pause()
		time.Sleep(time.Second)
		d.halt()
	})
}

// TestDriverPaintsBetweenTicks checks that a painting delays no tick if the tick and the painting fit into
// one period.
func TestDriverPaintsBetweenTicks(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		w := &fakeWorld{tick: steady(5 * time.Millisecond), paint: 9 * time.Millisecond}
		d := newDriver(w, options{hz: 60, length: 10 * time.Second})
		d.start(nil)
		go func() {
			for {
				select {
				case <-time.After(7 * time.Millisecond): // differs from the period of the ticks
				case <-d.done:
					return
				}
				d.wanted <- newSnapshot(40, 10)
				select {
				case <-d.ready:
				case <-d.done:
					return
				}
			}
		}()
		<-d.done
		if len(w.painted) < 200 {
			t.Fatalf("painted %d times in 10 s, want at least 200", len(w.painted))
		}
		for i, at := range w.began {
			if due := time.Duration(i) * (time.Second / 60); at.Sub(w.began[0]) != due {
				t.Fatalf("tick %d began after %v, want %v", i, at.Sub(w.began[0]), due)
			}
		}
		if got := d.meter.timing(); got.max != 5*time.Millisecond {
			t.Errorf("the longest tick is %v: the meter measured painting, too", got.max)
		}
	})
}

func TestDriverStopsAtAnError(t *testing.T) {
	full := errors.New("full")
	clocktest.Bubble(t, func(t *testing.T) {
		w := &fakeWorld{tick: func(n uint64) (time.Duration, error) {
			if n == 3 {
				return 0, full
			}
			return 0, nil
		}}
		status := runWorld(w, options{hz: 60}, nil, io.Discard, io.Discard)
		if status != cli.Failure || w.counts.Ticks != 3 {
			t.Errorf("exit status %d after %d ticks, want %d after 3", status, w.counts.Ticks, cli.Failure)
		}
	})
}

func TestDriverRestoresTheTerminalOnPanic(t *testing.T) {
	restored := false
	d := newDriver(&fakeWorld{tick: func(uint64) (time.Duration, error) { panic("broken") }},
		options{ticks: 1})
	func() {
		defer func() {
			if r := recover(); r != "broken" {
				t.Errorf("panic with %v, want the panic of the tick", r)
			}
		}()
		d.guarded(func() { restored = true })
	}()
	if !restored {
		t.Error("the terminal was not restored")
	}
}
