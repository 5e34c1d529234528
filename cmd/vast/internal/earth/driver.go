package earth

import (
	"sync"
	"time"

	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/earth/atlas"
	"github.com/vastgo/vast/internal/clock"
)

// catchUp is the largest number of missed ticks that a driver makes up for. A driver that misses more ticks
// drops all of them. Without this bound, the driver would run hours of ticks at full speed after the machine
// slept.
const catchUp = 5

// driver ticks a world at a steady rate on its own goroutine. The meter and the world belong to that
// goroutine until done is closed.
type driver struct {
	world  world
	period time.Duration // 0: as fast as possible
	ticks  int           // the number of the last tick to make; 0: no end
	length time.Duration // the time to run; 0: no end
	meter  *meter
	late   uint64 // ticks that began a period or more after they were due
	held   bool   // whether there was a pause since the last tick was due
	err    error  // why the run ended early; read it after done

	control *control
	saves   *saves        // nil unless a folder keeps the world
	visited visited       // the world for visitors between ticks, or nil
	bell    chan struct{} // rings when a visitor waits

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

// snapshot is a copy of the data that a viewer shows. The viewer owns it, except between sending it to wanted
// and receiving it from ready.
type snapshot struct {
	at     time.Time
	counts simulation.Counts
	timing timing
	late   uint64
	paused bool
	saved  saved

	// If atlas is not nil, density and infected have an element for each of its dots.
	atlas             *atlas.Map
	density, infected []uint32
}

// newSnapshot makes a snapshot. Without columns or rows it has no dots.
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
		// There is only one snapshot, so neither side ever blocks on these channels.
		wanted: make(chan *snapshot, 1), ready: make(chan *snapshot, 1),
		control: newControl(o.budget()), bell: make(chan struct{},
			1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	if o.hz > 0 {
		d.period = o.budget()
	}
	return d
}

// start starts the ticks. onPanic, if not nil, runs before a panic ends the program, to restore the terminal.
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
		from := time.Now()
		if behind := from.Sub(due); d.period > 0 && behind >= d.period {
			d.late++
			dropped := uint64(0)
			if behind > catchUp*d.period {
				due, dropped = from, uint64(behind/d.period)
			}
			d.control.isLate(dropped)
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

// always is a channel from which a receive never waits.
var always = func() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}()

// roomy is the time before the next tick that is enough to fill a snapshot.
const roomy = 50 * time.Millisecond

// visitTime bounds one admission of visitors.
const visitTime = 500 * time.Microsecond

// admit admits visitors and reports whether others still wait. If a visitor waits, admit admits at least one.
func (d *driver) admit(most time.Duration) (more bool) {
	return d.visited != nil && d.visited.Admit(min(most, visitTime))
}

// await waits until a tick is due and returns the time at which it was due. A pause postpones this time.
// Meanwhile it handles pauses, admits visitors and fills snapshots. It fills a snapshot right after a tick,
// when most time is left, and later only if roomy or more is left or the run is paused. It returns false at
// the end of the run.
func (d *driver) await(due, end time.Time) (time.Time, bool) {
	select {
	case s := <-d.wanted:
		d.fill(s)
		d.ready <- s
	default:
	}
	if !time.Now().Before(due) {
		d.admit(visitTime) // a tick is due, so the loop below may admit no visitor
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
		if paused || due.Sub(now) >= roomy {
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

// fill fills a snapshot. Only the driver's goroutine may call it until done is closed; then any goroutine
// may.
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
