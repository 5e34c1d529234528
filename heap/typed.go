package heap

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// Alloc returns the address of a zero T outside Go's heap. It panics when T holds Go pointers. Alloc returns
// an error as [Heap.Alloc] does, and has the same complexity.
func Alloc[T any](h *Heap) (*T, error) {
	mustBePlain[T]("Alloc")
	var v T
	p, err := h.Alloc(int(unsafe.Sizeof(v)), int(unsafe.Alignof(v)))
	return (*T)(p), err
}

// plain is a cache of types without Go pointers. An entry is the address of a type descriptor.
var plain [256]atomic.Uintptr

// mustBePlain panics when T holds Go pointers. For a type in the cache, it makes only one comparison. Looking
// up the type in a map would take as long as a small allocation.
func mustBePlain[T any](op string) {
	// The first word of an interface value is the address of the descriptor of its dynamic type, here *T.
	e := any((*T)(nil))
	descriptor := *(*uintptr)(unsafe.Pointer(&e))
	cached := &plain[descriptor/64%uintptr(len(plain))]
	if cached.Load() != descriptor {
		layout.Check[T]("heap: " + op)
		cached.Store(descriptor)
	}
}

// Make is [Alloc], but panics with the error.
func Make[T any](h *Heap) *T {
	p, err := Alloc[T](h)
	if err != nil {
		panic(err)
	}
	return p
}

// AllocSlice returns a slice of zero elements with the given length and capacity. To enlarge the capacity,
// use [Resize]: the built-in append would copy the elements to Go's heap. With a capacity of zero, AllocSlice
// allocates nothing. AllocSlice panics when T holds Go pointers or has size zero, when length is negative, or
// when length is greater than capacity.
//
// AllocSlice returns an error as [Heap.Alloc] does, or an error wrapping [vm.ErrSize] if the byte count
// overflows.
func AllocSlice[T any](h *Heap, length, capacity int) ([]T, error) {
	size, err := sliceSize[T]("AllocSlice", h, length, capacity)
	if capacity == 0 || err != nil {
		return nil, err
	}
	var v T
	p, err := h.Alloc(size, int(unsafe.Alignof(v)))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(p), capacity)[:length], nil
}

// MakeSlice is [AllocSlice], but panics with the error.
func MakeSlice[T any](h *Heap, length, capacity int) []T {
	s, err := AllocSlice[T](h, length, capacity)
	if err != nil {
		panic(err)
	}
	return s
}

// Resize changes the capacity of a slice of [AllocSlice], as [Heap.Realloc] does. It keeps the elements that
// fit into the new capacity, also the elements behind the length. New elements are zero. The slice s must
// begin at the first allocated element, and must not be used afterwards. If s has no capacity, Resize
// allocates a slice. Resize panics as AllocSlice and [Heap.Free] do.
//
// Resize returns an error as AllocSlice does. After an error, s is unchanged.
func Resize[T any](h *Heap, s []T, capacity int) ([]T, error) {
	size, err := sliceSize[T]("Resize", h, 0, capacity)
	if err != nil {
		return nil, err
	}
	if capacity == 0 {
		FreeSlice(h, s)
		return nil, nil
	}
	var old unsafe.Pointer
	if cap(s) > 0 {
		old = unsafe.Pointer(unsafe.SliceData(s))
	}
	var v T
	p, err := h.Realloc(old, size, int(unsafe.Alignof(v)))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(p), capacity)[:min(len(s), capacity)], nil
}

// sliceSize checks the arguments of a function that allocates slices, and returns the size of the slice in
// bytes.
func sliceSize[T any](op string, h *Heap, length, capacity int) (int, error) {
	mustBePlain[T](op)
	var v T
	each := int(unsafe.Sizeof(v))
	if each == 0 {
		panic(fmt.Sprintf("heap: %s[%s] on %s: the elements have no size: count them instead", op,
			layout.Name[T](), h.name))
	}
	if length < 0 || capacity < length {
		panic(fmt.Sprintf("heap: %s[%s](%d, %d) on %s: a length is from zero to the capacity", op,
			layout.Name[T](), length, capacity, h.name))
	}
	if capacity > math.MaxInt/each {
		return 0, &vm.Error{Op: "alloc", Purpose: h.name, Bytes: math.MaxInt, Err: vm.ErrSize,
			Detail: fmt.Sprintf("%d elements of %d bytes are more than any address space has", capacity,
				each)}
	}
	return capacity * each, nil
}

// Free frees an allocation of [Alloc] or [Make], as [Heap.Free] does.
func Free[T any](h *Heap, p *T) { h.Free(unsafe.Pointer(p)) }

// FreeSlice frees a slice of [AllocSlice], [MakeSlice] or [Resize], as [Heap.Free] does. The slice must begin
// at the first allocated element, and may have any length. FreeSlice ignores a slice without capacity.
func FreeSlice[T any](h *Heap, s []T) {
	if cap(s) > 0 {
		h.Free(unsafe.Pointer(unsafe.SliceData(s)))
	}
}

// Grow makes sure that the next n allocations of a T cannot fail. Allocations of other types of the same
// size class also count. Grow panics when n is negative, when T holds Go pointers, or when T is larger than
// the largest object of a pool (seven eighths of a page).
//
// Grow returns an error as [Heap.Alloc] does. After an error, all allocations are unchanged.
func Grow[T any](h *Heap, n int) error {
	mustBePlain[T]("Grow")
	var v T
	size, align := int(unsafe.Sizeof(v)), int(unsafe.Alignof(v))
	c, ok := classFor(size, align)
	if n < 0 || !ok {
		panic(fmt.Sprintf("heap: Grow[%s](%d) of %d bytes each on %s: a number is zero or more, and the "+
			"size at most %d bytes", layout.Name[T](), n, size, h.name, maxSmall))
	}
	h.lock()
	h.mustBeOpen("Grow")
	defer h.unlock()
	return h.promise(c, n)
}

// promise makes sure that a class has n free objects, and promises them to later allocations. The caller
// holds the lock.
func (h *Heap) promise(number, n int) error {
	s, c := &h.supplies[number], &classes[number]
	before := s.promised
	if n > int(h.pages.end)/int(c.pages)*int(c.objects) {
		return h.full(min(n, math.MaxInt/int(c.size)) * int(c.size))
	}
	for s.free < n {
		s.promised = max(before, s.free) // so that a trim in newPool keeps the pools made before
		if err := h.newPool(number); err != nil {
			s.promised = before
			_ = h.trim() // frees the pools made before; the error of newPool matters more
			return err
		}
	}
	s.promised = max(before, n)
	h.checkInvariants()
	return nil
}
