package bulk

import (
	"fmt"
	"iter"
	"math"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// List refers to a growing list of elements in a [Lists]. It is 8 bytes, comparable, and holds no Go pointer, so it may
// be stored outside Go's heap: it is meant to lie in its owner, as a field of another container's element. The zero List
// is an empty list, ready for use.
//
// A List does not change when its list grows, shrinks or moves, so a copy of it refers to the same list. Only the step from
// the zero List to a list with elements, and [Lists.Free], write it: keep one copy, in the owner.
type List[T any] struct {
	slot       uint32
	generation uint32
}

// IsZero reports whether l is the zero List, to which nothing was ever appended or which was freed.
func (l List[T]) IsZero() bool { return l == List[T]{} }

// Lists are arrays of arrays: many lists, most of them small, that grow and shrink on their own in one reservation. Each
// has an owner, which keeps its [List]. The elements of a list are neighbours, in the order in which they were put
// in: [Lists.Slice] returns them as a Go slice.
//
// The elements of a list lie in a cell, one of some sizes that are a third or a half apart; a list that has outgrown
// its cell is copied to one of the next size, and the old one is given to the next list of that size, the lowest first.
// From 64 KiB on a list has a stretch of memory of its own, which grows where it lies while what follows is free and is
// else moved to one that is a quarter larger. So a list may have up to 4,294,967,295 elements.
//
// A pointer or slice to elements of a list is good until that list is appended to, inserted into, grown or freed, or
// [Lists.Compact] or [Lists.Clear] is called. What happens to other lists does not matter.
//
// # What is caught
//
// A List has the number of its list and, as a [Handle] does, the generation in which it was made. Every call checks it.
// A List that was freed, by Free or Clear, is caught for certain, whatever was put in its place: calls panic. So is a
// List of another Lists, unless its list has the same number and the same count of uses, and the two were made a multiple of
// 255 apart. What is about the cells lies apart from the elements: writing beyond a slice, with unsafe, damages
// elements and nothing else. A pointer or a slice that is used after it has gone bad is not caught; with the build tag
// invariants it finds poisoned memory.
//
// # Waste
//
// A cell has at least 32 bytes, and room for at most half as many elements again as its list had when it took it, or twice as
// many while that is no more than 64 bytes. A stretch has at most a quarter and 64 KiB more than its list needed. Each list
// takes 16 bytes beside its cell, and what a [Pool] takes for a slot. The cells of one size lie together in slabs of 64 KiB,
// or several times that, of which up to an eighth is cut off; a page that has never been needed costs no memory.
// [Lists.Stats] counts it all. Where Options.Capacity allows less than 8 MiB, the 64 KiB here are less too, down to a page.
//
// One goroutine may change lists at a time, and nobody may read them meanwhile. While nobody changes them, any number of
// goroutines may call At, Slice, Len, Valid, All, Count and Stats. What the elements hold is the caller's to order.
type Lists[T any] struct {
	base    unsafe.Pointer // where place 0 is
	headers listHeaders
	shift   uint8 // a place is 1<<shift bytes

	taken     *Pool[listHeader] // whose elements the headers are
	cells     cells
	region    *vm.Region
	plan      plan
	ended     error // what using the lists panics with after Close
	unchecked int   // changes since checkInvariants ran
}

// listHeader says where the elements of a list are. It has the list's generation once more, so that one read tells
// whether a List is good and where it leads. A slot without a list has zeros, which every path takes for an empty list
// without room.
type listHeader struct {
	generation uint32
	len, room  uint32 // elements
	place      uint32
}

// listHeaders are the headers that have memory, one for each slot.
type listHeaders struct {
	base  unsafe.Pointer
	slots uint
}

// find returns the header of a list, or nil where its slot holds another list or none. It is sound for slots below slots: so
// far the pool of headers has memory, which never moves before Close. It does not know T, so that it is inlined.
func (t *listHeaders) find(slot, generation uint32) *listHeader {
	if i := uint(slot); i < t.slots {
		if h := (*listHeader)(unsafe.Add(t.base, i*uint(unsafe.Sizeof(listHeader{})))); h.generation == generation {
			return h
		}
	}
	return nil
}

// nothing is the header of the zero List in a container that never had a list. Later slot 0 is taken for it, so that the zero
// List is found as any other. Neither is ever written.
var nothing listHeader

// NewLists makes a container without lists. It reserves addresses and takes no memory.
//
// Options.Capacity counts the elements that the cells of all lists have room for, and so does Options.MaxBytes; both are
// rounded up to slabs.
//
// It returns an error as [vm.Reserve] does, and panics when T holds Go pointers or has no size, or an option is negative.
func NewLists[T any](o Options) (*Lists[T], error) {
	p, err := newPlan[T]("Lists", o, math.MaxInt)
	if err != nil {
		return nil, err
	}
	var v T
	if unsafe.Sizeof(v) == 0 {
		panic("bulk: NewLists[" + layout.Name[T]() + "]: the elements have no size: count them instead")
	}
	c := planCells(p)
	total := alignedSize(c.bytesElements()) + alignedSize(c.bytesSlabs())
	r, err := vm.Reserve(total, vm.Options{Purpose: p.name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return nil, err
	}
	ls := &Lists[T]{cells: c, region: r, plan: p, shift: c.shiftPlace}
	if err = ls.cells.carve(r); err == nil {
		ls.taken, err = NewPool[listHeader](Options{Name: p.name, Capacity: 1 + c.mostCells(), Limit: o.Limit, Pages: o.Pages})
	}
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	ls.base = ls.cells.elements.Base()
	ls.headers.base = ls.taken.base
	return ls, nil
}

// find returns the header of l.
func (ls *Lists[T]) find(l List[T]) *listHeader {
	h := ls.headers.find(l.slot, l.generation)
	if h == nil {
		h = ls.absent(l)
	}
	return h
}

// absent is find where the slot of l holds another list, or no slot has memory.
//
//go:noinline
func (ls *Lists[T]) absent(l List[T]) *listHeader {
	ls.mustBeOpen()
	if l.generation != 0 {
		panic(&staleListError{l.generation, uint32(ls.taken.generations.tag), ls.plan.name})
	}
	return &nothing
}

// element returns the address of element i of a list. It is sound for elements below the room: the cell of a list lies in
// committed memory, which never moves before Close and holds no Go pointers.
func (ls *Lists[T]) element(h *listHeader, i uint) *T {
	var v T
	return (*T)(unsafe.Add(ls.base, uint(h.place)<<(ls.shift&63)+i*uint(unsafe.Sizeof(v))))
}

// Append puts v at the end of l and returns its address. The zero List becomes a list by it, so that *l is written; it
// takes an address for that reason, where a result could be forgotten and the list with it. It panics with the [*vm.Error]
// that [Lists.Grow] would return where there is no room; then the list is as it was.
//
// Complexity: constant, amortized over the elements of the list, which is copied when it outgrows its cell.
func (ls *Lists[T]) Append(l *List[T], v T) *T {
	h := ls.headers.find(l.slot, l.generation)
	if h == nil {
		h = ls.absent(*l)
	}
	if h.len == h.room {
		h = ls.grown(opAppend, l, h, 1)
	}
	p := ls.element(h, uint(h.len))
	*p = v
	h.len++
	return p
}

// AppendSlice puts a copy of vs at the end of l and returns the new elements. vs may be elements of l. It panics as
// [Lists.Append] does; then the list is as it was.
func (ls *Lists[T]) AppendSlice(l *List[T], vs []T) []T {
	h := ls.find(*l)
	if len(vs) == 0 {
		return nil
	}
	if len(vs) > int(h.room-h.len) {
		old, have := unsafe.Pointer(ls.element(h, 0)), uint(h.len)
		h = ls.grown(opAppendN, l, h, len(vs))
		// Where vs is a part of the list it has moved with it.
		var v T
		if off := uint(uintptr(unsafe.Pointer(unsafe.SliceData(vs))) - uintptr(old)); off < have*uint(unsafe.Sizeof(v)) {
			vs = unsafe.Slice(ls.element(h, off/uint(unsafe.Sizeof(v))), len(vs))
		}
	}
	added := unsafe.Slice(ls.element(h, uint(h.len)), len(vs))
	copy(added, vs)
	h.len += uint32(len(vs))
	return added[:len(added):len(added)]
}

// Slice returns the elements of l. It stays good while the list keeps its cell (see [Lists]) and does not see what is
// appended later. Complexity: constant.
func (ls *Lists[T]) Slice(l List[T]) []T {
	h := ls.headers.find(l.slot, l.generation)
	if h == nil {
		h = ls.absent(l)
	}
	return unsafe.Slice(ls.element(h, 0), h.len)
}

// At returns the address of element i of l. It panics when i is not in [0, Len). Complexity: constant.
func (ls *Lists[T]) At(l List[T], i int) *T {
	h := ls.headers.find(l.slot, l.generation)
	if h == nil {
		h = ls.absent(l)
	}
	if uint(i) >= uint(h.len) {
		panic(&indexError{"At", i, int(h.len), "a list of " + ls.plan.name, nil})
	}
	return ls.element(h, uint(i))
}

// Len returns the number of elements of l.
func (ls *Lists[T]) Len(l List[T]) int { return int(ls.find(l).len) }

// Valid reports whether l refers to a list of this container that was not freed. The zero List, though good for every
// call, is not valid. Complexity: constant.
func (ls *Lists[T]) Valid(l List[T]) bool {
	ls.mustBeOpen()
	return l.generation != 0 && ls.taken.Valid(Handle[listHeader](l))
}

// Count returns the number of lists: those that were appended to or grown and not freed, with elements or without.
func (ls *Lists[T]) Count() int { return max(0, ls.taken.Len()-1) }

// All yields the lists and their elements, in no order that means anything. The body may append to the list, grow it and free it.
// Lists that it makes may be yielded or not, and others that it frees are not yielded any more. Complexity: as [Pool.All].
func (ls *Lists[T]) All() iter.Seq2[List[T], []T] {
	return func(yield func(List[T], []T) bool) {
		for handle, h := range ls.taken.All() {
			if h != ls.taken.slot(0) && !yield(List[T](handle), unsafe.Slice(ls.element(h, 0), h.len)) {
				return
			}
		}
	}
}

// Close gives the memory and the addresses back. The elements must not be used afterwards; using the lists panics.
// Closing twice does nothing.
func (ls *Lists[T]) Close() error {
	if ls.ended != nil {
		return nil
	}
	if err := ls.taken.Close(); err != nil {
		return err
	}
	// From here on no list is found, should the second region refuse to close.
	ls.headers.slots = 0
	if err := ls.region.Close(); err != nil {
		return err
	}
	ls.ended = &closedError{ls.plan.name}
	return nil
}

func (ls *Lists[T]) mustBeOpen() {
	if ls.ended != nil {
		panic(ls.ended)
	}
}

// staleListError says that a List was used whose list is gone, or in another container than its own.
type staleListError struct {
	generation, tag uint32
	name            string
}

// Error says what to do.
func (e *staleListError) Error() string {
	if e.generation-generation.Count(e.generation) != e.tag {
		return fmt.Sprintf("bulk: a List is used in %s, but another Lists has made it: keep them apart, by a type of their elements or by name", e.name)
	}
	return fmt.Sprintf("bulk: a List of %s is used after Free or Clear: keep one List, in its owner, and free by its address, "+
		"which makes it the zero List", e.name)
}
