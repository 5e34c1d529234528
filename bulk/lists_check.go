package bulk

import (
	"fmt"
	"math/bits"
)

// changed calls checkInvariants after a change, often enough to be near the cause and seldom enough that many lists can be
// tested: the checks take no more than a constant factor of the changes.
func (ls *Lists[T]) changed() {
	if ls.unchecked++; ls.unchecked*16 >= int(ls.headers.slots)+int(ls.cells.usable)<<ls.cells.shiftBoth/256 {
		ls.checkInvariants()
	}
}

// checkInvariants panics when the bookkeeping contradicts itself. Complexity: one step for each list and each cell.
func (ls *Lists[T]) checkInvariants() {
	ls.unchecked = 0
	ls.taken.checkInvariants()
	stretches := 0
	owned := map[uint32]bool{} // places of lists
	inSlab := map[uint]uint32{}
	for handle, h := range ls.taken.All() {
		if handle.slot == 0 {
			if *h != nothing {
				ls.broken("the zero List is %v", *h)
			}
			continue
		}
		if h.generation != handle.generation || h.len > h.room || h.room == 0 {
			ls.broken("list %d of generation %#x has %d elements, room for %d, and generation %#x", handle.slot,
				handle.generation, h.len, h.room, h.generation)
		}
		if owned[h.place] {
			ls.broken("two lists are at place %d", h.place)
		}
		owned[h.place] = true
		if u, isStretch := ls.checkPlace(h); isStretch {
			stretches++
		} else {
			inSlab[u]++
		}
	}
	for i := range ls.headers.slots {
		if h := ls.taken.slot(i).generation; h != 0 && !ls.taken.live.Test(i) {
			ls.broken("slot %d has no list, but generation %#x", i, h)
		}
	}
	ls.checkUnits(stretches, inSlab)
}

func (ls *Lists[T]) broken(format string, args ...any) {
	panic("bulk: " + ls.plan.name + ": broken invariant: " + fmt.Sprintf(format, args...))
}

// checkPlace checks that the place of a list is one of its size and is taken. It returns its first unit.
func (ls *Lists[T]) checkPlace(h *listHeader) (u uint, isStretch bool) {
	c := &ls.cells
	u = uint(h.place >> c.shiftBoth)
	if u >= c.usable || !c.used.Test(u) {
		ls.broken("a list is in unit %d, which is not used", u)
	}
	k := c.classFor(int(h.room))
	if k == len(c.classes) {
		s := c.slab(u)
		if s.class != stretchClass || c.roomOf(uint(s.units)) != h.room || h.place != uint32(u)<<c.shiftBoth {
			ls.broken("a list with room for %d elements is in unit %d of class %d", h.room, u, s.class)
		}
		return u, true
	}
	u -= uint(c.slab(u).back)
	s, cl := c.slab(u), &c.classes[k]
	at := h.place - uint32(u)<<c.shiftBoth
	if s.class != uint32(k) || cl.room != h.room || at%cl.places != 0 || at/cl.places >= cl.cells {
		ls.broken("a list with room for %d elements is at place %d of a slab of class %d", h.room, at, s.class)
	}
	if i := at / cl.places; cl.ready != 0 && uint(cl.readySlab) == u && i/wordBits == cl.readyWord && cl.ready>>(i%wordBits)&1 != 0 {
		ls.broken("cell %d of unit %d has a list and is ready for another", i, u)
	} else if *s.word(i / wordBits)>>(i%wordBits)&1 != 0 {
		ls.broken("cell %d of unit %d has a list and is free", i, u)
	}
	return u, false
}

// checkUnits walks over the slabs and stretches, which must not overlap, and compares them with what the lists take of them.
func (ls *Lists[T]) checkUnits(stretches int, inSlab map[uint]uint32) {
	c := &ls.cells
	if c.usable > c.units {
		ls.broken("%d of %d units are usable", c.usable, c.units)
	}
	empty := make([]int, len(c.classes))
	open := make([]int, len(c.classes))
	end := uint(0)
	for u := c.nextUsed(0); u < c.units; u = c.nextUsed(end) {
		s := c.slab(u)
		end = u + uint(s.units)
		if s.units == 0 || end > c.usable {
			ls.broken("%d units from %d on, of %d", s.units, u, c.usable)
		}
		for i := u; i < end; i++ {
			if !c.used.Test(i) {
				ls.broken("unit %d is a part of the slab or stretch at %d, but free", i, u)
			}
		}
		if s.class == stretchClass {
			stretches--
			continue
		}
		cl := &c.classes[s.class]
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
				ls.broken("unit %d has cells that are ready and free", u)
			}
		}
		if free != int(s.free) || any != s.any || s.units != cl.units {
			ls.broken("unit %d has %d free cells in words %#x, by the bits %d in %#x", u, s.free, s.any, free, any)
		}
		if free+ready+int(inSlab[u]) != int(cl.cells) {
			ls.broken("unit %d has %d free cells, %d ready, and %d lists, of %d", u, free, ready, inSlab[u], cl.cells)
		}
		isOpen := u < uint(cl.open.Len()) && cl.open.Test(u)
		if isOpen != (free > 0) || isOpen && cl.lowest > u {
			ls.broken("unit %d has %d free cells, but open is %t and the lowest slab %d", u, free, isOpen, cl.lowest)
		}
		if free > 0 {
			open[s.class]++
		}
		if s.free == cl.cells {
			empty[s.class]++
		}
	}
	if stretches != 0 {
		ls.broken("%d lists more than stretches of their own", stretches)
	}
	for i := range c.classes {
		if n := c.classes[i].open.Count(); n != open[i] || empty[i] > 1 {
			ls.broken("class %d has %d slabs with free cells, %d by the bits, and %d without lists", i, open[i], n, empty[i])
		}
	}
	if u := uint(0); c.lowest > 0 {
		if u < uint(c.used.Len()) {
			u = c.used.NextClear(0)
		}
		if u < c.lowest {
			ls.broken("unit %d is free below %d", u, c.lowest)
		}
	}
}
