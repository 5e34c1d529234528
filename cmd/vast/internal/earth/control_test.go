package earth

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/clock/clocktest"
)

func TestControlTellsThePace(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		d := newDriver(&fakeWorld{tick: func(n uint64) (time.Duration, error) {
			return map[uint64]time.Duration{0: 35 * time.Millisecond, 9: 75 * time.Millisecond}[n], nil
		}}, options{hz: 100, ticks: 20})
		d.start(nil)
		<-d.done
		// A tick is late if it begins 10 ms or more after it was due. During the stall of 35 ms, three ticks
		// become due, and two of them begin late. During the stall of 75 ms, seven ticks become due: one of
		// them begins late, and the driver drops six.
		if budget, late, dropped := d.control.Pace(); budget != 10*time.Millisecond || late != 3 ||
			dropped != 6 || late != d.late {
			t.Errorf("the control has a budget of %v, %d late and %d dropped ticks; want 10ms, 3 and 6; the "+
				"driver has %d late ticks, want 3", budget, late, dropped, d.late)
		}
	})
}

func TestControlSteps(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		w := &fakeWorld{}
		d := newDriver(w, options{hz: 10})
		d.start(nil)
		ticks := func(want uint64) {
			t.Helper()
			synctest.Wait()
			d.wanted <- newSnapshot(0, 0)
			if s := <-d.ready; s.counts.Ticks != want || !s.paused {
				t.Errorf("%d ticks, paused %v; want %d and a pause", s.counts.Ticks, s.paused, want)
			}
		}
		time.Sleep(250 * time.Millisecond)
		d.control.Pause()
		ticks(3)
		d.control.Step(2)
		ticks(5)
		time.Sleep(time.Second)
		ticks(5)
		d.control.Step(1)
		d.control.Step(-7)
		ticks(6)
		d.control.Step(0)
		ticks(6)
		d.control.toggle()
		time.Sleep(250 * time.Millisecond)
		if d.control.Paused() {
			t.Error("the driver is still paused after the toggle")
		}
		d.halt()
		if w.counts.Ticks != 6+3 || d.late != 0 {
			t.Errorf("%d ticks at the end, %d late; want 9 and 0", w.counts.Ticks, d.late)
		}
	})
}

// host is a fakeWorld for the driver and a vast.World for the visitors.
type host struct {
	fakeWorld
	*vast.World
}

func newHost(t *testing.T, tick time.Duration, o options) (*host, *driver) {
	w := vast.NewWorld(vast.Options{})
	t.Cleanup(func() { w.Close() })
	h := &host{fakeWorld{tick: steady(tick)}, w}
	d := newDriver(&h.fakeWorld, o)
	d.visited = w
	return h, d
}

func TestDriverAdmitsVisitors(t *testing.T) {
	for _, c := range []struct {
		name   string
		o      options
		tick   time.Duration
		paused bool
	}{
		{"between ticks", options{hz: 10}, 10 * time.Millisecond, false},
		{"as fast as possible", options{}, 10 * time.Millisecond, false},
		{"always late", options{hz: 1000}, 10 * time.Millisecond, false},
		{"paused", options{hz: 10}, 10 * time.Millisecond, true},
	} {
		clocktest.Bubble(t, func(t *testing.T) {
			h, d := newHost(t, c.tick, c.o)
			if c.paused {
				d.control.Pause()
			}
			d.start(nil)
			visits := 0
			time.Sleep(95 * time.Millisecond) // no tick begins at this time
			if err := h.Visit(context.Background(), func() bool {
				visits++
				time.Sleep(200 * time.Microsecond)
				return visits == 20
			}); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			d.halt()
			if got := d.meter.timing(); got.max > c.tick {
				t.Errorf("%s: the longest tick is %v: the meter measured visits, too", c.name, got.max)
			}
		})
	}
}

func TestTicksWaitForAtMostOneVisit(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		h, d := newHost(t, 5*time.Millisecond, options{hz: 50, length: 10 * time.Second})
		begin := time.Now()
		d.start(nil)
		ctx, cancel := context.WithCancel(context.Background())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			h.Visit(ctx, func() bool {
				time.Sleep(130 * time.Microsecond)
				return false
			})
		}()
		<-d.done
		cancel()
		<-gone
		if h.counts.Ticks != 500 || d.late != 0 {
			t.Errorf("%d ticks, %d late; want 500 and 0", h.counts.Ticks, d.late)
		}
		for i, at := range h.began[1:] {
			due := time.Duration(i+1) * 20 * time.Millisecond
			if late := at.Sub(begin) - due; late < 0 || late > 140*time.Microsecond {
				t.Fatalf("tick %d began %v after its due time, want 0 to 140µs", i+1, late)
			}
		}
	})
}
