package earth

import (
	"sync"
	"time"

	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/earth/atlas"
	"github.com/vastgo/vast/internal/clock"
)

// catchUp is the largest number of missed ticks that a driver makes up for. A driver that has missed more
// ticks drops all missed ticks. Without this bound, after the machine has slept for hours, the driver would
// run all ticks of these hours at full speed.
const catchUp = 5

// driver ticks a world at a steady rate on its own goroutine. The meter and the world belong to that
// goroutine until done is closed.
type driver struct {
	world  world
	period time.Duration // 0: as fast as possible
	ticks  int           // the number of the last tick to run; 0: no end
	length time.Duration // the time to run; 0: no end
	meter  *meter
	late   uint64 // ticks that began a period or more after they were due
	held   bool   // whether await has seen a pause, and not yet its end
	err    error  // why the run ended early; read it after done is closed

	control *control
	saves   *saves        // nil without -data
	visited visited       // the world that admits visitors between ticks, or nil
	bell    chan struct{} // receives a token when a visitor begins to wait

	wanted chan *snapshot // the viewer sends a snapshot to fill
	ready  chan *snapshot // the driver returns the filled snapshot
	stop   chan struct{}
	done   chan struct{}

	halting sync.Once
}

// visited is a world that admits visitors from other goroutines: a vast.World.
type visited interface {
	Admit(most time.Duration) (more bool)
	NotifyVisits(c chan<- struct{}) (stop func())
}

// snapshot is a copy of the data that a viewer shows. The driver owns the snapshot from the send to wanted
// until the receive from ready. At all other times, the viewer owns the snapshot.
type snapshot struct {
	at     time.Time
	counts simulation.Counts
	timing timing
	late   uint64
	paused bool
	saved  saved

	// If atlas is not nil, density and infected have an element for each dot of the atlas.
	atlas             *atlas.Map
	density, infected []uint32
}

// newSnapshot makes a snapshot. Without columns or rows, the snapshot has no atlas and no dots.
func newSnapshot(columns, rows int) *snapshot {
	if columns <= 0 || rows <= 0 {
		return &snapshot{}
	}
	m := atlas.New(columns, rows)
	width, height := m.Dots()
	return &snapshot{atlas: m, density: make([]uint32, width*height), infected: make([]uint32, width*height)}
}

func newDriver(w world, o options) *driver {
	d := &driver{
		world: w, ticks: o.ticks, length: o.length, meter: newMeter(o.budget()),
		// A send to these channels never blocks, because a viewer has only one snapshot under way.
		wanted: make(chan *snapshot, 1), ready: make(chan *snapshot, 1),
		control: newControl(o.budget()), bell: make(chan struct{},
			1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	if o.hz > 0 {
		d.period = o.budget()
	}
	return d
}

// start starts the ticks on a new goroutine. Before a panic of a tick ends the program, the driver calls
// onPanic, which restores the terminal. onPanic may be nil.
func (d *driver) start(onPanic func()) {
	go func() {
		defer close(d.done)
		d.guarded(onPanic)
	}()
}

func (d *driver) guarded(onPanic func()) {
	if onPanic != nil {
		defer func() {
			if r := recover(); r != nil {
				onPanic()
				panic(r)
			}
		}()
	}
	d.run()
}

// halt ends the ticks and waits for the current tick.
func (d *driver) halt() {
	d.halting.Do(func() { close(d.stop) })
	<-d.done
}

func (d *driver) run() {
	if d.visited != nil {
		defer d.visited.NotifyVisits(d.bell)()
	}
	begin := time.Now()
	var end time.Time
	if d.length > 0 {
		end = begin.Add(d.length)
	}
	due := begin
	for made := d.world.Counts().Ticks; d.ticks == 0 || made < uint64(d.ticks); made++ {
		var ok bool
		if due, ok = d.await(due, end); !ok {
			return
		}
		now := time.Now()
		if behind := now.Sub(due); d.period > 0 && behind >= d.period {
			d.late++
			dropped := uint64(0)
			if behind > catchUp*d.period {
				due, dropped = now, uint64(behind/d.period)
			}
			d.control.countLate(dropped)
		}
		if d.saves != nil {
			if d.err = d.saves.failed(); d.err != nil {
				return
			}
		}
		began := clock.Now()
		if d.err = d.world.Tick(); d.err != nil {
			return
		}
		d.meter.add(clock.Now() - began)
		due = due.Add(d.period)
	}
}

// always is a channel from which a receive never blocks.
var always = func() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}()

// fillTime is enough time to fill a snapshot.
const fillTime = 50 * time.Millisecond

// visitTime bounds the time of one call of Admit.
const visitTime = 500 * time.Microsecond

// admit admits visitors for the shorter of most and visitTime, and reports whether more visitors wait. If any
// visitor waits, admit admits at least one.
func (d *driver) admit(most time.Duration) (more bool) {
	return d.visited != nil && d.visited.Admit(min(most, visitTime))
}

// await waits until a tick is due, and returns the due time of this tick. A pause postpones the due time to
// the end of the pause. While await waits, it admits visitors and fills snapshots. It fills a requested
// snapshot right after a tick, when most of the period remains. It fills a snapshot that is requested later
// if the run is paused or at least fillTime remains before the tick. await returns false when the time of the
// run is over or halt has been called.
func (d *driver) await(due, end time.Time) (time.Time, bool) {
	select {
	case s := <-d.wanted:
		d.fill(s)
		d.ready <- s
	default:
	}
	if !time.Now().Before(due) {
		d.admit(visitTime) // the loop below admits no visitor while a tick is due
	}
	for {
		now := time.Now()
		if !end.IsZero() && !now.Before(end) {
			return due, false
		}
		paused, step := d.control.mayTick()
		if paused {
			d.held = true
		} else if d.held {
			due, d.held = now, false
		}
		isDue := step || !paused && !now.Before(due)
		more := false
		if !isDue {
			left := visitTime
			if !paused {
				left = due.Sub(now)
			}
			more = d.admit(left)
			now = time.Now()
		}
		var alarm <-chan time.Time
		switch {
		case isDue || more:
			alarm = always
		case !end.IsZero() && (paused || end.Before(due)):
			alarm = time.After(end.Sub(now))
		case !paused:
			alarm = time.After(due.Sub(now))
		}
		var wanted chan *snapshot
		if paused || due.Sub(now) >= fillTime {
			wanted = d.wanted
		}
		select {
		case <-d.stop:
			return due, false
		case <-d.control.poke:
		case <-d.bell:
		case s := <-wanted:
			d.fill(s)
			d.ready <- s
		case <-alarm:
			if !isDue {
				continue
			}
			if step {
				d.control.stepped()
				return now, true
			}
			return due, true
		}
	}
}

// fill fills a snapshot. Until done is closed, only the driver's goroutine may call fill. Afterwards, any
// goroutine may call fill.
func (d *driver) fill(s *snapshot) {
	s.counts, s.timing, s.late, s.paused = d.world.Counts(), d.meter.timing(), d.late, d.control.Paused()
	if d.saves != nil {
		s.saved = d.saves.saved()
	}
	if s.atlas != nil {
		clear(s.density)
		clear(s.infected)
		d.world.Paint(s.atlas, s.density, s.infected)
	}
	s.at = time.Now()
}
