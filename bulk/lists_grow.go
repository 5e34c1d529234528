package bulk

import (
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// Grow gives l a cell with room for n more elements, so that appending or inserting them cannot fail. It
// writes *l as [Lists.Append] does. Grow(&l, 0) leaves the zero List as it is. Grow panics if n is negative.
//
// Grow returns an [*vm.Error] that wraps [vm.ErrCapacity] (Options.Capacity), [vm.ErrLimit] (Options.MaxBytes
// or Options.Limit) or another error of [vm.Region.Commit]. The list is then unchanged.
func (ls *Lists[T]) Grow(l *List[T], n int) error {
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on a list of %s: a number of elements is zero or more", n,
			ls.cells.plan.name))
	}
	_, err := ls.makeRoom(opGrow, l, n)
	return err
}

// roomForOne does what the method grown does for one element, with a short path for the usual case: a cell of
// the next size is ready. h is the cell of l, or nil if cells.find has found none.
//
//go:noinline
func (ls *Lists[T]) roomForOne(l *List[T], h *cell) *cell {
	c := &ls.cells
	if h == nil {
		return ls.grown(opAppend, l, 1)
	}
	n := c.roomAfter(h.len)
	if n > maxByRoom {
		return ls.grown(opAppend, l, 1)
	}
	k := uint(c.byRoom[n])
	if k >= uint(len(c.classes)) || c.classes[k].ready == 0 {
		return ls.grown(opAppend, l, 1)
	}
	place, generation := c.pop(&c.classes[k]), c.classes[k].generation
	if l.generation == 0 {
		*l = List[T]{place, generation}
		ls.count++
	} else {
		ls.move(l, place, generation)
	}
	if invariants.Enabled {
		ls.changed()
	}
	return c.at(place)
}

// grown calls makeRoom and panics with its error.
//
//go:noinline
func (ls *Lists[T]) grown(op operation, l *List[T], n int) *cell {
	h, err := ls.makeRoom(op, l, n)
	if err != nil {
		panic(err)
	}
	return h
}

// makeRoom gives l room for n more elements and returns the cell of l, which may be a new one. After an error
// no list has changed.
func (ls *Lists[T]) makeRoom(op operation, l *List[T], n int) (*cell, error) {
	h := ls.find(*l)
	if uint(n) <= uint(ls.cells.room(l.place)-h.len) {
		return h, nil
	}
	if n > maxRoom-int(h.len) {
		return nil, ls.cells.full(op, n)
	}
	var place, generation uint32
	var err error
	if l.generation == 0 {
		place, generation, err = ls.cells.take(op, n)
	} else {
		place, generation, err = ls.cells.regrow(op, l.place, int(h.len)+n)
	}
	switch {
	case err != nil:
		return nil, err
	case l.generation == 0:
		ls.count++
		*l = List[T]{place, generation}
	case generation != l.generation || place != l.place:
		ls.move(l, place, generation)
	}
	if invariants.Enabled {
		ls.changed()
	}
	return ls.cells.at(place), nil
}

// move copies a list to the new cell at the given place, and gives the old cell back.
func (ls *Lists[T]) move(l *List[T], place, generation uint32) {
	old, h := ls.cells.at(l.place), ls.cells.at(place)
	h.len = old.len
	copy(unsafe.Slice(ls.element(h, 0), h.len), unsafe.Slice(ls.element(old, 0), h.len))
	ls.poison(*l, 0)
	ls.cells.give(l.place)
	*l = List[T]{place, generation}
}

// poison overwrites the cell of l from element i on, to expose the use of old pointers.
func (ls *Lists[T]) poison(l List[T], i uint32) {
	if invariants.Enabled {
		var v T
		p := unsafe.Pointer(ls.element(ls.cells.at(l.place), uint(i)))
		invariants.Poison(unsafe.Slice((*byte)(p), int(ls.cells.room(l.place)-i)*int(unsafe.Sizeof(v))))
	}
}
