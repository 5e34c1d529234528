package bulk

import (
	"fmt"
	"math"

	"github.com/vastgo/vast/vm"
)

// newSlab makes the lowest free units a slab of class k, or changes nothing.
//
//go:noinline
func (c *cells) newSlab(op string, k int) error {
	cl := &c.classes[k]
	u, _, err := c.takeUnits(op, int(cl.room), uint(cl.units), uint(cl.units))
	if err != nil {
		return err
	}
	c.describe(u, slab{units: cl.units, class: uint32(k), free: cl.cells})
	s := c.slab(u)
	for i := range cl.cells / wordBits {
		*s.word(i) = full
	}
	if rest := cl.cells % wordBits; rest != 0 {
		*s.word(cl.cells / wordBits) = 1<<rest - 1
	}
	s.any = full >> (-((cl.cells + wordBits - 1) / wordBits) % wordBits)
	cl.addOpen(u)
	return nil
}

// addOpen notes that the slab at unit u has a free cell.
func (cl *sizeClass) addOpen(u uint) {
	_ = cl.open.Grow(int(u) + 1) // its memory is Go's, so it does not fail
	cl.open.Set(u)
	cl.lowest = min(cl.lowest, u)
}

// describe fills in the table for units that belong together from now on.
func (c *cells) describe(u uint, s slab) {
	*c.slab(u) = s
	if s.class == stretchClass {
		return
	}
	for i := uint32(1); i < s.units; i++ {
		c.slab(u + uint(i)).back = i
	}
}

// takeStretch hands out a stretch of units for n elements, with some ahead where it can be had, or changes nothing.
func (c *cells) takeStretch(op string, n int, ahead uint) (place, room uint32, err error) {
	need := c.unitsFor(n)
	if need > c.units {
		return 0, 0, c.full(op, n)
	}
	u, units, err := c.takeUnits(op, n, need, min(need+ahead, c.units))
	if err != nil {
		return 0, 0, err
	}
	c.describe(u, slab{units: uint32(units), class: stretchClass})
	return uint32(u << c.shiftBoth), c.roomOf(units), nil
}

// unitsFor returns how many units n elements need, or more than there are.
func (c *cells) unitsFor(n int) uint {
	if n > c.bytesElements()/c.plan.sizeElement {
		return c.units + 1
	}
	return uint(n*c.plan.sizeElement+1<<c.shiftUnit-1) >> c.shiftUnit
}

// roomOf returns how many elements a stretch of so many units holds.
func (c *cells) roomOf(units uint) uint32 {
	return uint32(min(uint64(units)<<c.shiftUnit/uint64(c.plan.sizeElement), maxRoom))
}

// regrow hands out room for n elements to a list that has outgrown its cell or stretch. Where the place is a new one, the caller
// copies the elements and gives the old place back. Or it changes nothing.
func (c *cells) regrow(op string, place, room uint32, n int) (at, roomAt uint32, err error) {
	if room <= c.doubles {
		n = max(n, int(2*room))
	}
	if c.classFor(n) < len(c.classes) {
		return c.take(op, n)
	}
	need := c.unitsFor(n)
	// A list of many elements would be copied too often if it got just what it needs.
	ahead := need / 4
	if c.classFor(int(room)) == len(c.classes) {
		u := uint(place >> c.shiftBoth)
		if s := c.slab(u); c.extend(op, s, u, need, ahead) {
			return place, c.roomOf(uint(s.units)), nil
		}
	}
	return c.takeStretch(op, n, ahead)
}

// extend makes the stretch at unit u one of need units, with some ahead where it can be had, and reports whether it could.
func (c *cells) extend(op string, s *slab, u, need, ahead uint) bool {
	lo := u + uint(s.units)
	hi := c.nextUsed(lo)
	if hi-u < need {
		return false
	}
	to := min(hi, u+need+ahead)
	if c.makeUsable(op, to) != nil {
		if to = u + need; c.makeUsable(op, to) != nil {
			return false
		}
	}
	c.use(lo, to)
	s.units = uint32(to - u)
	return true
}

// nextUsed returns the first unit at or after u that is used, or the number of units.
func (c *cells) nextUsed(u uint) uint {
	if n := uint(c.used.Len()); u < n {
		if u = c.used.Next(u); u < n {
			return u
		}
	}
	return c.units
}

// gap returns the lowest free units that are n neighbours, or noSlab. Complexity: one step for each gap before them.
func (c *cells) gap(n uint) uint {
	for lo := c.lowest; ; {
		if lo < uint(c.used.Len()) {
			lo = c.used.NextClear(lo)
		}
		if lo >= c.units || n > c.units-lo {
			return noSlab
		}
		hi := c.nextUsed(lo)
		if hi-lo >= n {
			return lo
		}
		lo = hi
	}
}

// takeUnits takes the lowest stretch of most units that are free; or, where there is none or no memory for it, of need units,
// which n elements need. Or it changes nothing.
func (c *cells) takeUnits(op string, n int, need, most uint) (u, units uint, err error) {
	for {
		for units = most; ; units = need {
			err = nil
			if u = c.gap(units); u == noSlab {
				err = c.full(op, n)
			} else {
				err = c.makeUsable(op, u+units)
			}
			if err == nil {
				c.use(u, u+units)
				return u, units, nil
			}
			if units == need {
				break
			}
		}
		if !c.reclaim() {
			return 0, 0, err
		}
	}
}

// use marks units that were free.
func (c *cells) use(lo, hi uint) {
	_ = c.used.Grow(int(hi)) // its memory is Go's, so it does not fail
	c.used.Fill(lo, hi)
	if c.lowest >= lo {
		c.lowest = max(c.lowest, hi)
	}
}

// giveUnits takes units back.
func (c *cells) giveUnits(u, units uint) {
	c.used.Erase(u, u+units)
	c.lowest = min(c.lowest, u)
}

// reclaim gives back the slabs that were kept though no list is in them, and reports whether there was one.
func (c *cells) reclaim() (found bool) {
	for i := range c.classes {
		cl := &c.classes[i]
		c.putBack(cl)
		for u := cl.open.Next(0); u < uint(cl.open.Len()); u = cl.open.Next(u + 1) {
			if c.slab(u).free == cl.cells {
				cl.open.Clear(u)
				c.giveUnits(u, uint(cl.units))
				found = true
			}
		}
		cl.findLowest(0)
	}
	return found
}

// clear takes everything back.
func (c *cells) clear() {
	c.used.Empty()
	c.lowest = 0
	for i := range c.classes {
		cl := &c.classes[i]
		cl.open.Empty()
		cl.lowest, cl.ready = noSlab, 0
	}
}

// makeUsable commits memory for the first n units, or changes nothing.
func (c *cells) makeUsable(op string, n uint) error {
	if n <= c.usable {
		return nil
	}
	need, committed := int(n)<<c.shiftUnit, c.elements.Committed()
	ahead := min(max(need, committed+c.plan.stepFrom(committed)), c.elements.Size())
	err := c.commit(ahead)
	if err != nil && need < ahead && settlesForLess(op, err) {
		err = c.commit(need)
	}
	return err
}

// commit commits so many bytes of elements, and what the table needs for them, or changes nothing.
func (c *cells) commit(bytes int) error {
	before := c.elements.Committed()
	if err := c.elements.grow(bytes); err != nil {
		return err
	}
	usable := min(uint(c.elements.Committed())>>c.shiftUnit, c.units)
	if err := c.table.grow(int(usable * c.bytesSlab)); err != nil {
		c.elements.shrinkTo(before)
		return err
	}
	c.usable = usable
	return nil
}

// full returns the error of a container that has no place for n elements.
func (c *cells) full(op string, n int) *vm.Error {
	e := &vm.Error{Op: op, Purpose: c.plan.name, Bytes: math.MaxInt, Err: vm.ErrCapacity}
	if n <= math.MaxInt/c.plan.sizeElement {
		e.Bytes = n * c.plan.sizeElement
	}
	remedy := "raise Options.Capacity"
	if c.plan.byBudget {
		e.Err, remedy = vm.ErrLimit, "raise Options.MaxBytes"
	}
	e.Detail = fmt.Sprintf("lists and gaps between them take %s: free lists, call Compact, or %s (a list has %d elements at most)",
		vm.Bytes(c.bytesElements()), remedy, uint(maxRoom))
	return e
}
