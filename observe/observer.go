package observe

import (
	"errors"
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/sched"
)

// Observer names a query, and the functions that [Observers] call for changes of the query's matches. Query
// and at least one function must be set.
type Observer struct {
	// Name identifies the observer in [Observers.Notes]. If several observers have the name "seen", the
	// second of them is called "seen 2". Default: "observer".
	Name string
	// Query selects entities by any conditions. For example, vast.Query.Among selects single entities, and
	// vast.World.Query without columns selects all entities, so that the observer reports births and deaths.
	Query vast.Query
	// Left is called for each entity that left the query: see [Monitor.Left].
	Left func(Event)
	// Entered is called for each entity that entered the query: see [Monitor.Entered].
	Entered func(Event)
	// Changed is called for each entity that matches the query, and whose component in Column was added or
	// written. [vast.Tracker] lists the methods that count as writes.
	Changed func(Event)
	// Column is the column for Changed. Set both or none.
	Column vast.AnyColumn
	// Existing makes the first run report all matches as entered. Default: the first run reports the changes
	// since the observer was added.
	Existing bool
	// Up is a hierarchy in which events rise: a function is called for the entity, then for its target, for
	// the target's target, and so on, until the function calls [Event.Stop]. Run finds these ancestors before
	// it calls the function for the entity. A deleted entity has no ancestors, and Run skips ancestors that a
	// function has deleted. Default: the function is called for the entity only.
	Up vast.Relation
}

// observer is an Observer that was added to a list.
type observer struct {
	Observer
	world   *vast.World
	monitor *Monitor      // nil if neither Left nor Entered is set
	tracker *vast.Tracker // nil if Changed is not set
	changed vast.Query    // the matches whose component the tracker has noted as added or written
	written entities      // the matches of observer.changed at the last look

	reports []report
	// The next event is for entity number next of reports[report]. While events are left, look finds no new
	// changes, so that a panic of a function loses no other event.
	report, next int
	removed      bool
}

// report is a function and the entities that it is called for.
type report struct {
	call     func(Event)
	entities *entities
}

// newObserver makes an observer. Observers.Add sets its Name afterwards, so that no two names are equal.
func newObserver(w *vast.World, declared Observer) *observer {
	const method = "Observers.Add"
	r := &observer{Observer: declared, world: w}
	r.mustBeValid(method)
	made := false
	defer func() {
		if !made {
			_ = r.close()
		}
	}()
	var err error
	if r.Left != nil || r.Entered != nil {
		if r.monitor, err = newMonitor(method, r.Query); err == nil && !r.Existing {
			err = r.monitor.look(method, true)
		}
		if err != nil {
			panic(err)
		}
		if r.Left != nil {
			r.reports = append(r.reports, report{r.Left, &r.monitor.left})
		}
		if r.Entered != nil {
			r.reports = append(r.reports, report{r.Entered, &r.monitor.entered})
		}
	}
	if r.Changed != nil {
		if r.written, err = newEntities("observe.Observers", w); err != nil {
			panic(err)
		}
		r.tracker = vast.NewTracker(w, r.Column)
		r.changed = r.Query.Changed(r.Column, r.tracker)
		r.reports = append(r.reports, report{r.Changed, &r.written})
	}
	r.report = len(r.reports)
	made = true
	return r
}

func (r *observer) sharesName(other *observer) bool { return r.Name == other.Name }

func (r *observer) mustBeValid(method string) {
	bad := func(format string, a ...any) { panic("observe: " + method + ": " + fmt.Sprintf(format, a...)) }
	switch {
	case r.Left == nil && r.Entered == nil && r.Changed == nil:
		bad("the observer has no function: set Left, Entered or Changed")
	case engine.WorldOf(r.Query) != r.world:
		bad("the query belongs to another world")
	case (r.Changed == nil) != (r.Column == nil):
		bad("Changed and Column need each other: set both or none")
	case r.Existing && r.Entered == nil:
		bad("Existing reports matches as entered: set Entered, too")
	case r.Up == (vast.Relation{}):
		return
	}
	if probe.Describe(r.Up).World != r.world {
		bad("the relation %s belongs to another world", r.Up.Name())
	}
	r.Up.Root(vast.Entity{}) // panics if the relation may have cycles
}

// look finds the changes since the last look. If it gets no memory, it panics, and the next look finds them.
func (r *observer) look() {
	if r.report < len(r.reports) {
		return // a function panicked in the last run
	}
	r.written.n = 0
	if r.tracker != nil {
		generations := engine.Generations("Observers.Run", r.world)
		for word, mask := range r.changed.Words() {
			if err := r.written.add(word, mask, (*[64]uint32)(generations[word*64:])); err != nil {
				panic(err)
			}
		}
	}
	if r.monitor != nil {
		if err := r.monitor.look("Observers.Run", false); err != nil {
			panic(err)
		}
	}
	if r.tracker != nil {
		r.tracker.Next()
	}
	r.report, r.next = 0, 0
}

// call calls the functions for the changes that look has found. A function may remove the observer, which
// closes the lists.
func (r *observer) call(c *sched.Context, way *way) {
	for ; r.report < len(r.reports); r.report, r.next = r.report+1, 0 {
		report := r.reports[r.report]
		for !r.removed && r.next < report.entities.n {
			e := report.entities.all()[r.next]
			r.next++
			r.rise(Event{c, e, e, way}, report.call)
		}
	}
}

func (r *observer) close() error {
	if r.tracker != nil {
		r.tracker.Close() // panics in a hook
	}
	r.removed = true
	var err error
	if r.monitor != nil {
		err = r.monitor.Close()
	}
	return errors.Join(err, r.written.close())
}
