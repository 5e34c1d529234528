package bulk

import (
	"iter"

	"github.com/vastgo/vast/internal/invariants"
)

// Compact moves lists together at low addresses, each into the smallest cell that holds it, and gives the memory behind
// them back. It is worth its price after many lists were freed or have shrunk.
//
// owners yields the addresses of the Lists that the owners keep, and Compact writes to them where the lists have gone.
// A list that no owner names stays as it is, and where it is, and its List good. So owners may be left out, which
// leaves gaps; and where Compact ends and [Lists.Len] is more than the owners have, lists have lost theirs. The zero
// List may be among them. owners is walked over two or three times and must not change lists. Owners may lie in lists
// of this container: what is yielded after the List that leads to them must be looked up after it was yielded, because
// their addresses change with it.
//
// Pointers and slices to elements go bad, as do copies of the Lists, which are caught; with a List that is caught
// Compact panics, and what it has moved until then is in order. A list without elements gets a cell for one. What
// cannot be moved for lack of memory stays where it is. Compact returns an error where memory cannot be given back, as
// [vm.Region.Decommit] does; the lists are compact all the same.
//
// Complexity: three steps for each owner, a copy of the elements that move, and one step for each 64 cells; for a list
// that is as large as a slab also one for each gap between these. It allocates nothing.
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

// fit moves a list to a cell of the smallest class that holds it, where that is another one, or makes its stretch
// shorter.
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
	// A stretch that was in the way of another, or had no long gap below it, may find one when the slabs are empty; and
	// what found the lowest gap there was may find a lower one.
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
