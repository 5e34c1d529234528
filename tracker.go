package vast

import (
	"fmt"
	"iter"
	"slices"

	"github.com/vastgo/vast/internal/bitset"
)

// Tracker notes changes of components in its columns since its last look: which entities gained a component,
// lost a component, or had a component written. A tracker takes a look when it is made and at each
// [Tracker.Next]. Use a Tracker to send only changes, or to update data that is derived from components. Make
// a Tracker with [NewTracker].
//
// The methods Set, Edit, EditAt, EditRun, Add, EditOrAdd, SetAll, AddAll and Exchange, and the birth of an
// entity, count as writes. A tracker does not compare values: a write of an equal value counts, too. Writes
// through Get, At and Slice are not noted and have no additional cost.
//
// A tracker sees all changes between two looks as one step. A component that was removed and added again to
// the same entity counts as changed. A component that was added and removed again does not count. If another
// entity has taken a slot, the old entity counts as removed, and the new entity as added.
//
// For each of its columns, a tracker commits 4 bytes and 3 bits for each slot in use. Pages without notes are
// never touched. A write of a tracked column costs a few instructions more; a write of another column costs
// one test. The birth of an entity with a tracked column takes a slower path, as with hooks.
//
// The rules of [World] about goroutines hold for a tracker. Several goroutines may write a tracked column at
// the same time, as [Column.Edit] says. While they write, no goroutine may read the tracker or run a query
// with [Query.Changed] of that column, with one exception: a loop over the query may write the entities that
// the query has yielded.
type Tracker struct {
	world   *World
	columns []*column
	marks   []*marks // the notes about each column, in the order of columns
	looks   int      // number of calls of Next
	closed  bool
}

// NewTracker makes a tracker of the given columns. The tracker takes its first look. NewTracker panics if no
// column is given, or if a column belongs to another world or is given twice. If NewTracker gets no memory,
// it panics with a [*vm.Error] and changes nothing. NewTracker counts as a structural change: do not call it
// while a query runs.
//
// Complexity: for each column, one step for each 64 slots in use, and the commit of the memory for notes.
// NewTracker does not read components.
func NewTracker(w *World, cols ...AnyColumn) *Tracker {
	w.mustBeOpen("NewTracker")
	w.mustNotBeInCallback(opTrack)
	t := &Tracker{world: w, columns: w.columnsOf("NewTracker", cols)}
	if len(cols) == 0 {
		panic("vast: NewTracker: a tracker of no columns notes nothing: name at least one")
	}
	for _, c := range t.columns {
		m, err := w.newMarks()
		if err == nil {
			if err = c.track(m); err != nil {
				w.giveBackMarks(m)
			}
		}
		if err != nil {
			for i, m := range t.marks {
				t.columns[i].untrack(m)
			}
			panic(err)
		}
		t.marks = append(t.marks, m)
	}
	for _, c := range t.columns {
		w.observe(c)
	}
	w.changed(opTrack, 1)
	return t
}

// Next takes a new look at the world: it deletes all notes. Do not call Next while a query with
// [Query.Changed] of this tracker runs, because the query would miss the entities that it has not yielded
// yet. Next panics in a hook and in any other callback of a method. Complexity: one step for each 64-slot
// word with notes, and one step for each 64 slots in use.
func (t *Tracker) Next() {
	t.mustBeOpen("Tracker.Next")
	t.world.mustRunAlone("Tracker.Next")
	t.looks++
	for i, m := range t.marks {
		t.columns[i].flushDirty()
		m.reset()
	}
}

// Close stops the tracker and releases its memory. Do not use the tracker, or a query made with it, after
// Close. Close counts as a structural change, as [NewTracker] does. A second Close does nothing. World.Close
// closes all trackers of the world.
func (t *Tracker) Close() {
	t.mustBeMade("Tracker.Close")
	if t.closed || t.world.closed {
		return
	}
	w := t.world
	w.mustNotBeInCallback(opUntrack)
	t.closed = true
	for i, c := range t.columns {
		c.untrack(t.marks[i])
		w.unobserve(c)
	}
	t.marks = nil
	w.changed(opUntrack, 1)
}

// Added yields the entities that have the component now and did not have it, or did not exist, at the
// tracker's last look. Added yields them in the order of slots. The loop may change values. If the loop
// changes the structure of the world or calls [Tracker.Next], the next step panics. Added panics if the
// tracker does not track the column. Complexity: one step for each note, and one step for each 64 slots in
// use.
func (t *Tracker) Added(col AnyColumn) iter.Seq[Entity] {
	return t.each("Tracker.Added", col, selection{
		set:  func(m *marks) *bitset.Set { return m.touched },
		pick: (*marks).added,
	})
}

// Removed yields the entities that had the component at the tracker's last look, and have lost the component
// or were deleted since then. Removed yields them in the order of slots. A deleted entity is stale. The rules
// of [Tracker.Added] hold.
func (t *Tracker) Removed(col AnyColumn) iter.Seq[Entity] {
	return t.each("Tracker.Removed", col, selection{
		set:  func(m *marks) *bitset.Set { return m.had },
		pick: (*marks).removed,
		gone: true,
	})
}

// Changed yields the entities that had the component at the tracker's last look, have the component now, and
// whose component was written since then. Changed yields them in the order of slots. The rules of
// [Tracker.Added] hold. The loop may also yield an entity that is written during the loop.
func (t *Tracker) Changed(col AnyColumn) iter.Seq[Entity] {
	return t.each("Tracker.Changed", col, selection{
		set:  func(m *marks) *bitset.Set { return m.changed },
		pick: (*marks).rewritten,
	})
}

// selection selects entities from the notes of a tracker.
type selection struct {
	set  func(*marks) *bitset.Set             // returns a set with a bit in each word that pick must examine
	pick func(*marks, *column, uint32) uint64 // returns the selected slots of a word
	gone bool                                 // whether to yield the entities of the last look
}

func (t *Tracker) each(method string, col AnyColumn, sel selection) iter.Seq[Entity] {
	c, m := t.marksOf(method, col)
	return func(yield func(Entity) bool) {
		t.mustBeOpen(method)
		c.flushDirty()
		set, changes, looks := sel.set(m), t.world.changes, t.looks
		for slot := set.Next(0); slot < uint(set.Len()); slot = set.Next(slot/64*64 + 64) {
			word := uint32(slot / 64)
			for mask := sel.pick(m, c, word); mask != 0; mask &= mask - 1 {
				e := Entity{slot: word*64 + trailingZeros(mask)}
				if sel.gone {
					e.generation = *m.generation(e.slot)
				} else {
					e.generation = *t.world.generation(e.slot)
				}
				if !yield(e) {
					return
				}
				if t.world.changes != changes {
					t.world.changedWhile(method + " was running")
				}
				if t.looks != looks {
					panic("vast: Tracker.Next was called while " + method + " was running: call it after " +
						"the loop")
				}
			}
		}
	}
}

func (t *Tracker) marksOf(what string, col AnyColumn) (*column, *marks) {
	t.mustBeOpen(what)
	c := t.world.columnsOf(what, []AnyColumn{col})[0]
	at := slices.Index(t.columns, c)
	if at < 0 {
		panic(fmt.Sprintf("vast: %s: the tracker does not track column %s: name it in NewTracker", what,
			c.name))
	}
	return c, t.marks[at]
}

func (t *Tracker) mustBeOpen(what string) {
	t.mustBeMade(what)
	t.world.mustBeOpen(what)
	if t.closed {
		panic(fmt.Sprintf("vast: %s: the tracker is closed: do not use it, or a query made with it, "+
			"after Close", what))
	}
}

func (t *Tracker) mustBeMade(what string) {
	if t == nil || t.world == nil {
		panic(fmt.Sprintf("vast: %s: there is no tracker: make one with NewTracker", what))
	}
}
