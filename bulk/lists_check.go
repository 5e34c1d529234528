package bulk

import (
	"fmt"
	"math/bits"
)

// changed counts a change and sometimes calls checkInvariants: more rarely in larger containers, so that
// tests with many lists do not become slow.
func (ls *Lists[T]) changed() {
	if ls.unchecked++; ls.unchecked*16 >= ls.count+int(ls.cells.usable)<<ls.cells.shiftBoth/256 {
		ls.checkInvariants()
	}
}

// checkInvariants panics if the bookkeeping contradicts itself. Complexity: one step for each list, for each
// unit, and for each 64 cells.
func (ls *Lists[T]) checkInvariants() {
	ls.unchecked = 0
	c, lists := &ls.cells, 0
	for place := range c.lists() {
		h, r := c.at(place), c.holdings[place>>c.shiftBoth]
		if h.generation < max(1, r.since) || !c.mine(h.generation) || h.len > r.room || r.room == 0 {
			ls.broken("the list at place %d has generation %#x, want %#x to %#x; it has %d elements, want "+
				"at most %d", place, h.generation, r.since, c.newest, h.len, r.room)
		}
		lists++
	}
	if lists != ls.count {
		ls.broken("the count of lists is %d, but there are %d lists", ls.count, lists)
	}
	if len(c.holdings) != int(c.usable) {
		ls.broken("there are %d holdings for %d usable units", len(c.holdings), c.usable)
	}
	if len(c.holdings) > 0 && (c.holdings[0] != holding{} || *c.at(0) != cell{}) {
		ls.broken("the zero List has the cell %v and the holding %v, want zeros", *c.at(0), c.holdings[0])
	}
	ls.checkUnits()
}

func (ls *Lists[T]) broken(format string, args ...any) {
	panic("bulk: " + ls.cells.plan.name + ": broken invariant: " + fmt.Sprintf(format, args...))
}

// checkUnits checks the slabs and stretches (see type cells), and the free units between them.
func (ls *Lists[T]) checkUnits() {
	c := &ls.cells
	if c.usable > c.units {
		ls.broken("%d of %d units are usable", c.usable, c.units)
	}
	empty := make([]int, len(c.classes))
	open := make([]int, len(c.classes))
	end := uint(firstUnit)
	for u := c.nextUsed(end); u < c.units; u = c.nextUsed(end) {
		ls.checkFree(end, u)
		s, r := c.slab(u), c.holdings[u]
		end = u + uint(s.units)
		if s.units == 0 || end > c.usable || s.back != 0 || s.leaving {
			ls.broken("the slab or stretch at unit %d is %+v, and %d units are usable", u, *s, c.usable)
		}
		if since := r.since; since == unheld || c.wrapped && since != 1 || !c.mine(since) {
			ls.broken("unit %d has the first generation %#x; the newest generation is %#x", u, since,
				c.newest)
		}
		for i := u; i < end; i++ {
			if !c.used.Test(i) {
				ls.broken("unit %d of the slab or stretch at unit %d is marked free", i, u)
			}
		}
		if s.class == stretchClass {
			ls.checkFree(u+1, end)
			if r.room != c.roomOf(uint(s.units)) {
				ls.broken("a stretch of %d units has room for %d elements, want %d", s.units, r.room,
					c.roomOf(uint(s.units)))
			}
			continue
		}
		cl := &c.classes[s.class]
		for i := u; i < end; i++ {
			if c.slab(i).back != uint32(i-u) || c.holdings[i] != r || r.room != cl.room {
				ls.broken("unit %d of the slab at unit %d does not refer to the slab, or has the holding %+v",
					i, u, c.holdings[i])
			}
		}
		free, any, ready := 0, uint64(0), 0
		for i := range (cl.cells + wordBits - 1) / wordBits {
			if m := *s.word(i); m != 0 {
				free += bits.OnesCount64(m)
				any |= 1 << i
			}
		}
		if cl.ready != 0 && uint(cl.readySlab) == u {
			ready = bits.OnesCount64(cl.ready)
			if *s.word(cl.readyWord)&cl.ready != 0 {
				ls.broken("ready cells of the slab at unit %d are marked free", u)
			}
		}
		if free != int(s.free) || any != s.any || s.units != cl.units {
			ls.broken("the slab at unit %d counts %d free cells, want %d; its words with free cells are "+
				"%#x, want %#x; it has %d units, want %d", u, s.free, free, s.any, any, s.units, cl.units)
		}
		if free+ready > int(cl.cells) {
			ls.broken("the slab at unit %d has %d free cells and %d ready cells, but only %d cells", u, free,
				ready, cl.cells)
		}
		isOpen := u < uint(cl.open.Len()) && cl.open.Test(u)
		if isOpen != (free > 0) || isOpen && cl.lowest > u {
			ls.broken("the slab at unit %d has %d free cells; it is open: %t; the lowest open slab is at "+
				"unit %d", u, free, isOpen, cl.lowest)
		}
		if free > 0 {
			open[s.class]++
		}
		if s.free == cl.cells {
			empty[s.class]++
		}
	}
	ls.checkFree(end, c.usable)
	for i := range c.classes {
		if n := c.classes[i].open.Count(); n != open[i] || empty[i] > 1 {
			ls.broken("class %d has %d open slabs, want %d; %d slabs have no lists, want at most 1", i, n,
				open[i], empty[i])
		}
	}
	for u := uint(firstUnit); u < c.lowest; u++ {
		if !c.used.Test(u) {
			ls.broken("unit %d is free, but below the lowest free unit %d", u, c.lowest)
		}
	}
}

// checkFree panics if a List may refer to one of the units [lo, hi).
func (ls *Lists[T]) checkFree(lo, hi uint) {
	for u := lo; u < hi; u++ {
		if ls.cells.holdings[u].since != unheld {
			ls.broken("no list can begin in unit %d, but the unit has the first generation %#x", u,
				ls.cells.holdings[u].since)
		}
	}
}
