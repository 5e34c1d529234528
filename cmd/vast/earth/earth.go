package earth

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/store"
	"github.com/vastgo/vast/vm"
)

// Config describes the world that [New] makes. The zero value makes the Earth without travellers.
type Config struct {
	// Travellers is the number of travellers before the first tick.
	Travellers int
	// Places are the homes and destinations. Default: the embedded list. New copies the list and does not
	// keep it.
	Places *places.List
	// Seed determines all random numbers: the same seed, places and number of travellers give the same
	// states.
	Seed uint64
	// Workers is the number of goroutines that share the work of a tick. The state does not depend on
	// Workers. Default: GOMAXPROCS.
	Workers int
	// Limit is a budget for the memory outside the Go heap. Default: [vm.DefaultLimit].
	Limit *vm.Limit
	// Progress is called by New with the stage of the work (places, distances, travellers, recorded ticks),
	// the amount of work that is done, and the total, or 0 for an unknown total. Default: nothing is called.
	Progress func(stage string, done, total int)
	// Data is a folder that keeps the world: see [Earth.Store]. If the folder keeps a world already, New
	// continues that world after its last durable tick. Seed, Travellers and Places must then be as when the
	// world was made: see [Kept]. Default: the world ends with the process.
	Data string
	// Apply applies an input that the caller passes to the store of Data, such as an edit in an inspector.
	// New calls Apply again for the inputs since the last checkpoint. If Apply returns a *vm.Error, there is
	// no memory for the input, and a repetition with more memory would make another world. If the input is
	// new, the store therefore takes a checkpoint, after which New need not repeat the input. If the input is
	// a repeated one, New returns an error. Other errors of Apply are ignored, because the input fails in the
	// same way when it is repeated. Default: inputs have no effect.
	Apply func(w *vast.World, input []byte) error
	// Every is the time from one checkpoint to the next: see store.Options.Every. Default: a second.
	Every time.Duration
	// DropTail makes New drop the ticks after the last checkpoint in Data. It is for a build that cannot
	// repeat these ticks: see store.Options.DropTail.
	DropTail bool
	// Notify is called for each checkpoint of the world in Data: see store.Options.Notify.
	Notify func(store.Checkpoint)
}

// Earth is a world of places and travellers. Only one of its methods may run at a time.
type Earth struct {
	components
	*past
	*globe
	world   *vast.World
	store   *store.Store // nil without Config.Data
	resumed uint64       // result of Resumed
	closed  bool

	schedule *sched.Schedule
	places   vast.Run   // the places of the world, in the order of their numbers
	first    uint32     // the number of the first place
	tallies  []presence // values of the column presence, in the order of the places
	cohort   []cohort
	now      uint32 // current tick

	painting painting
}

// Counts describe a world at one moment.
type Counts struct {
	Ticks             uint64 // number of ticks so far; one tick is one minute
	Travellers        int
	Places            int
	Entities          int // places and travellers
	Moving            int // travellers on their way
	Susceptible       int
	Infectious        int
	Recovered         int
	Born              int    // number of births in all ticks
	Died              int    // number of deaths in all ticks
	StructuralChanges uint64 // number of entities made and deleted, and of components added and removed
}

// New makes a world, or continues the world that a folder keeps. It takes about a second for a million
// travellers.
//
// New returns an error for a wrong configuration, and [ErrOther] if the folder keeps another world. It
// returns a *store.BuildError if another build has computed ticks that New would have to repeat, and the
// error of the store if the folder cannot be read or written. It returns a [*vm.Error] if there is too little
// memory. After an error, New has freed all memory.
func New(c Config) (_ *Earth, err error) {
	list, err := c.complete()
	if err != nil {
		return nil, err
	}
	globe := newGlobe(c)
	e := &Earth{globe: &globe}
	defer func() {
		// A world panics with a *vm.Error if it has no address space for another column.
		if r := recover(); r != nil {
			noMemory, ok := r.(*vm.Error)
			if !ok {
				panic(r)
			}
			err = noMemory
		}
		if err == nil {
			return
		}
		if errClose := e.Close(); errClose != nil {
			err = errors.Join(err, errClose)
		}
	}()
	if err := e.load(c, list); err != nil {
		// The systems that make the travellers panic with a *vm.Error if there is no memory for a command.
		// The schedule wraps this error.
		if noMemory := (*vm.Error)(nil); errors.As(err, &noMemory) {
			return nil, noMemory
		}
		return nil, err
	}
	e.schedule = e.newSchedule(c.Workers)
	if err := e.recover(c.Apply); err != nil {
		return nil, err
	}
	return e, nil
}

// complete checks a Config, sets its defaults, and returns the places.
func (c *Config) complete() (*places.List, error) {
	const maxTravellers = math.MaxUint32 / 4
	switch {
	case c.Travellers < 0 || c.Travellers > maxTravellers:
		return nil, fmt.Errorf("earth: %d travellers: use 0 to %d", c.Travellers, maxTravellers)
	case c.Workers < 0:
		return nil, fmt.Errorf("earth: %d workers: use 1 or more, or 0 for one on each processor", c.Workers)
	case c.Places != nil && c.Places.Len() == 0 && c.Travellers > 0:
		return nil, errors.New("earth: no places: travellers need at least one place")
	}
	if c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if c.Places != nil {
		return c.Places, nil
	}
	return places.Embedded(places.Options{Progress: func(done, total int) {
		if c.Progress != nil {
			c.Progress("places", done, total)
		}
	}})
}

// Counts returns the current counts. Complexity: a few instructions.
func (e *Earth) Counts() Counts {
	return Counts{
		Ticks: e.ticks, Places: e.site.Len(), Travellers: e.life.Len(), Entities: e.world.Len(),
		Moving:      e.trip.Len(),
		Susceptible: e.susceptible.Len(), Infectious: e.infectious.Len(), Recovered: e.recovered.Len(),
		Born: e.bornInTicks, Died: e.died, StructuralChanges: e.changes,
	}
}

// World returns the world that holds the entities, for its statistics. The caller must not change its
// structure.
func (e *Earth) World() *vast.World { return e.world }

// Close closes the store, ends the workers and frees the memory. A second Close does nothing.
func (e *Earth) Close() error {
	if e.closed {
		return nil
	}
	e.closed = true
	var errs []error
	if e.store != nil {
		errs = append(errs, e.store.Close())
	}
	if e.schedule != nil {
		errs = append(errs, e.schedule.Close())
	}
	if e.world != nil {
		errs = append(errs, e.world.Close())
	}
	return errors.Join(append(errs, e.globe.close())...)
}

func (e *Earth) mustBeOpen(what string) {
	if e.closed {
		panic("earth: " + what + " after Close: do not use a world that was closed")
	}
}
