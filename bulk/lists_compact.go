package bulk

import (
	"iter"

	"github.com/vastgo/vast/internal/invariants"
)

// Compact moves lists together at low addresses, each into the smallest cell that holds it, and gives back
// the memory behind them. Compact is worthwhile after many lists were freed or have shrunk.
//
// owners yields the addresses of the Lists that the owners keep. Compact writes the new Lists to these
// addresses. A list that owners does not yield stays in its place, so that gaps may remain; its List stays
// valid. If [Lists.Len] is larger than the number of yielded lists, some lists have lost their owners. owners
// may also yield the zero List. Compact iterates over owners two or three times; owners must not change
// lists. Owners may be elements of a list L of this container. After owners has yielded the List of L, it
// must look up the owners in L again, because their addresses may have changed.
//
// Pointers and slices to elements become invalid, as do copies of the Lists. Compact panics for a stale List;
// lists that were moved before the panic stay valid. A list without elements gets a cell for one element. A
// list that cannot move for lack of memory stays in its place. Compact returns an error as
// [vm.Region.Decommit] does if memory cannot be given back; even then the lists are compact.
//
// Complexity: three steps for each owner, a copy of the elements that move, and one step for each 64 cells. A
// list with a stretch of its own also takes one step for each gap between slabs and stretches. Compact
// allocates nothing.
func (ls *Lists[T]) Compact(owners iter.Seq[*List[T]]) error {
	ls.mustBeOpen()
	for l := range owners {
		ls.fit(l)
	}
	ls.evacuate(owners)
	err := ls.cells.shrink()
	if invariants.Enabled {
		ls.checkInvariants()
	}
	return err
}

// fit moves a list to a cell of the smallest class that holds it, unless its cell has this class. fit
// shortens a stretch that is longer than necessary.
func (ls *Lists[T]) fit(l *List[T]) {
	c := &ls.cells
	n := max(1, int(ls.find(*l).len))
	if l.generation == 0 {
		return
	}
	if k := c.classFor(n); k < len(c.classes) {
		if c.classes[k].room != c.room(l.place) {
			if place, generation, err := c.take(opCompact, n); err == nil {
				ls.move(l, place, generation)
			}
		}
		return
	}
	u, s := c.first(l.place)
	if need := c.unitsFor(n); need < uint(s.units) {
		c.giveUnits(u+need, uint(s.units)-need)
		c.resize(s, u, need)
	}
}

// evacuate moves the lists out of the slabs that are to be emptied.
func (ls *Lists[T]) evacuate(owners iter.Seq[*List[T]]) {
	c := &ls.cells
	end := c.startLeaving()
	defer c.endLeaving()
	// The second walk is for stretches that have blocked another stretch, or have found no gap below them
	// that was long enough: once the slabs are empty, there may be such a gap. A list that has moved to the
	// lowest gap in the first walk may find a lower gap in the second walk.
	for walks, missed := 0, true; missed && walks < 2; walks++ {
		missed = false
		for l := range owners {
			if ls.find(*l); l.generation == 0 {
				continue
			}
			if _, s := c.first(l.place); !s.leaving {
				continue
			}
			if place, generation, ok := c.lower(l.place); ok {
				ls.move(l, place, generation)
			} else if place, generation, ok := c.slide(l.place); ok {
				*l = List[T]{place, generation}
			} else {
				missed = true
			}
		}
		missed = c.leaveBehind(end) || missed
	}
}
