package earth

import (
	"sync"
	"time"

	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/earth/atlas"
	"github.com/vastgo/vast/internal/clock"
)

// catchUp is the largest number of missed ticks that a driver makes up for. If the driver has missed more
// ticks, it runs one of them and drops the others. Without this bound, the driver would run hours of ticks at
// full speed after the machine has slept.
const catchUp = 5

// driver ticks a world at a steady rate on its own goroutine. Until done is closed, only this goroutine may
// use the meter and the world.
type driver struct {
	world  world
	period time.Duration // the time between two ticks; 0: as fast as possible
	ticks  int           // the number of the last tick to run; 0: no end
	length time.Duration // the time to run; 0: no end
	meter  *meter
	late   uint64 // ticks that began a period or more after they were due
	held   bool   // whether await last found the run paused
	err    error  // the error that ended the run; valid after done is closed

	control *control
	saves   *saves    // nil without -data
	visited visitable // the world that admits visitors between ticks, or nil

	wanted chan *snapshot // the viewer sends a snapshot to fill
	ready  chan *snapshot // the driver returns the filled snapshot
	stop   chan struct{}
	done   chan struct{}

	halting sync.Once
}

// visitable is a world that admits visitors: functions that other goroutines pass to vast.World.Visit.
type visitable interface {
	Admit(limit time.Duration) (more bool)
	Idle(wait func())
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

// newSnapshot makes a snapshot. If columns or rows is 0 or less, the snapshot has no atlas.
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
		// A send never blocks, because a run never has more than one snapshot in these channels.
		wanted: make(chan *snapshot, 1), ready: make(chan *snapshot, 1),
		control: newControl(o.budget()), stop: make(chan struct{}), done: make(chan struct{}),
	}
	if o.hz > 0 {
		d.period = o.budget()
	}
	return d
}

// start runs the driver on a new goroutine. If a tick panics, the driver calls onPanic, which may be nil,
// before the panic ends the program.
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

func (d *driver) halt() {
	d.halting.Do(func() { close(d.stop) })
	<-d.done
}

func (d *driver) run() {
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

// idle calls wait. Until wait returns, the world admits visitors.
func (d *driver) idle(wait func()) {
	if d.visited != nil {
		d.visited.Idle(wait)
	} else {
		wait()
	}
}

// await waits until the next tick is due. Meanwhile, it admits visitors and fills snapshots. It returns the
// due time of the tick, or false if the run must end. After a pause, the end of the pause is the due time. A
// single step during a pause is due immediately.
//
// If a viewer has already requested a snapshot, await fills the snapshot first. Later, await fills a snapshot
// only if the run is paused or at least fillTime remains before the tick.
func (d *driver) await(due, end time.Time) (time.Time, bool) {
	select {
	case s := <-d.wanted:
		d.fill(s)
		d.ready <- s
	default:
	}
	if d.visited != nil && !time.Now().Before(due) {
		d.visited.Admit(visitTime) // the loop below does not call idle when a tick is due
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
		var alarm <-chan time.Time
		switch {
		case isDue:
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
		var request *snapshot
		stopped, alarmed := false, false
		wait := func() {
			select {
			case <-d.stop:
				stopped = true
			case <-d.control.poke:
			case request = <-wanted:
			case <-alarm:
				alarmed = true
			}
		}
		if isDue {
			wait()
		} else {
			d.idle(wait)
		}
		switch {
		case stopped:
			return due, false
		case request != nil:
			d.fill(request)
			d.ready <- request
		case alarmed && isDue && step:
			d.control.stepped()
			return now, true
		case alarmed && isDue:
			return due, true
		}
	}
}

// fill fills a snapshot. Until done is closed, only the driver's goroutine may call fill.
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
