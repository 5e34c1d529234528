package bulk

import (
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// Insert puts v before element i of l, or at the end if i is the length, and returns the address of the new
// element. The elements from i on move up by one. Insert writes *l as [Lists.Append] does.
//
// Insert panics if i is not in [0, len(Slice(l))]. If there is no room, it panics as [Lists.Append] does.
// After a panic the list is unchanged. Complexity: that of [Lists.Append], and a copy of the elements from i
// on.
func (ls *Lists[T]) Insert(l *List[T], i int, v T) *T {
	h := ls.find(*l)
	if uint(i) > uint(h.len) {
		panic(fmt.Sprintf("bulk: Insert(%d) into a list of %s of length %d", i, ls.cells.plan.name, h.len))
	}
	if h.len == ls.cells.room(l.place) {
		h = ls.grown(opInsert, l, 1)
	}
	h.len++
	s := unsafe.Slice(ls.element(h, 0), h.len)
	copy(s[i+1:], s[i:])
	s[i] = v
	return &s[i]
}

// Remove removes element i of l. The elements behind it move down by one. An empty list keeps its cell:
// [Lists.Free] gives the cell back. Remove panics if i is not in [0, len(Slice(l))). Complexity: a copy of
// the elements behind i.
func (ls *Lists[T]) Remove(l List[T], i int) {
	h := ls.cells.find(l.place, l.generation)
	if h == nil {
		h = ls.absent(l)
	}
	if uint(i) >= uint(h.len) {
		panic(&removeError{i, int(h.len), ls.cells.plan.name})
	}
	var v T
	if room := uint(ls.cells.room(l.place)); room <= fewBytes/uint(unsafe.Sizeof(v)) {
		// The loop moves the whole room behind i, so its end does not depend on h.len. If h.len is not in a
		// cache, the processor can start the next call without waiting for h.len.
		for s := unsafe.Slice(ls.element(h, uint(i)), room-uint(i)); len(s) > 1; s = s[1:] {
			s[0] = s[1]
		}
	} else {
		s := unsafe.Slice(ls.element(h, uint(i)), uint(h.len)-uint(i))
		copy(s, s[1:])
	}
	h.len--
	ls.poison(l, h.len)
}

// fewBytes is a number of bytes that a loop moves faster than copy does.
const fewBytes = 128

// RemoveSwap removes element i of l and moves the last element to its place. It panics if i is not in
// [0, len(Slice(l))). Complexity: constant.
func (ls *Lists[T]) RemoveSwap(l List[T], i int) {
	h := ls.find(l)
	if uint(i) >= uint(h.len) {
		panic(&removeError{i, int(h.len), ls.cells.plan.name})
	}
	h.len--
	*ls.element(h, uint(i)) = *ls.element(h, uint(h.len))
	ls.poison(l, h.len)
}

// Truncate keeps the first n elements of l. The list keeps its cell: [Lists.Free] gives the cell back, and
// [Lists.Compact] moves the list to a smaller cell. Truncate panics if n is not in [0, len(Slice(l))].
// Complexity: constant.
func (ls *Lists[T]) Truncate(l List[T], n int) {
	h := ls.find(l)
	if uint(n) > uint(h.len) {
		panic(fmt.Sprintf("bulk: Truncate(%d) on a list of %s of length %d", n, ls.cells.plan.name, h.len))
	}
	if uint32(n) != h.len { // never write the header of the zero List
		h.len = uint32(n)
		ls.poison(l, h.len)
	}
}

// Free makes the memory of l free for other lists, and sets *l to the zero List. Copies of l become stale.
// Freeing the zero List does nothing. Complexity: constant.
func (ls *Lists[T]) Free(l *List[T]) {
	if ls.cells.find(l.place, l.generation) == nil {
		ls.absent(*l)
	}
	if l.generation == 0 {
		return
	}
	ls.poison(*l, 0)
	ls.cells.give(l.place)
	ls.count--
	*l = List[T]{}
	if invariants.Enabled {
		ls.changed()
	}
}

// Clear frees all lists. The Lists in the owners become stale: set them to zero, or drop the owners. The
// memory stays committed for new lists; Close gives it back. Complexity: one step for each 64 KiB of memory.
func (ls *Lists[T]) Clear() {
	ls.mustBeOpen()
	if invariants.Enabled {
		for place := range ls.cells.lists() {
			ls.poison(List[T]{place: place}, 0)
		}
	}
	ls.cells.clear()
	ls.count = 0
	if invariants.Enabled {
		ls.checkInvariants()
	}
}

// removeError is the panic of a removal with an index out of range.
type removeError struct {
	index, length int
	name          string
}

func (e *removeError) Error() string {
	return fmt.Sprintf("bulk: element %d cannot be removed from a list of %s of length %d", e.index, e.name,
		e.length)
}
