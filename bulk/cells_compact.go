package bulk

import (
	"errors"
	"iter"
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// held yields the first unit and the table entry of each slab and stretch (see type cells), in ascending
// order. The body may free and make slabs and stretches.
func (c *cells) held() iter.Seq2[uint, *slab] {
	return func(yield func(uint, *slab) bool) {
		for u := c.nextUsed(firstUnit); u < c.units; {
			if c.begins(u) && !yield(u, c.slab(u)) {
				return
			}
			// The body may have made another slab or stretch at u, perhaps a longer one.
			if c.begins(u) {
				u += uint(c.slab(u).units)
			} else {
				u++
			}
			u = c.nextUsed(u)
		}
	}
}

// begins reports whether a slab or stretch begins with unit u.
func (c *cells) begins(u uint) bool { return c.holdings[u].since != unheld && c.slab(u).back == 0 }

// The method lists yields the place of each list. The body may take and free cells. Freed cells are not
// yielded any more; new cells may be yielded or not.
func (c *cells) lists() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for u, s := range c.held() {
			since := c.holdings[u].since
			if s.class == stretchClass {
				if !yield(uint32(u << c.shiftBoth)) {
					return
				}
				continue
			}
			cl := &c.classes[s.class]
			for i := uint32(0); i*wordBits < cl.cells && c.holdings[u].since == since; i++ {
				for passed := uint64(0); c.holdings[u].since == since; {
					m := c.taken(cl, u, s, i) &^ passed
					if m == 0 {
						break
					}
					b := uint32(bits.TrailingZeros64(m))
					passed = 2<<b - 1
					if !yield(uint32(u)<<c.shiftBoth + (i*wordBits+b)*cl.places) {
						return
					}
				}
			}
		}
	}
}

// taken returns a bit for each cell with a list, in the order of word i of the slab's bitmap.
func (c *cells) taken(cl *sizeClass, u uint, s *slab, i uint32) uint64 {
	m := uint64(full)
	if left := cl.cells - i*wordBits; left < wordBits {
		m = 1<<left - 1
	}
	if cl.ready != 0 && uint(cl.readySlab) == u && cl.readyWord == i {
		m &^= cl.ready
	}
	return m &^ *s.word(i)
}

// end returns the first unit behind all slabs and stretches.
func (c *cells) end() uint {
	end := uint(firstUnit)
	for u, s := range c.held() {
		end = u + uint(s.units)
	}
	return end
}

// startLeaving marks the slabs and stretches whose lists are to move to lower addresses. First it marks, in
// each class, the highest slabs whose lists fit into the other slabs. Without gaps, the other slabs and all
// stretches would end at the unit whose number startLeaving returns. Then it marks the slabs and stretches
// that end behind this unit.
func (c *cells) startLeaving() (end uint) {
	c.reclaim()
	for i := range c.classes {
		c.classes[i].lists = 0
	}
	for _, s := range c.held() {
		if s.class != stretchClass {
			c.classes[s.class].lists += uint(c.classes[s.class].cells - s.free)
		}
	}
	end = firstUnit
	for u, s := range c.held() {
		if s.class != stretchClass {
			cl := &c.classes[s.class]
			if cl.lists == 0 {
				c.leave(u, s)
				continue
			}
			cl.lists -= min(cl.lists, uint(cl.cells))
		}
		end += uint(s.units)
	}
	c.leaveBehind(end)
	return end
}

// leaveBehind marks the slabs and stretches that end behind the given unit, and reports whether there are
// any.
func (c *cells) leaveBehind(end uint) (found bool) {
	c.reclaim()
	for u, s := range c.held() {
		if u+uint(s.units) > end {
			c.leave(u, s)
			found = true
		}
	}
	for i := range c.classes {
		c.classes[i].findLowest(0)
	}
	return found
}

// leave marks a slab or a stretch. No cells of a marked slab are handed out.
func (c *cells) leave(u uint, s *slab) {
	if s.class != stretchClass && s.any != 0 {
		c.classes[s.class].open.Clear(u)
	}
	s.leaving = true
}

// endLeaving removes the marks.
func (c *cells) endLeaving() {
	for u, s := range c.held() {
		if s.leaving && s.class != stretchClass && s.any != 0 {
			c.classes[s.class].addOpen(u)
		}
		s.leaving = false
	}
	c.reclaim()
}

// lower hands out a cell or stretch at a lower address, for the list at a place in a marked slab or stretch.
// ok is false if no lower place is free.
func (c *cells) lower(place uint32) (at, generation uint32, ok bool) {
	u, s := c.first(place)
	if s.class != stretchClass {
		cl := &c.classes[s.class]
		next := cl.lowest
		if next == noSlab {
			next = c.gap(uint(cl.units))
		}
		if cl.ready == 0 && next > u {
			return 0, 0, false
		}
		at, generation, err := c.take(opCompact, int(cl.room))
		return at, generation, err == nil
	}
	to := c.gap(uint(s.units))
	if to > u {
		return 0, 0, false
	}
	c.use(to, to+uint(s.units))
	at, generation = c.holdStretch(to, uint(s.units))
	return at, generation, true
}

// slide moves a stretch with its elements down over the free units before it. It returns the new place and
// generation; ok is false for a slab, and if no unit before the stretch is free.
func (c *cells) slide(place uint32) (at, generation uint32, ok bool) {
	u, s := c.first(place)
	to := u
	for to > firstUnit && !c.used.Test(to-1) {
		to--
	}
	if s.class != stretchClass || to == u {
		return 0, 0, false
	}
	units, n := uint(s.units), c.at(place).len
	copy(c.bytes(to, units), c.bytes(u, units))
	c.giveUnits(u, units)
	c.use(to, to+units)
	at, generation = c.holdStretch(to, units)
	c.at(at).len = n
	return at, generation, true
}

// bytes returns the memory of the given number of units from unit u on. It is sound for usable units: the
// memory is committed and holds no Go pointers.
func (c *cells) bytes(u, units uint) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(c.base, u<<c.shiftUnit)), units<<c.shiftUnit)
}

// shrink gives back the memory behind the last slab or stretch, in whole pages. If the elements may have huge
// pages and the remaining memory fills a huge page, shrink gives back whole huge pages only.
func (c *cells) shrink() error {
	keep := int(c.end()) << c.shiftUnit
	if keep == firstUnit<<c.shiftUnit {
		keep = 0
	}
	if huge := vm.HugePageSize(); c.elements.advised && huge > 0 && keep >= huge {
		keep = min((keep+huge-1)/huge*huge, c.elements.Size())
	}
	err := c.elements.DecommitTo(keep)
	c.measure(min(c.usable, uint(c.elements.Committed())>>c.shiftUnit))
	return errors.Join(err, c.table.DecommitTo(int(c.usable*c.bytesSlab)))
}
