package bulk

import (
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// Insert puts v before element i of l, or at the end where i is the length, and returns its address. The elements from i
// on move up by one. It panics when i is not in [0, Len], and as [Lists.Append] does; then the list is as it was.
// Complexity: as [Lists.Append], and a copy of the elements from i on.
func (ls *Lists[T]) Insert(l *List[T], i int, v T) *T {
	h := ls.find(*l)
	if uint(i) > uint(h.len) {
		panic(fmt.Sprintf("bulk: Insert(%d) into a list of %s of length %d", i, ls.plan.name, h.len))
	}
	if h.len == h.room {
		h = ls.grown(opInsert, l, h, 1)
	}
	h.len++
	s := unsafe.Slice(ls.element(h, 0), h.len)
	copy(s[i+1:], s[i:])
	s[i] = v
	return &s[i]
}

// Remove takes element i out of l. Those after it move down by one, so that their order stays. A list whose last element is
// removed keeps its cell for the next ones: [Lists.Free] gives it back. It panics when i is not in [0, Len).
// Complexity: a copy of the elements after i.
func (ls *Lists[T]) Remove(l List[T], i int) {
	h := ls.find(l)
	if uint(i) >= uint(h.len) {
		panic(&removeError{i, int(h.len), ls.plan.name})
	}
	s := unsafe.Slice(ls.element(h, 0), h.len)
	copy(s[i:], s[i+1:])
	h.len--
	ls.poison(h, h.len)
}

// RemoveSwap takes element i out of l and puts the last one in its place. It is Remove for lists whose order means
// nothing. It panics when i is not in [0, Len). Complexity: constant.
func (ls *Lists[T]) RemoveSwap(l List[T], i int) {
	h := ls.find(l)
	if uint(i) >= uint(h.len) {
		panic(&removeError{i, int(h.len), ls.plan.name})
	}
	h.len--
	*ls.element(h, uint(i)) = *ls.element(h, uint(h.len))
	ls.poison(h, h.len)
}

// Truncate keeps the first n elements of l. The list keeps its cell: [Lists.Free] gives it back, and [Lists.Compact] finds a
// smaller one. It panics when n is not in [0, Len]. Complexity: constant.
func (ls *Lists[T]) Truncate(l List[T], n int) {
	h := ls.find(l)
	if uint(n) > uint(h.len) {
		panic(fmt.Sprintf("bulk: Truncate(%d) on a list of %s of length %d", n, ls.plan.name, h.len))
	}
	if uint32(n) != h.len { // the header of the zero List is not written
		h.len = uint32(n)
		ls.poison(h, h.len)
	}
}

// Free gives the memory of l to other lists and makes it the zero List. Copies of l are caught when they are used. Freeing
// the zero List does nothing. Complexity: constant.
func (ls *Lists[T]) Free(l *List[T]) {
	h := ls.find(*l)
	if l.generation == 0 {
		return
	}
	h.len = 0
	ls.poison(h, 0)
	ls.cells.give(h.place, h.room)
	ls.taken.Remove(Handle[listHeader](*l))
	*h, *l = listHeader{}, List[T]{}
	if invariants.Enabled {
		ls.changed()
	}
}

// Clear frees all lists. The Lists that their owners keep are caught when they are used: the owners must set them to
// zero, or go as well. The memory stays committed for the next lists: Close gives it back. Complexity: one step for
// each list and each slab.
func (ls *Lists[T]) Clear() {
	ls.mustBeOpen()
	for handle, h := range ls.taken.All() {
		if h.generation == 0 {
			continue // the zero List keeps its slot
		}
		h.len = 0
		ls.poison(h, 0)
		ls.taken.Remove(handle)
		*h = listHeader{}
	}
	ls.cells.clear()
	if invariants.Enabled {
		ls.checkInvariants()
	}
}

// removeError says that a list has no element to remove there.
type removeError struct {
	index, length int
	name          string
}

// Error says what the index may be.
func (e *removeError) Error() string {
	return fmt.Sprintf("bulk: element %d is removed from a list of %s of length %d", e.index, e.name, e.length)
}
