package observe

import (
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// Event is a change of an entity.
type Event struct {
	// Context is the argument of [Observers.Run]. In a system of a schedule it is the context of the system,
	// which is valid until the system's Run returns.
	Context *sched.Context
	// Entity is the entity that left, entered or was written.
	Entity vast.Entity
	// At is the entity that the event has reached: Entity, or an ancestor in Observer.Up.
	At vast.Entity

	way *way
}

// Stop ends the rise of the event to further ancestors.
func (e Event) Stop() {
	if e.way != nil {
		e.way.stopped = true
	}
}

// way is the path of an event up a hierarchy. All events of a list of observers share one way.
type way struct {
	ancestors []vast.Entity
	stopped   bool
}

// rise calls a function for an entity and for its ancestors, until the function calls Event.Stop or removes
// the observer.
func (r *observer) rise(e Event, call func(Event)) {
	e.way.stopped, e.way.ancestors = false, e.way.ancestors[:0]
	if r.Up != (vast.Relation{}) {
		e.way.ancestors = slices.AppendSeq(e.way.ancestors, r.Up.Ancestors(e.Entity))
	}
	call(e)
	for _, e.At = range e.way.ancestors {
		if e.way.stopped || r.removed {
			return
		}
		if r.world.Alive(e.At) {
			call(e)
		}
	}
}
