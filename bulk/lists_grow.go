package bulk

import (
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// Grow makes the next n elements that are appended to l or inserted into it unable to fail, by giving it a cell with room
// for them. The zero List becomes a list by it, unless n is zero. It panics when n is negative.
//
// It returns an [*vm.Error] wrapping [vm.ErrCapacity] (Options.Capacity), [vm.ErrLimit] (Options.MaxBytes or
// Options.Limit) or another limit as [vm.Region.Commit] does; then the list is as it was.
func (ls *Lists[T]) Grow(l *List[T], n int) error {
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on a list of %s: a number of elements is zero or more", n, ls.plan.name))
	}
	_, err := ls.makeRoom(opGrow, l, ls.find(*l), n)
	return err
}

// grown is makeRoom for the short forms, which panic.
//
//go:noinline
func (ls *Lists[T]) grown(op string, l *List[T], h *listHeader, n int) *listHeader {
	h, err := ls.makeRoom(op, l, h, n)
	if err != nil {
		panic(err)
	}
	return h
}

// makeRoom sees to it that l, whose header is h, has room for n more elements. It returns its header, which is another one
// where l was the zero List; or it changes nothing.
func (ls *Lists[T]) makeRoom(op string, l *List[T], h *listHeader, n int) (*listHeader, error) {
	if n <= int(h.room-h.len) {
		return h, nil
	}
	if l.generation == 0 {
		return ls.begin(op, l, n)
	}
	if n > maxRoom-int(h.len) {
		return nil, ls.cells.full(op, n)
	}
	place, room, err := ls.cells.regrow(op, h.place, h.room, int(h.len)+n)
	if err != nil {
		return nil, err
	}
	if place != h.place {
		ls.move(h, place, room)
	}
	h.room = room
	if invariants.Enabled {
		ls.changed()
	}
	return h, nil
}

// begin makes the zero List a list with room for n elements.
func (ls *Lists[T]) begin(op string, l *List[T], n int) (*listHeader, error) {
	if n > maxRoom {
		return nil, ls.cells.full(op, n)
	}
	if ls.taken.len == 0 {
		if err := ls.taken.makeRoom(op, 2); err != nil {
			return nil, err
		}
	}
	// The question is dearer than the rest where slots were retired, so it is not put where it need not be.
	if uint(ls.taken.len) >= ls.taken.room || len(ls.taken.retired) > 0 {
		if err := ls.taken.makeRoom(op, 1); err != nil {
			return nil, err
		}
	}
	place, room, err := ls.cells.take(op, n)
	if err != nil {
		return nil, err
	}
	if ls.taken.len == 0 {
		ls.taken.Insert(nothing) // slot 0, for the zero List
	}
	handle, h := ls.taken.Insert(listHeader{room: room, place: place})
	h.generation = handle.generation
	ls.headers.slots = ls.taken.room
	*l = List[T](handle)
	if invariants.Enabled {
		ls.changed()
	}
	return h, nil
}

// move copies a list to a cell that was taken for it, with room for so many elements, and gives the old one back.
func (ls *Lists[T]) move(h *listHeader, place, room uint32) {
	old := *h
	h.place, h.room = place, room
	copy(unsafe.Slice(ls.element(h, 0), h.len), unsafe.Slice(ls.element(&old, 0), h.len))
	ls.poison(&old, 0)
	ls.cells.give(old.place, old.room)
}

// poison overwrites what the cell of a list has room for from element i on, so that a use through an old pointer is seen.
func (ls *Lists[T]) poison(h *listHeader, i uint32) {
	if invariants.Enabled {
		var v T
		p := unsafe.Pointer(ls.element(h, uint(i)))
		invariants.Poison(unsafe.Slice((*byte)(p), int(h.room-i)*int(unsafe.Sizeof(v))))
	}
}
