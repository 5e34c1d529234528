package observe

import (
	"errors"
	"fmt"
	"iter"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/state"
)

// engine holds the methods of package vast that this package calls.
var engine = state.Vast.(interface {
	WorldOf(q vast.Query) *vast.World
	Generations(method string, w *vast.World) []uint32
})

// Monitor reports which entities entered a query, and which left it, since its last look. A monitor takes a
// look when it is made and at each [Monitor.Next]. The query may have any conditions. Make a Monitor with
// [NewMonitor].
//
// A monitor sees all changes between two looks as one step. It does not report an entity that left the query
// and entered it again. If another entity has taken a slot, the old entity left, and the new entity entered.
// An entity that [vast.Archetype.Pack] or [vast.World.Regroup] has moved left with its old reference and
// entered with its new reference.
//
// A monitor adds no cost to changes of the world. For every 64 slots up to the last slot in use, the monitor
// commits 264 bytes. For each entity that a look reports, the monitor commits 8 bytes. The monitor keeps this
// memory for later looks until [Monitor.Close]. The memory counts in the limit of the world.
//
// The rules of [vast.World] about goroutines hold for a monitor. Next reads the world as a loop over the
// query does. While a goroutine calls Next or Close, no other goroutine may use the monitor.
type Monitor struct {
	world *vast.World
	query vast.Query

	// The notes of the last look have a row for each 64-slot word.
	notes       *bulk.Table
	matched     *bulk.Field[uint64]     // bits of the slots whose entities matched
	generations *bulk.Field[[64]uint32] // for these slots, the generations of the entities

	entered, left entities // the differences that the last look has found
	looks         int      // number of looks
	closed        bool
}

// NewMonitor makes a monitor of a query. The monitor takes its first look. NewMonitor panics for the zero
// Query, if the world is closed, and in a hook. If it gets no memory, it panics with a *vm.Error. NewMonitor
// does not change the world. Complexity: that of [Monitor.Next].
func NewMonitor(q vast.Query) *Monitor {
	m, err := newMonitor("NewMonitor", q)
	if err != nil {
		panic(err)
	}
	looked := false
	defer func() {
		if !looked {
			_ = m.Close()
		}
	}()
	if err := m.look("NewMonitor", true); err != nil {
		panic(err)
	}
	looked = true
	return m
}

// newMonitor returns a monitor whose first look is still to come.
func newMonitor(method string, q vast.Query) (m *Monitor, err error) {
	w := engine.WorldOf(q)
	engine.Generations(method, w) // panics if the world is closed
	o := w.Options()
	m = &Monitor{world: w, query: q}
	m.notes = bulk.NewTable(bulk.TableOptions{Name: "observe.Monitor", Capacity: o.MaxEntities / 64,
		Limit: o.Limit, Pages: o.Pages})
	m.matched = bulk.NewField[uint64](m.notes, "matched")
	m.generations = bulk.NewField[[64]uint32](m.notes, "generations")
	if m.entered, err = newEntities("observe.Monitor", w); err == nil {
		m.left, err = newEntities("observe.Monitor", w)
	}
	if err != nil {
		_ = m.Close()
		return nil, err
	}
	return m, nil
}

// Next takes a new look. Afterwards, Entered and Left report the changes since the look before. Next panics
// if the world is closed, and in a hook. If Next gets no memory, it panics with a *vm.Error. Then Entered and
// Left yield nothing, and the next look reports the changes.
//
// Complexity: that of [vast.Query.Words], one step for each 64 slots up to the last slot in use, and one step
// for each entity that entered or left. For each 64-slot word with matches, Next compares 256 bytes.
func (m *Monitor) Next() {
	m.mustBeOpen("Monitor.Next")
	if err := m.look("Monitor.Next", false); err != nil {
		panic(err)
	}
}

// Entered yields the entities that matched the query at the last look, and that did not match or did not
// exist at the look before. Entered yields them in the order of slots. Before the first [Monitor.Next] it
// yields nothing.
//
// The loop may change the structure of the world. Entered then still yields the entities of the last look,
// and an entity may be stale. If the loop calls Next or Close, the next step panics. Complexity: one step for
// each entity.
func (m *Monitor) Entered() iter.Seq[vast.Entity] {
	m.mustBeOpen("Monitor.Entered")
	return func(yield func(vast.Entity) bool) { m.each("Monitor.Entered", &m.entered, yield) }
}

// Left yields the entities that matched the query at the look before the last look and did not match at the
// last look. A deleted entity is stale. The rules of [Monitor.Entered] hold.
func (m *Monitor) Left() iter.Seq[vast.Entity] {
	m.mustBeOpen("Monitor.Left")
	return func(yield func(vast.Entity) bool) { m.each("Monitor.Left", &m.left, yield) }
}

func (m *Monitor) each(method string, list *entities, yield func(vast.Entity) bool) {
	m.mustBeOpen(method)
	looks := m.looks
	for _, e := range list.all() {
		if !yield(e) {
			return
		}
		m.mustBeOpen(method)
		if m.looks != looks {
			panic("observe: Monitor.Next was called while " + method + " was running: call it after the loop")
		}
	}
}

// Notes returns the notes of the last look, as a container for store.Options.Containers:
//
//	o := store.Options{Containers: map[string]any{"in view": inView.Notes()}}
//
// Make the monitor before store.Load or store.Open. The first look after loading then reports the changes
// since the last look before the file was saved. If the file lacks the notes, the first look after loading
// reports all matches as entered. Do not change the container.
func (m *Monitor) Notes() any {
	m.mustBeOpen("Monitor.Notes")
	return m.notes
}

// Close releases the memory of the monitor. Do not use the monitor after Close. World.Close does not close
// monitors: call Close before or after it. A second Close does nothing. If Close returns an error, another
// call tries to release the remaining memory.
func (m *Monitor) Close() error {
	m.mustBeMade("Monitor.Close")
	m.closed = true
	return errors.Join(m.notes.Close(), m.entered.close(), m.left.close())
}

func (m *Monitor) mustBeOpen(method string) {
	m.mustBeMade(method)
	if m.closed {
		panic(fmt.Sprintf("observe: %s: the monitor is closed: do not use it after Close", method))
	}
}

func (m *Monitor) mustBeMade(method string) {
	if m == nil || m.world == nil {
		panic(fmt.Sprintf("observe: %s: there is no monitor: make one with NewMonitor", method))
	}
}
