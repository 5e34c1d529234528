package bulk

import (
	"errors"
	"iter"
	"math"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// leaving marks a slab that is to be evacuated.
const leaving = math.MaxUint32

// held yields the slabs and stretches in ascending order, by their first units.
func (c *cells) held() iter.Seq2[uint, *slab] {
	return func(yield func(uint, *slab) bool) {
		for u := c.nextUsed(0); u < c.units; {
			s := c.slab(u)
			end := u + uint(s.units) // the body may change what s describes
			if !yield(u, s) {
				return
			}
			u = c.nextUsed(end)
		}
	}
}

// end returns the first unit behind all slabs and stretches.
func (c *cells) end() (end uint) {
	for u, s := range c.held() {
		end = u + uint(s.units)
	}
	return end
}

// chooseLeaving marks the slabs that their class can do without: the highest ones. They have no free cells any more.
func (c *cells) chooseLeaving() {
	for i := range c.classes {
		cl := &c.classes[i]
		c.putBack(cl)
		cl.lists = 0
	}
	for _, s := range c.held() {
		if s.class != stretchClass {
			c.classes[s.class].lists += uint(c.classes[s.class].cells - s.free)
		}
	}
	for u, s := range c.held() {
		if s.class == stretchClass {
			continue
		}
		cl := &c.classes[s.class]
		if s.to = 0; cl.lists == 0 {
			s.to = leaving
			if s.any != 0 {
				cl.open.Clear(u)
			}
		}
		cl.lists -= min(cl.lists, uint(cl.cells))
	}
	for i := range c.classes {
		c.classes[i].findLowest(0)
	}
}

// dropLeaving takes back the slabs that were marked, in which no list is left.
func (c *cells) dropLeaving() {
	for u, s := range c.held() {
		if s.class != stretchClass && s.to == leaving {
			c.giveUnits(u, uint(s.units))
		}
	}
	for i := range c.classes {
		c.putBack(&c.classes[i])
	}
}

// aim says of each slab and stretch where it comes to lie when all are moved down, and returns the first unit behind them.
func (c *cells) aim() (next uint) {
	for _, s := range c.held() {
		s.to = uint32(next)
		next += uint(s.units)
	}
	return next
}

// slide moves the slabs and stretches to where aim has put them, so that they end before unit next. None moves up, so none
// comes to lie on one that has not moved yet.
func (c *cells) slide(next uint) {
	end := c.end()
	for u, s := range c.held() {
		if to := uint(s.to); to != u {
			units := uint(s.units)
			// Both are sound for usable units: the memory is committed and holds no Go pointers.
			copy(c.bytes(to, units), c.bytes(u, units))
			n := units * c.bytesSlab
			copy(unsafe.Slice((*byte)(unsafe.Pointer(c.slab(to))), n), unsafe.Slice((*byte)(unsafe.Pointer(s)), n))
		}
	}
	if invariants.Enabled {
		invariants.Poison(c.bytes(next, end-next))
	}
	c.used.Erase(0, end)
	c.used.Fill(0, next)
	c.lowest = next
	for i := range c.classes {
		c.classes[i].open.Empty()
		c.classes[i].lowest = noSlab
	}
	for u, s := range c.held() {
		if s.class != stretchClass && s.any != 0 {
			c.classes[s.class].addOpen(u)
		}
	}
}

// bytes returns the memory of some units.
func (c *cells) bytes(u, units uint) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(c.elements.Base(), u<<c.shiftUnit)), units<<c.shiftUnit)
}

// shrink gives back the memory behind the last slab or stretch: all but the rest of a page, or of a huge page from one of these on.
func (c *cells) shrink() error {
	keep := int(c.end()) << c.shiftUnit
	if huge := vm.HugePageSize(); c.elements.advised && huge > 0 && keep >= huge {
		keep = min((keep+huge-1)/huge*huge, c.elements.Size())
	}
	err := c.elements.Shrink(keep)
	c.usable = min(c.usable, uint(c.elements.Committed())>>c.shiftUnit)
	return errors.Join(err, c.table.Shrink(int(c.usable*c.bytesSlab)))
}
