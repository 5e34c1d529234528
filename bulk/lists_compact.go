package bulk

import (
	"iter"

	"github.com/vastgo/vast/internal/invariants"
)

// Compact moves lists together at low addresses, each into the smallest cell that holds it, and gives back
// the memory behind them. Compact is worthwhile after many lists were freed or have shrunk.
//
// owners yields the address of each List to move. Compact writes the new Lists to these addresses. A list
// that owners does not yield keeps its place and its List, so gaps may remain. owners may yield the zero
// List. Compact iterates over owners two or three times, and owners must not change lists. If [Lists.Len] is
// larger than the number of lists in all owners, some lists have lost their owners.
//
// The Lists to move may themselves be elements of a list of this container. That list may move, too: after
// owners has yielded the List of that list, owners must look up its elements again.
//
// Pointers and slices to elements, and copies of the Lists, become invalid. Compact panics for a stale List;
// the Lists that it has written before the panic are valid. A list without elements keeps a cell for one
// element. A list stays in its place if there is no memory for the move. If memory cannot be given back,
// Compact returns an error as [vm.Region.Decommit] does; the lists are compact even then.
//
// Complexity: a few steps for each owner, slab and stretch, and a copy of the elements that move. The move of
// a stretch also takes one step for each gap below it.
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

// fit moves a list to a cell of the smallest class that holds it. If the list needs a stretch, fit shortens
// the stretch.
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

// evacuate moves the lists out of the slabs and stretches that startLeaving has marked.
func (ls *Lists[T]) evacuate(owners iter.Seq[*List[T]]) {
	c := &ls.cells
	end := c.startLeaving()
	defer c.endLeaving()
	// In the second walk a stretch may find a lower gap: the first walk has emptied slabs and moved other
	// stretches.
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
