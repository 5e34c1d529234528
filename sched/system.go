package sched

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/events"
	"github.com/vastgo/vast/probe"
)

// Phase is a part of a tick. The systems of a phase are done, and their commands applied, before the next
// phase begins.
type Phase string

// Update is the default phase.
const Update Phase = "update"

// System is a function that runs in each tick, with the declarations that let the schedule run other systems
// in parallel.
//
// Two systems conflict when one writes a column or a resource that the other reads or writes. Conflicting
// systems of a phase run one after the other. Before and After determine their order; otherwise the system
// that was added first runs first. Systems that neither conflict nor have a required order may run in
// parallel. A column that a query uses only to test for presence needs no declaration: presence does not
// change while systems run, because commands are applied when no system runs. A test for changes of a column,
// by vast.Query.Changed or a vast.Tracker, counts as reading the column. All queries obey the tag of a
// [vast.Disabled] without naming it, so a system that names the tag in Writes conflicts with all systems of
// its phase.
type System struct {
	// Name identifies the system in messages, statistics, Before and After. If several systems are added with
	// the name "move", the second of them is called "move 2".
	Name string
	// Phase is the phase of the tick in which the system runs. Default: [Update].
	Phase Phase
	// Reads lists the columns whose values the system only reads. Writes lists the columns whose values the
	// system writes.
	Reads, Writes []vast.AnyColumn
	// ReadsResources lists the resources that the system only reads. WritesResources lists the resources that
	// the system writes.
	ReadsResources, WritesResources []Resource
	// Sets are the groups of systems to which the system belongs: see [Schedule.ConfigureSet]. The system
	// runs if the conditions of all of its sets and its own condition hold.
	Sets []Set
	// Before names systems that must wait for this system. After names systems that this system must wait
	// for. A name stands for all other systems that were added with that name, and for all other systems of
	// the [Set] of that name. Before and After may name systems that do not conflict. They may name a system
	// of another phase only if the order of the phases agrees.
	Before, After []string
	// If is the condition of the system. The schedule calls If when it is the system's turn, and skips the
	// system if the condition returns false. The schedule does not call If in ticks in which Every, Rate, a
	// set or [Schedule.Disable] skips the system. The condition may read what the system declares. Default:
	// the system runs in each tick. See [State.In] and [Not].
	If func(*Context) bool
	// Every makes the system run in one of Every ticks: in the ticks whose number is a multiple of Every.
	// Default: each tick.
	Every int
	// Rate makes the system run Rate times in a second of simulated time, and replaces Every. If Options.Rate
	// is no multiple of Rate, the numbers of ticks between two runs differ by one. [Context.Delta] is right
	// in each run.
	Rate int
	// Offset moves the runs of a system with Every or Rate to later ticks. Systems with the same Every and
	// different Offsets share the ticks: with Every 3, the Offsets 0, 1 and 2. With Every, Offset must be
	// less than Every. With Rate, Offset must be less than Options.Rate.
	Offset int
	// Exclusive systems run alone, after all commands recorded so far are applied. They may change the
	// structure directly and touch any column.
	Exclusive bool
	// Start runs before the first tick of the system, and again after [Schedule.Reset]. The Start functions
	// run one after the other, in the order in which the systems were added, as if the systems were
	// exclusive. If Start panics, the tick does not begin, and the next tick calls Start again. Start may be
	// nil.
	Start func(*Context)
	// Run does the work. An exclusive system may make structural changes in Run. Any other system records
	// structural changes in [Context.Commands].
	Run func(*Context)
	// End runs once when the simulation ends, by [Schedule.Stop], [Schedule.Reset] or [Schedule.Close], if
	// the system has started. The End functions run one after the other, in the reverse order of Start, as if
	// the systems were exclusive. End may be nil.
	End func(*Context)
}

// Columns returns its arguments as a list, for Reads and Writes of [System].
func Columns(cols ...vast.AnyColumn) []vast.AnyColumn { return cols }

// Resource names a value that is not a component: a resource of the world or another value that systems
// share (by the type of the value), a queue of package event, or [Jobs]. [Resources] makes a list of
// Resources. Systems that only send events to a queue do not conflict.
type Resource struct {
	typ   reflect.Type
	queue events.Queue // the queue of package event that the Resource names, or nil
	jobs  string       // the name of the Jobs that the Resource names, or empty
}

// ResourceOf returns the Resource of type T, for [System]; see vast.Resource.
func ResourceOf[T any]() Resource { return Resource{typ: reflect.TypeFor[T]()} }

// Resource returns r itself, for [Resources].
func (r Resource) Resource() Resource { return r }

// Resources returns the Resource of each argument, for ReadsResources and WritesResources of [System]. An
// argument is a queue of package event, [Jobs], or a Resource.
func Resources(rs ...interface{ Resource() Resource }) []Resource {
	list := make([]Resource, len(rs))
	for i, r := range rs {
		if r == nil {
			panic(fmt.Sprintf("sched: Resources: argument %d is nil: give a queue, Jobs, or the result of "+
				"ResourceOf", i+1))
		}
		list[i] = r.Resource()
	}
	return list
}

// String returns the name of the type, of the event queue, or of the Jobs.
func (r Resource) String() string {
	if r.jobs != "" {
		return r.jobs
	}
	if r.queue != nil {
		return r.queue.Name()
	}
	return fmt.Sprint(r.typ)
}

// Not returns the negation of a condition.
func Not(f func(*Context) bool) func(*Context) bool { return func(c *Context) bool { return !f(c) } }

// node is a system that was added.
type node struct {
	System
	given         string // the name that Add was called with
	hash          uint64 // hash of the name
	start, end    *node  // run Start and End; nil if the system lacks the function
	started       bool   // true from the end of Start until End is called
	rate          rate   // made from the fields Every, Rate and Offset
	off           bool   // whether the system is disabled or removed; guarded by the schedule's mutex
	reads, writes []probe.ColumnInfo
	written       []int // the numbers of the columns in writes; nil if the system is exclusive

	// Set by plan:
	before, after []required // the systems that Before and After of the system and of its sets name
	groups        []*group   // the system's sets that have a condition
	gated         bool       // whether ticks may skip the system: see Schedule.due
	place         int        // index in the order of the phase
	rank          int        // index in the order of the tick
	next          []*node    // nodes of the same stage that wait for this node
	waitsFor      int        // number of nodes of the same stage for which this node waits

	waiting int           // number of nodes for which this node still waits in the tick under way
	delta   time.Duration // simulated time that a run stands for
	context Context
	took    measured
	times   times // guarded by the schedule's mutex
}

// freeName returns a name that no system has: the given name, or this name with a number.
func (s *Schedule) freeName(given string) string {
	name := given
	for i := 2; s.byName[name] != nil; i++ {
		name = fmt.Sprint(given, " ", i)
	}
	return name
}

// newNode makes the node of a system. It panics if the name, Run, a set, the rate, a column or a resource is
// missing or invalid. The argument what is the name of the public method, for the texts of the panics.
func newNode(s *Schedule, what string, sys System) *node {
	if sys.Name == "" {
		panic(fmt.Sprintf("sched: %s: a system needs a name", what))
	}
	if sys.Run == nil {
		panic(fmt.Sprintf("sched: %s: system %q has no Run", what, sys.Name))
	}
	if slices.Contains(sys.Sets, "") {
		panic(fmt.Sprintf("sched: %s: system %q belongs to a set without a name: name the set", what,
			sys.Name))
	}
	if sys.Phase == "" {
		sys.Phase = Update
	}
	h := fnv.New64a()
	h.Write([]byte(sys.Name))
	n := &node{System: sys, given: sys.Name, hash: h.Sum64(), rate: s.rateOf(what, &sys), delta: s.step}
	n.reads = s.columnsOf(what, sys.Name, "Reads", sys.Reads)
	n.writes = s.columnsOf(what, sys.Name, "Writes", sys.Writes)
	for i := range n.writes {
		n.written = append(n.written, n.writes[i].ID)
	}
	if sys.Exclusive {
		n.written = nil
	}
	for _, list := range [][]Resource{sys.ReadsResources, sys.WritesResources} {
		for _, r := range list {
			if r.typ == nil {
				panic(fmt.Sprintf("sched: %s: system %q names the zero Resource: use ResourceOf, a queue or "+
					"Jobs", what, sys.Name))
			}
			if r.queue != nil && !slices.Contains(s.queues.list, r.queue) {
				panic(fmt.Sprintf("sched: %s: system %q: the event queue %q belongs to another schedule: "+
					"make the queue with the schedule of the system", what, sys.Name, r))
			}
		}
	}
	n.context = Context{schedule: s, system: n}
	n.start, n.end = n.alone(sys.Start, n.hash), n.alone(sys.End, n.hash+1)
	return n
}

// alone returns the node of an exclusive system that runs f, which is Start or End of n. Its random numbers
// depend on hash. The result is nil if f is nil.
func (n *node) alone(f func(*Context), hash uint64) *node {
	if f == nil {
		return nil
	}
	alone := &node{System: System{Name: n.Name, Exclusive: true, Run: f}, hash: hash, delta: n.delta}
	alone.context = Context{schedule: n.context.schedule, system: alone}
	return alone
}

func (s *Schedule) columnsOf(what, system, list string, cols []vast.AnyColumn) []probe.ColumnInfo {
	infos := make([]probe.ColumnInfo, 0, len(cols))
	for i, col := range cols {
		if col == nil || reflect.ValueOf(col).IsZero() {
			panic(fmt.Sprintf("sched: %s: system %q: column %d of %s was not made with NewColumn", what,
				system, i+1, list))
		}
		info := probe.Describe(col)
		if info.World != s.world {
			panic(fmt.Sprintf("sched: %s: system %q: column %s of %s belongs to another world", what,
				system, info.Name, list))
		}
		infos = append(infos, info)
	}
	return infos
}

func (n *node) uses(column int) (declared, writes bool) {
	for i := range n.writes {
		if n.writes[i].ID == column {
			return true, true
		}
	}
	for i := range n.reads {
		if n.reads[i].ID == column {
			return true, false
		}
	}
	return false, false
}
