package sched

import (
	"fmt"
	"hash/fnv"
	"reflect"

	"github.com/vastgo/vast"
)

// Phase is a part of a tick: the systems of one phase are done, and their commands applied, before the next one begins.
type Phase string

// Update is the phase of systems that name none.
const Update Phase = "update"

// System is a function that is run each tick, with what the schedule must know to run others beside it.
//
// Two systems conflict when one writes a column or a resource that the other reads or writes. Systems that conflict run
// one after the other, in the order in which they were added unless Before and After say otherwise; the rest of a phase
// runs at once. Columns that a query names only to ask for presence need no declaration: presence does not change while
// systems run, because commands are applied between them. Who wrote a column does: to ask for that, by vast.Query.Changed or
// a vast.Tracker, is to read the column.
type System struct {
	// Name is what messages, statistics, Before and After call the system. Each has its own.
	Name string
	// Phase is where in the tick it runs. Default: [Update].
	Phase Phase
	// Reads and Writes are the columns whose values it reads, and writes or reads and writes.
	Reads, Writes []vast.AnyColumn
	// ReadsResources and WritesResources are the resources that it reads, and writes or reads and writes.
	ReadsResources, WritesResources []Resource
	// Before and After name systems that must start after this one is done, and be done before it starts. Systems that do
	// not conflict may be named, too; a system of another phase only when it says what the phases say anyway.
	Before, After []string
	// If is asked each tick when the system's turn comes; where it says no the system is passed over. It may read what the
	// system declares. Default: always. See [Every] and [Not].
	If func(*Context) bool
	// Exclusive systems run alone, with all commands recorded so far applied. They may change the structure directly and
	// touch any column.
	Exclusive bool
	// Run is the work. It must not make structural changes, unless the system is exclusive: it records them in
	// [Context.Commands].
	Run func(*Context)
}

// Columns lists columns, for [System].
func Columns(cols ...vast.AnyColumn) []vast.AnyColumn { return cols }

// Resource names a value that is not a component: one of the world's, by its type, or any other that systems share.
type Resource struct {
	typ reflect.Type
}

// ResourceOf returns the name of the resource of type T, for [System]; see vast.Resource.
func ResourceOf[T any]() Resource { return Resource{reflect.TypeFor[T]()} }

// Resources lists resources, for [System].
func Resources(rs ...Resource) []Resource { return rs }

// String returns the name of the type.
func (r Resource) String() string { return fmt.Sprint(r.typ) }

// Every returns a condition for [System].If that holds in every n-th tick: those whose number n divides. It panics unless
// n is positive.
func Every(n int) func(*Context) bool {
	if n <= 0 {
		panic(fmt.Sprintf("sched: Every(%d): the number of ticks must be positive", n))
	}
	return func(c *Context) bool { return c.Tick()%uint64(n) == 0 }
}

// Not returns the condition that holds where the given one does not.
func Not(f func(*Context) bool) func(*Context) bool { return func(c *Context) bool { return !f(c) } }

// node is a system that was added.
type node struct {
	System
	hash          uint64 // of the name
	reads, writes []vast.ColumnInfo

	// Of the plan:
	place    int     // in the order of the phase
	next     []*node // those of its stage that wait for it
	waitsFor int     // how many of its stage it waits for

	waiting int // how many of them are not done, in the tick under way
	context Context
	took    measured
	times   times // guarded by the schedule's mutex
}

// newNode checks what can be said of a system by itself.
func newNode(s *Schedule, sys System) *node {
	if sys.Name == "" {
		panic("sched: Schedule.Add: a system needs a name")
	}
	if s.byName[sys.Name] != nil {
		panic(fmt.Sprintf("sched: Schedule.Add: there is a system %q already: give each its own name", sys.Name))
	}
	if sys.Run == nil {
		panic(fmt.Sprintf("sched: Schedule.Add: system %q has no Run", sys.Name))
	}
	if sys.Phase == "" {
		sys.Phase = Update
	}
	h := fnv.New64a()
	h.Write([]byte(sys.Name))
	n := &node{System: sys, hash: h.Sum64(), times: newTimes(recentRuns)}
	n.reads = s.columnsOf(sys.Name, "Reads", sys.Reads)
	n.writes = s.columnsOf(sys.Name, "Writes", sys.Writes)
	for _, list := range [][]Resource{sys.ReadsResources, sys.WritesResources} {
		for _, r := range list {
			if r.typ == nil {
				panic(fmt.Sprintf("sched: Schedule.Add: system %q names the zero Resource: use ResourceOf", sys.Name))
			}
		}
	}
	n.context = Context{schedule: s, system: n}
	return n
}

// columnsOf describes the columns that a system names.
func (s *Schedule) columnsOf(system, list string, cols []vast.AnyColumn) []vast.ColumnInfo {
	infos := make([]vast.ColumnInfo, 0, len(cols))
	for i, col := range cols {
		if col == nil || reflect.ValueOf(col).IsZero() {
			panic(fmt.Sprintf("sched: Schedule.Add: system %q: column %d of %s was not made with NewColumn", system, i+1, list))
		}
		info := vast.Describe(col)
		if info.World != s.world {
			panic(fmt.Sprintf("sched: Schedule.Add: system %q: column %s of %s belongs to another world", system, info.Name, list))
		}
		infos = append(infos, info)
	}
	return infos
}

// uses reports whether a system declares the column, and whether it writes it.
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
