package bulk

import (
	"errors"
	"iter"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// Compact moves the lists together at low addresses, each into the smallest cell that holds it, and gives the memory
// behind them back. A List does not change by it, so that owners need not be told; pointers and slices to elements go bad.
// It must run alone, as a change does. It is worth its price after many lists were freed or have shrunk.
//
// A list without elements gets a cell for one. What Compact cannot move for lack of memory stays where it is. It returns an
// error where memory cannot be given back, as [vm.Region.Decommit] and [Pool.Trim] do; the lists are compact all the same.
//
// Complexity: three steps for each list that there has been room for, and a copy of the elements that move. It does not
// allocate. The way of the slabs is the sliding of Haddon and Waite, "A compaction procedure for variable-length storage
// elements" (1967), with the new places kept in the table of slabs.
func (ls *Lists[T]) Compact() error {
	ls.mustBeOpen()
	c := &ls.cells
	ls.fit()
	c.chooseLeaving()
	ls.leaveSlabs()
	c.dropLeaving()
	if next := c.aim(); next < c.end() {
		for h := range ls.held() {
			u := uint(h.place >> c.shiftBoth)
			first := u - uint(c.slab(u).back)
			h.place -= (uint32(first) - c.slab(first).to) << c.shiftBoth
		}
		c.slide(next)
	}
	err := errors.Join(c.shrink(), ls.taken.Trim())
	if invariants.Enabled {
		ls.checkInvariants()
	}
	return err
}

// held yields the headers of the lists.
func (ls *Lists[T]) held() iter.Seq[*listHeader] {
	return func(yield func(*listHeader) bool) {
		for _, h := range ls.taken.All() {
			if h.generation != 0 && !yield(h) {
				return
			}
		}
	}
}

// fit moves each list to a cell of the smallest class that holds it, where that is another one, and makes stretches shorter.
func (ls *Lists[T]) fit() {
	c := &ls.cells
	for h := range ls.held() {
		n := max(1, int(h.len))
		k := c.classFor(n)
		if k < len(c.classes) {
			if c.classes[k].room == h.room {
				continue
			}
			if place, room, err := c.take(opCompact, n); err == nil {
				ls.move(h, place, room)
			}
			continue
		}
		u := uint(h.place >> c.shiftBoth)
		s := c.slab(u)
		if need := c.unitsFor(n); need < uint(s.units) {
			c.giveUnits(u+need, uint(s.units)-need)
			s.units = uint32(need)
			h.room = c.roomOf(need)
		}
	}
}

// leaveSlabs moves the lists out of the slabs that were chosen. The others of their classes have room for them.
func (ls *Lists[T]) leaveSlabs() {
	c := &ls.cells
	for h := range ls.held() {
		u := uint(h.place >> c.shiftBoth)
		s := c.slab(u - uint(c.slab(u).back))
		if s.class == stretchClass || s.to != leaving {
			continue
		}
		place, room, err := c.take(opCompact, int(h.room))
		if err != nil {
			ls.broken("a slab is given up before there is room for its lists: %v", err)
		}
		old := *h
		h.place, h.room = place, room
		copy(unsafe.Slice(ls.element(h, 0), h.len), unsafe.Slice(ls.element(&old, 0), h.len))
		ls.poison(&old, 0)
	}
}
