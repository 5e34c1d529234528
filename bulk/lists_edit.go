package bulk

import (
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// Insert puts v before element i of l, or at the end if i is the length, and returns the address of the new
// element. The elements from i on move up by one. Insert writes *l as [Lists.Append] does. It panics when i
// is not in [0, len(Slice(l))], and as [Lists.Append] does; then the list is unchanged. Complexity: that of
// [Lists.Append], and a copy of the elements from i on.
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

// Remove removes element i of l. The elements behind it move down by one, so that their order stays. A list
// whose last element is removed keeps its cell for the next elements: [Lists.Free] gives the cell back.
// Remove panics when i is not in [0, len(Slice(l))). Complexity: a copy of the elements behind i.
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
		// The length is read from memory that may not be cached. If the number of moved elements does not
		// depend on the length, the processor starts the next call before the length has arrived.
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

// fewBytes is a number of bytes that a loop moves in less time than a call of copy takes.
const fewBytes = 128

// RemoveSwap removes element i of l and puts the last element in its place. Use RemoveSwap instead of Remove
// if the order of the elements does not matter. It panics when i is not in [0, len(Slice(l))). Complexity:
// constant.
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
// [Lists.Compact] moves the list to a smaller cell. Truncate panics when n is not in [0, len(Slice(l))].
// Complexity: constant.
func (ls *Lists[T]) Truncate(l List[T], n int) {
	h := ls.find(l)
	if uint(n) > uint(h.len) {
		panic(fmt.Sprintf("bulk: Truncate(%d) on a list of %s of length %d", n, ls.cells.plan.name, h.len))
	}
	if uint32(n) != h.len { // the header of the zero List is not written
		h.len = uint32(n)
		ls.poison(l, h.len)
	}
}

// Free gives the memory of l to other lists and sets *l to the zero List. Calls refuse copies of l from then
// on. Freeing the zero List does nothing. Complexity: constant.
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

// Clear frees all lists. Calls refuse the Lists that the owners still keep: set these Lists to zero, or drop
// the owners as well. The memory stays committed for the next lists: Close gives it back. Complexity: one
// step for each 64 KiB.
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

// removeError says that a list has no element at an index.
type removeError struct {
	index, length int
	name          string
}

// Error gives the index and the length.
func (e *removeError) Error() string {
	return fmt.Sprintf("bulk: element %d cannot be removed from a list of %s of length %d", e.index, e.name,
		e.length)
}
