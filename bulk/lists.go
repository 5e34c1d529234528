package bulk

import (
	"fmt"
	"iter"
	"math"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// List refers to a growing list of elements in a [Lists]. It is 8 bytes, comparable, and holds no Go pointer,
// so it may be stored outside Go's heap. Usually it is a field of its owner, an element of another container.
// The zero List is an empty list, ready for use.
//
// A List says where its list lies. A list that outgrows its place moves. The call that moves the list writes
// the new List to the *List that the caller has passed. Copies of the old List become stale: keep one List,
// in the owner.
type List[T any] struct {
	place      uint32
	generation uint32
}

// IsZero reports whether l is the zero List: it never had room, or was freed.
func (l List[T]) IsZero() bool { return l == List[T]{} }

// Lists holds many lists, most of them small, that grow and shrink on their own. Each list has an owner,
// which keeps its [List]. The elements of a list are neighbours, in the order in which they were added:
// [Lists.Slice] returns them as a Go slice.
//
// The elements of a list lie in a cell, behind a header of 8 bytes. Each size of cells is a third or a half
// larger than the next smaller size. A list that has outgrown its cell is copied to a larger cell, and its
// old cell becomes free for other lists. A list of more than 64 KiB has a stretch of memory of its own. A
// stretch grows in place while the memory behind it is free; otherwise its list moves to a stretch that is a
// quarter larger. A list may have up to 4,294,967,295 elements.
//
// A pointer or slice to elements of a list is valid until that list is appended to, inserted into, grown or
// freed, or [Lists.Compact] or [Lists.Clear] is called. It stays valid when other lists change.
//
// # Stale and forged Lists
//
// A List has the place of a cell and, as a [Handle] does, a generation. A List is stale if its list was
// freed, by Free or Clear, or has moved. All calls except [Lists.Valid] check a List and panic if it is
// stale. A container takes stretches one at a time, and free cells in batches of up to 64. The check is
// certain until the container has taken 2,147,483,648 stretches and batches. Afterwards a stale List may pass
// by chance, with a probability of one in 4,294,967,295.
//
// The check also finds a List of another container: certainly if the two containers have different tags and
// have taken fewer than 8,388,608 stretches and batches each. There are 255 tags, given to containers in
// turn. In other cases a List of another container may pass with the same probability.
//
// Forged Lists may pass the check: 8 bytes that are equal to a List, or that have a place in the middle of a
// cell. Writing beyond a slice, with unsafe, damages the next list in memory, but not the bits that mark free
// cells. Use of an invalid pointer or slice is not detected; with the build tag invariants it finds poisoned
// memory.
//
// # Waste
//
// When a list takes a cell, the cell with its header is at most one and a half times as large as the list
// needs. There are two exceptions: the smallest cells have 32 bytes, or 24 bytes if an element has 13 to 16
// bytes; and a list that grows within 64 bytes may double its room. A stretch is larger than its list needs
// by at most a quarter and 64 KiB.
//
// The cells of one size lie in slabs of 64 KiB or a multiple. Up to an eighth of a slab is unused; pages that
// were never needed take no memory. Bookkeeping takes 1 byte for each 100 bytes of cells. [Lists.Stats]
// counts all of this memory. If Options.Capacity allows less than 4 MiB, a smaller size, down to a page,
// replaces the 64 KiB everywhere above.
//
// One goroutine may change lists at a time, while no other goroutine reads them. While no goroutine changes
// them, any number of goroutines may call At, Slice, Valid, All, Len and Stats. The caller must synchronize
// access to the contents of elements.
type Lists[T any] struct {
	cells     cells
	limit     *vm.Limit
	pages     vm.Pages
	count     int // number of lists
	region    *vm.Region
	ended     error // the panic after Close
	unchecked int   // number of changes since checkInvariants ran
}

// NewLists makes a container without lists. It reserves addresses and takes no memory.
//
// Options.Capacity bounds the number of elements that fit into the cells of all lists, and Options.MaxBytes
// bounds their bytes. The 8 bytes before the elements of each list count, too. The bounds are rounded up to
// slabs.
//
// It returns an error as [vm.Reserve] does, and panics when T holds Go pointers or has no size, or an option
// is negative.
func NewLists[T any](o Options) (*Lists[T], error) {
	p, err := newPlan[T]("Lists", o, math.MaxInt)
	if err != nil {
		return nil, err
	}
	var v T
	if unsafe.Sizeof(v) == 0 {
		panic("bulk: NewLists[" + layout.Name[T]() + "]: the elements have no size: count them instead")
	}
	ls := &Lists[T]{limit: o.Limit, pages: o.Pages}
	if err := ls.reserve(planCells(p)); err != nil {
		return nil, err
	}
	return ls, nil
}

func (ls *Lists[T]) reserve(c cells) error {
	total := alignedSize(c.bytesElements()) + alignedSize(c.bytesSlabs())
	r, err := vm.Reserve(total, vm.Options{Name: c.plan.name, Limit: ls.limit, Pages: ls.pages})
	if err != nil {
		return err
	}
	if err := c.carve(r); err != nil {
		_ = r.Close()
		return err
	}
	ls.cells, ls.region = c, r
	return nil
}

// find returns the cell of l. It panics for a stale List.
func (ls *Lists[T]) find(l List[T]) *cell {
	h := ls.cells.find(l.place, l.generation)
	if h == nil {
		h = ls.absent(l)
	}
	return h
}

// absent continues find after cells.find has returned nil. It returns an empty list for the zero List in a
// container without memory, and panics for a stale List.
//
//go:noinline
func (ls *Lists[T]) absent(l List[T]) *cell {
	ls.mustBeOpen()
	if l.generation != 0 {
		panic(&staleListError{ls.cells.mine(l.generation), ls.cells.plan.name})
	}
	return &nothing[0]
}

// element returns the address of element i in cell h. It is sound if the cell has room for element i: the
// elements lie behind h in committed memory, which never moves before Close and holds no Go pointers.
func (ls *Lists[T]) element(h *cell, i uint) *T {
	var v T
	return (*T)(unsafe.Add(unsafe.Pointer(h), uint(unsafe.Sizeof(*h))+i*uint(unsafe.Sizeof(v))))
}

// Append puts v at the end of l and returns its address. It writes *l if the list moves, or if *l is the zero
// List. If there is no room, it panics with the [*vm.Error] that [Lists.Grow] would return, and the list is
// unchanged.
//
// Complexity: constant, amortized over the elements of the list, which is copied when it outgrows its cell.
func (ls *Lists[T]) Append(l *List[T], v T) *T {
	h := ls.cells.find(l.place, l.generation)
	if h == nil || h.len == ls.cells.room(l.place) {
		h = ls.roomForOne(l, h)
	}
	p := ls.element(h, uint(h.len))
	*p = v
	h.len++
	return p
}

// AppendSlice puts a copy of vs at the end of l and returns the new elements. vs may be elements of l.
// AppendSlice writes *l as [Lists.Append] does. It returns an error as [Lists.Grow] does; then the list is
// unchanged.
func (ls *Lists[T]) AppendSlice(l *List[T], vs []T) ([]T, error) {
	h := ls.find(*l)
	if len(vs) == 0 {
		return nil, nil
	}
	if uint(len(vs)) > uint(ls.cells.room(l.place)-h.len) {
		old, have := unsafe.Pointer(ls.element(h, 0)), uint(h.len)
		var err error
		if h, err = ls.makeRoom(opAppendN, l, len(vs)); err != nil {
			return nil, err
		}
		// If vs is a part of the list, its elements have moved with the list.
		var v T
		off := uint(uintptr(unsafe.Pointer(unsafe.SliceData(vs))) - uintptr(old))
		if off < have*uint(unsafe.Sizeof(v)) {
			vs = unsafe.Slice(ls.element(h, off/uint(unsafe.Sizeof(v))), len(vs))
		}
	}
	added := unsafe.Slice(ls.element(h, uint(h.len)), len(vs))
	copy(added, vs)
	h.len += uint32(len(vs))
	return added[:len(added):len(added)], nil
}

// Slice returns the elements of l, without elements that are appended later. See [Lists] for how long the
// slice is valid. Complexity: constant.
func (ls *Lists[T]) Slice(l List[T]) []T {
	h := ls.cells.find(l.place, l.generation)
	if h == nil {
		h = ls.absent(l)
	}
	return unsafe.Slice(ls.element(h, 0), h.len)
}

// At returns the address of element i of l. It panics when i is not in [0, len(Slice(l))). Complexity:
// constant.
func (ls *Lists[T]) At(l List[T], i int) *T {
	h := ls.cells.find(l.place, l.generation)
	if h == nil {
		h = ls.absent(l)
	}
	if uint(i) >= uint(h.len) {
		panic(&indexError{"At", i, int(h.len), "a list of " + ls.cells.plan.name, nil})
	}
	return ls.element(h, uint(i))
}

// Valid reports whether l refers to a list of this container that was not freed and has not moved. The zero
// List is not valid, though every call accepts it. Complexity: constant.
func (ls *Lists[T]) Valid(l List[T]) bool {
	ls.mustBeOpen()
	return l.generation != 0 && ls.cells.find(l.place, l.generation) != nil
}

// Len returns the number of lists; 0 after Close. The first call of Append, AppendSlice, Insert or Grow for
// at least one element makes a list; Free and Clear remove lists. Lists without elements count, too.
func (ls *Lists[T]) Len() int { return ls.count }

// All yields the lists and their elements, in no particular order. The body may free, make and change lists.
// Freed lists are not yielded any more. Lists that the body makes, and lists that move because they grow, may
// be yielded or not, even several times. Complexity: a step for each list, for each slab, and for each 64
// cells of a slab.
func (ls *Lists[T]) All() iter.Seq2[List[T], []T] {
	return func(yield func(List[T], []T) bool) {
		ls.mustBeOpen()
		for place := range ls.cells.lists() {
			h := ls.cells.at(place)
			if !yield(List[T]{place, h.generation}, unsafe.Slice(ls.element(h, 0), h.len)) {
				return
			}
		}
	}
}

// Close gives the memory and the addresses back. Afterwards the elements must not be used, and the methods
// panic, except Len and the methods that count bytes. A second Close does nothing.
func (ls *Lists[T]) Close() error {
	if ls.ended != nil {
		return nil
	}
	if err := ls.region.Close(); err != nil {
		return err
	}
	ls.ended, ls.count = &closedError{ls.cells.plan.name}, 0
	// Without holdings, cells.find returns nil, and its callers then call mustBeOpen.
	ls.cells.holdings, ls.cells.classes = nil, nil
	return nil
}

func (ls *Lists[T]) mustBeOpen() {
	if ls.ended != nil {
		panic(ls.ended)
	}
}

// staleListError says that a stale List was used, or a List of another container.
type staleListError struct {
	mine bool
	name string
}

// Error says what to do.
func (e *staleListError) Error() string {
	if !e.mine {
		return fmt.Sprintf("bulk: a List is used in %s, but another Lists has made it: give the two "+
			"containers different element types, or name each List field after its container", e.name)
	}
	return fmt.Sprintf("bulk: a List of %s is used after Free or Clear, or is a copy made before the list "+
		"moved: keep one List, in its owner, and pass its address to Append, Compact and Free; Free makes "+
		"it the zero List", e.name)
}
