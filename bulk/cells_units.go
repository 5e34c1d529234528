package bulk

import (
	"fmt"
	"math"
	"slices"

	"github.com/vastgo/vast/vm"
)

// The comment of the type cells explains units, slabs and stretches.

// newSlab makes a slab of class k in the lowest gap. After an error no list has changed.
//
//go:noinline
func (c *cells) newSlab(op operation, k int) error {
	cl := &c.classes[k]
	u, _, err := c.takeUnits(op, int(cl.room), uint(cl.units), uint(cl.units))
	if err != nil {
		return err
	}
	c.makeSlab(u, k, c.since(c.draw()))
	cl.addOpen(u)
	return nil
}

// makeSlab turns the units from u on into an empty slab of class k. The caller must call addOpen.
func (c *cells) makeSlab(u uint, k int, since uint32) {
	cl := &c.classes[k]
	c.describe(u, slab{units: cl.units, class: uint32(k), free: cl.cells}, holding{since, cl.room})
	s := c.slab(u)
	for i := range cl.cells / wordBits {
		*s.word(i) = full
	}
	if rest := cl.cells % wordBits; rest != 0 {
		*s.word(cl.cells / wordBits) = 1<<rest - 1
	}
	s.any = full >> (-((cl.cells + wordBits - 1) / wordBits) % wordBits)
}

// addOpen makes the slab at unit u an open slab.
func (cl *sizeClass) addOpen(u uint) {
	_ = cl.open.Grow(int(u) + 1) // does not fail: the set is on Go's heap
	cl.open.Set(u)
	cl.lowest = min(cl.lowest, u)
}

// describe records a slab or stretch at unit u. For a stretch it records only the first unit, because no List
// refers to the other units.
func (c *cells) describe(u uint, s slab, r holding) {
	*c.slab(u), c.holdings[u] = s, r
	if s.class == stretchClass {
		return
	}
	for i := uint32(1); i < s.units; i++ {
		c.slab(u + uint(i)).back = i
		c.holdings[u+uint(i)] = r
	}
}

// takeStretch hands out a stretch for n elements, with the given number of spare units if possible. After an
// error no list has changed.
func (c *cells) takeStretch(op operation, n int, spare uint) (place, generation uint32, err error) {
	need := c.unitsFor(n)
	if need > c.units {
		return 0, 0, c.full(op, n)
	}
	u, units, err := c.takeUnits(op, n, need, min(need+spare, c.units))
	if err != nil {
		return 0, 0, err
	}
	place, generation = c.holdStretch(u, units)
	return place, generation, nil
}

// holdStretch turns the units from u on into an empty stretch of a new generation.
func (c *cells) holdStretch(u, units uint) (place, generation uint32) {
	place, generation = uint32(u<<c.shiftBoth), c.draw()
	c.describe(u, slab{units: uint32(units), class: stretchClass},
		holding{c.since(generation), c.roomOf(units)})
	*c.at(place) = cell{generation: generation}
	return place, generation
}

// unitsFor returns the number of units of a stretch for n elements, or more than c.units if they cannot fit.
func (c *cells) unitsFor(n int) uint {
	if n > c.bytesElements()/c.plan.sizeElement {
		return c.units + 1
	}
	return uint(bytesHeader+n*c.plan.sizeElement+1<<c.shiftUnit-1) >> c.shiftUnit
}

// roomOf returns how many elements fit into a stretch with the given number of units.
func (c *cells) roomOf(units uint) uint32 {
	return uint32(min((uint64(units)<<c.shiftUnit-uint64(bytesHeader))/uint64(c.plan.sizeElement), maxRoom))
}

// roomAfter returns the least new room of a list that has outgrown the given room.
func (c *cells) roomAfter(room uint32) uint32 {
	if room <= c.doubles {
		return max(1, 2*room)
	}
	return min(room, maxRoom-1) + 1
}

// regrow makes room for n elements of the list at the given place, whose room is too small. A stretch may
// grow in place. Otherwise regrow returns a new place, and the caller copies the elements and frees the old
// place. After an error no list has changed.
func (c *cells) regrow(op operation, place uint32, n int) (at, generation uint32, err error) {
	n = max(n, int(c.roomAfter(c.room(place))))
	if c.classFor(n) < len(c.classes) {
		return c.take(op, n)
	}
	need := c.unitsFor(n)
	// Without spare units a long list would be copied too often.
	spare := (need - 1) / 4
	if u, s := c.first(place); s.class == stretchClass && c.extend(op, s, u, need, spare) {
		return place, c.at(place).generation, nil
	}
	return c.takeStretch(op, n, spare)
}

// extend lengthens the stretch at unit u to need units, plus the given number of spare units if possible. It
// reports whether the stretch has grown.
func (c *cells) extend(op operation, s *slab, u, need, spare uint) bool {
	lo := u + uint(s.units)
	hi := c.nextUsed(lo)
	if hi-u < need {
		return false
	}
	to := min(hi, u+need+spare)
	if c.makeUsable(op, to) != nil {
		if to = u + need; c.makeUsable(op, to) != nil {
			return false
		}
	}
	c.use(lo, to)
	c.resize(s, u, to-u)
	return true
}

// resize sets the number of units of the stretch at unit u. The caller marks the units as used or free.
func (c *cells) resize(s *slab, u, units uint) {
	s.units = uint32(units)
	c.holdings[u].room = c.roomOf(units)
}

// nextUsed returns the first used unit at or after u, or c.units if there is none.
func (c *cells) nextUsed(u uint) uint {
	if n := uint(c.used.Len()); u < n {
		if u = c.used.Next(u); u < n {
			return u
		}
	}
	return c.units
}

// gap returns the first unit of the lowest n free neighbouring units, or noSlab. Complexity: one step for
// each lower gap.
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

// takeUnits takes the lowest gap of the wanted number of units, or else of the needed number. If both fail,
// it frees the slabs without lists, and tries again if there were such slabs. n is the number of elements in
// the error. After an error no units are taken.
func (c *cells) takeUnits(op operation, n int, needed, wanted uint) (u, units uint, err error) {
	for {
		for units = wanted; ; units = needed {
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
			if units == needed {
				break
			}
		}
		if !c.reclaim() {
			return 0, 0, err
		}
	}
}

func (c *cells) use(lo, hi uint) {
	_ = c.used.Grow(int(hi)) // does not fail: the set is on Go's heap
	c.used.Fill(lo, hi)
	if c.lowest >= lo {
		c.lowest = max(c.lowest, hi)
	}
}

// giveUnits frees the given number of units from u on. Lists that refer to them become stale.
func (c *cells) giveUnits(u, units uint) {
	c.used.Erase(u, u+units)
	c.forget(u, u+units)
	c.lowest = min(c.lowest, u)
}

// forget makes all Lists that refer to units [lo, hi) stale.
func (c *cells) forget(lo, hi uint) {
	for u := lo; u < hi; u++ {
		c.holdings[u] = holding{since: unheld}
	}
}

// reclaim puts back all ready cells, frees the empty slabs, and reports whether there were empty slabs.
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

// clear frees all units. All Lists become stale.
func (c *cells) clear() {
	c.used.Reset()
	c.lowest = firstUnit
	c.forget(firstUnit, max(firstUnit, uint(len(c.holdings))))
	for i := range c.classes {
		cl := &c.classes[i]
		cl.open.Reset()
		cl.lowest, cl.ready = noSlab, 0
	}
}

// makeUsable commits memory for the first n units. After an error nothing has changed.
func (c *cells) makeUsable(op operation, n uint) error {
	if n <= c.usable {
		return nil
	}
	need, committed := int(n)<<c.shiftUnit, c.elements.Committed()
	ahead := min(max(need, committed+c.plan.stepFrom(committed)), c.elements.Size())
	return op.commitAhead(need, ahead, c.commit)
}

// commit commits the given number of bytes for elements, and the table entries of their units. After an error
// nothing has changed.
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
	c.measure(usable)
	return nil
}

// measure records how many units have memory. New units are free, except the unit of the zero List.
func (c *cells) measure(usable uint) {
	c.usable = usable
	have := uint(len(c.holdings))
	c.holdings = slices.Grow(c.holdings[:min(have, usable)], int(max(have, usable)-have))[:usable]
	if have < usable {
		c.forget(have, usable)
		c.holdings[0] = holding{}
	}
}

// full returns the error of a container that has no place for n elements.
func (c *cells) full(op operation, n int) *vm.Error {
	e := &vm.Error{Op: op.String(), Purpose: c.plan.name, Bytes: math.MaxInt, Err: vm.ErrCapacity}
	if n <= math.MaxInt/c.plan.sizeElement {
		e.Bytes = n * c.plan.sizeElement
	}
	remedy := "raise Options.Capacity"
	if c.plan.byBudget {
		e.Err, remedy = vm.ErrLimit, "raise Options.MaxBytes"
	}
	e.Detail = fmt.Sprintf("lists and gaps between them take %s: free some lists, call Compact, or %s (a "+
		"list has %d elements at most)",
		vm.Bytes(c.bytesElements()), remedy, uint(maxRoom))
	return e
}
