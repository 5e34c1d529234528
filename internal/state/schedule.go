package state

import "encoding/json"

// Schedules holds the methods of package sched that package store calls. Package sched sets Schedules in an
// init function. The type is any because the parameters have types of package sched, which this package
// cannot import. Package store converts Schedules to an interface by a type assertion.
var Schedules any

// Schedule holds the data of a schedule that determine its next ticks, together with the world.
type Schedule struct {
	Tick    uint64   `json:"tick"` // number of the last tick
	Seed    uint64   `json:"seed"`
	Systems []string `json:"systems"` // names, in the order in which the systems were added
	// Disabled are the names of disabled systems and sets, in alphabetical order.
	Disabled []string `json:"disabled,omitempty"`
	States   []Value  `json:"states,omitempty"`
}

// Value is the value of a state, which decides which systems run.
type Value struct {
	Name     string          `json:"name"` // the name of the type
	Value    json.RawMessage `json:"value"`
	Next     json.RawMessage `json:"next,omitempty"`     // the value from the next tick on
	Left     json.RawMessage `json:"left,omitempty"`     // the value before the last change
	Changing bool            `json:"changing,omitempty"` // whether systems of the last change must still run
	// Done is the number of systems of the last change that have run, or -1 before the first tick.
	Done int `json:"done,omitempty"`
}

// Part is a part of a schedule that package store keeps if Options.Containers names it.
type Part struct {
	Of   any    // what Container.Of returns
	Kind string // "queue" or "Jobs"
	Held string // says what a restart loses if the store does not keep the part
}

// Keeper is the store that keeps the world of a schedule. The schedule calls Writes on any worker, Changed on
// the goroutine that makes the change, and the other methods on the goroutine that ticks.
type Keeper interface {
	// Begin is called before a tick. If Begin returns an error, the schedule does not run the tick.
	Begin() error
	// End is called after a tick, when its commands are applied or dropped. failed reports whether the tick
	// returns an error.
	End(failed bool) error
	// Writes is called before a worker runs a system that writes to the world. Writes returns when the system
	// may run. columns holds the numbers of the columns that the system writes, and is nil if the system may
	// write all columns.
	Writes(columns []int)
	// Changed is called when the program changes the schedule outside of ticks. For example, the program
	// resets the schedule with a new seed, adds or removes a system, sets a state, sends an event or starts a
	// job.
	Changed()
	// Visits reports whether the schedule may admit visitors of the world.
	Visits() bool
}
