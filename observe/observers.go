package observe

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// Observers is a list of observers. They call functions for the changes of a world when the program calls
// [Observers.Run], or in a system of a schedule: see [Observers.System]. Make Observers with [New].
//
// Run first finds the changes since the last run, for all observers. Then it calls the functions, observer by
// observer in the order in which they were added. For each observer it calls Left, then Entered, then
// Changed, and each of them in the order of slots. So equal worlds give equal calls.
//
// The functions may change values and the structure of the world, and add and remove observers. The next run
// reports what the functions change. Therefore an entity may be stale when its event comes. A run ends even
// if observers change what other observers report.
//
// If a function panics, the next run continues with the next event. That run reports the events that are
// left. It does not look for newer changes for observers that had events left.
//
// The rules of [vast.World] about goroutines hold for Observers. Run and Close must run alone, as structural
// changes must.
type Observers struct {
	world   *vast.World
	list    []*observer // a removal makes a new slice, because Run may walk over the old one
	way     way
	running bool
	closed  bool
}

// New returns an empty list of observers of a world.
func New(w *vast.World) *Observers {
	if w == nil {
		panic("observe: New: there is no world: make one with vast.NewWorld")
	}
	return &Observers{world: w}
}

// Add adds an observer at the end of the list, and returns a function that removes it. A second call of
// remove does nothing. If Changed is set, Add and remove count as structural changes, as [vast.NewTracker]
// does.
//
// Add panics if the observer has no function, if only one of Changed and Column is set, if Existing is set
// without Entered, if Up may have cycles, and if the query, the column or the relation belongs to another
// world. If Add gets no memory, it panics with a *vm.Error and changes nothing. Complexity and memory: those
// of [NewMonitor] if Left or Entered is set, and those of NewTracker if Changed is set.
func (o *Observers) Add(r Observer) (remove func()) {
	o.mustBeOpen("Observers.Add")
	added := newObserver(o.world, r)
	name := cmp.Or(r.Name, "observer")
	added.Name = name
	for i := 2; slices.ContainsFunc(o.list, added.sharesName); i++ {
		added.Name = fmt.Sprint(name, " ", i)
	}
	o.list = append(o.list, added)
	return func() {
		if added.removed {
			return
		}
		err := added.close()
		o.list = slices.DeleteFunc(slices.Clone(o.list), func(r *observer) bool { return r == added })
		if err != nil {
			panic(err)
		}
	}
}

// Run calls the functions of the observers for the changes since the last run. c becomes the Context of the
// events. It is nil if there is no schedule. Run panics in a hook, and if a function of an observer calls it.
// If Run gets no memory, it panics with a *vm.Error, and the next run reports the changes. Complexity: for
// each observer that of [Monitor.Next], and if Changed is set, that of [vast.Tracker.Next].
func (o *Observers) Run(c *sched.Context) {
	o.mustBeOpen("Observers.Run")
	if o.running {
		panic("observe: Observers.Run was called by a function of an observer: the next run reports what " +
			"the function changes")
	}
	if c != nil && c.World() != o.world {
		panic(fmt.Sprintf("observe: Observers.Run: the observers belong to world %q, and the schedule to "+
			"world %q", o.world.Options().Name, c.World().Options().Name))
	}
	o.running = true
	defer func() { o.running = false }()
	list := o.list
	for _, r := range list {
		r.look()
	}
	for _, r := range list {
		r.call(c, &o.way)
	}
}

// System returns an exclusive system that calls Run. Set other fields as needed, such as Phase:
//
//	s.Add(o.System("observers"))
func (o *Observers) System(name string) sched.System {
	o.mustBeMade("Observers.System")
	return sched.System{Name: name, Exclusive: true, Run: o.Run}
}

// Notes returns the notes of the observers that have Left or Entered, by name, for store.Options.Containers:
// see [Monitor.Notes]. Changed needs no container: it uses a [vast.Tracker], which is saved with the world.
// Add the observers before store.Load or store.Open.
func (o *Observers) Notes() map[string]any {
	o.mustBeOpen("Observers.Notes")
	notes := make(map[string]any)
	for _, r := range o.list {
		if r.monitor != nil {
			notes[r.Name] = r.monitor.Notes()
		}
	}
	return notes
}

// Close removes all observers and releases their memory. World.Close does not close Observers: call Close
// before or after it. A second Close does nothing. If Close returns an error, another call tries to release
// the remaining memory.
func (o *Observers) Close() error {
	o.mustBeMade("Observers.Close")
	o.closed = true
	var errs []error
	for _, r := range o.list {
		errs = append(errs, r.close())
	}
	return errors.Join(errs...)
}

func (o *Observers) mustBeOpen(method string) {
	o.mustBeMade(method)
	if o.closed {
		panic(fmt.Sprintf("observe: %s: the observers are closed: do not use them after Close", method))
	}
}

func (o *Observers) mustBeMade(method string) {
	if o == nil || o.world == nil {
		panic(fmt.Sprintf("observe: %s: there are no observers: make them with New", method))
	}
}
