package vast

import (
	"fmt"
	"iter"
	"slices"

	"github.com/vastgo/vast/internal/bitset"
)

// Tracker notes which entities gained or lost some components, or had them written, since it last looked: for sending
// only what changed, or for bringing up to date what was derived from components. It looks when it is made and whenever
// [Tracker.Next] is called. Make one with [NewTracker].
//
// Written are components by Set, Edit, EditRun, Add, SetAll, AddAll and Exchange, and by being born: whether the value
// differs is not compared. Writing through Get and Slice leaves no mark and costs nothing.
//
// A tracker counts what lies between two looks as one step. A component that was removed and is there again in the same
// entity was changed; one that came and went was nothing. A slot that another entity has taken is one entity removed and
// one added.
//
// For each slot in use and each column it takes 4 bytes and 3 bits of memory, of which what is not touched by changes stays
// unused. Writing a tracked column costs a few instructions more, and making entities with one takes the longer way that
// it takes with hooks. Columns that nobody tracks pay one test.
//
// A tracker is as safe for use as its world: marks may be made by several goroutines at once, as [Column.Edit] says, but not
// while another reads the tracker, or a query with [Query.Changed] of the same column, unless it only makes marks again on
// entities that the query has yielded.
type Tracker struct {
	world   *World
	columns []*column
	marks   []*marks // of each of the columns
	looks   int      // so far
	closed  bool
}

// NewTracker returns a tracker of some columns, which has looked at the world as it is. It panics when no column is given, when
// one is of another world or is named twice, and with a [*vm.Error] when memory is needed and cannot be had, and then
// nothing has changed. It counts as a structural change, so it must not be called while a query runs.
//
// Complexity: as growing each column's presence bits from nothing; it does not look at components.
func NewTracker(w *World, cols ...AnyColumn) *Tracker {
	w.mustBeOpen("NewTracker")
	w.mustNotBeInCallback(opTrack)
	t := &Tracker{world: w, columns: w.columnsOf("NewTracker", cols)}
	if len(cols) == 0 {
		panic("vast: NewTracker: a tracker of no columns has nothing to note: name at least one")
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

// Next looks at the world anew: what was noted is forgotten, and what changes from now on is told of. Complexity: what was
// noted, 64 entities at a time, and one step for each 64 slots in use. It must not be called while a query with [Query.Changed] of this tracker runs, because the
// rest of the run would be missing; it panics in a hook.
func (t *Tracker) Next() {
	t.mustBeOpen("Tracker.Next")
	t.world.mustRunAlone("Tracker.Next")
	t.looks++
	for i, m := range t.marks {
		t.columns[i].flushDirty()
		m.reset()
	}
}

// Close ends the noting and gives the memory back. The tracker, and queries made with it, must not be used any more. It
// counts as a structural change, as [NewTracker] does. Closing twice does nothing; the end of the world closes its
// trackers.
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

// Added yields the entities that have the component now and did not have it, or did not exist, when the tracker last
// looked; in the order of their slots. Values may be changed while it runs; when the structure of the world was changed, or
// the tracker looked anew, the next step panics. It panics when the tracker does not track the column. Complexity:
// what was noted, and one step for each 64 slots in use.
func (t *Tracker) Added(col AnyColumn) iter.Seq[Entity] {
	return t.each("Tracker.Added", col, look{
		set:  func(m *marks) *bitset.Set { return m.touched },
		pick: (*marks).added,
	})
}

// Removed yields the entities that had the component when the tracker last looked, and have lost it or are no more; in the
// order of their slots. Of those that are no more the references are stale, which is as it should be. What
// [Tracker.Added] says holds.
func (t *Tracker) Removed(col AnyColumn) iter.Seq[Entity] {
	return t.each("Tracker.Removed", col, look{
		set:  func(m *marks) *bitset.Set { return m.had },
		pick: (*marks).removed,
		gone: true,
	})
}

// Changed yields the entities that had the component when the tracker last looked, and have it now, written since; in the
// order of their slots. What [Tracker.Added] says holds. What is marked while it runs is not yielded where it has passed; where it has
// not, it may be.
func (t *Tracker) Changed(col AnyColumn) iter.Seq[Entity] {
	return t.each("Tracker.Changed", col, look{
		set:  func(m *marks) *bitset.Set { return m.changed },
		pick: (*marks).rewritten,
	})
}

// look says which entities of a tracker's marks to yield.
type look struct {
	set  func(*marks) *bitset.Set             // where it has no bit in a word, the word has no such entity
	pick func(*marks, *column, uint32) uint64 // the slots in a word
	gone bool                                 // whether the entities are those of the last look
}

// each yields the entities that a look picks.
func (t *Tracker) each(method string, col AnyColumn, l look) iter.Seq[Entity] {
	c, m := t.marksOf(method, col)
	return func(yield func(Entity) bool) {
		t.mustBeOpen(method)
		c.flushDirty()
		set, changes, looks := l.set(m), t.world.changes, t.looks
		for at := set.Next(0); at < uint(set.Len()); at = set.Next(at/64*64 + 64) {
			word := uint32(at / 64)
			for mask := l.pick(m, c, word); mask != 0; mask &= mask - 1 {
				e := Entity{slot: word*64 + trailingZeros(mask)}
				if l.gone {
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
					panic("vast: Tracker.Next was called while " + method + " was running: call it after the loop")
				}
			}
		}
	}
}

// marksOf returns a column that a caller names, and what the tracker notes of it.
func (t *Tracker) marksOf(what string, col AnyColumn) (*column, *marks) {
	t.mustBeOpen(what)
	c := t.world.columnsOf(what, []AnyColumn{col})[0]
	at := slices.Index(t.columns, c)
	if at < 0 {
		panic(fmt.Sprintf("vast: %s: the tracker does not track column %s: name it in NewTracker", what, c.name))
	}
	return c, t.marks[at]
}

func (t *Tracker) mustBeOpen(what string) {
	t.mustBeMade(what)
	t.world.mustBeOpen(what)
	if t.closed {
		panic(fmt.Sprintf("vast: %s: the tracker is closed: do not use it, or a query made with it, after Close", what))
	}
}

func (t *Tracker) mustBeMade(what string) {
	if t == nil || t.world == nil {
		panic(fmt.Sprintf("vast: %s: there is no tracker: make one with NewTracker", what))
	}
}
