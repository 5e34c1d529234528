package heap

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// Alloc returns a zero T outside Go's heap. It panics when T holds Go pointers. It returns an error, and has the cost, of
// [Heap.Alloc].
func Alloc[T any](h *Heap) (*T, error) {
	mustBePlain[T]("Alloc")
	var v T
	p, err := h.Alloc(int(unsafe.Sizeof(v)), int(unsafe.Alignof(v)))
	return (*T)(p), err
}

// plain holds the addresses of types that were found to hold no Go pointers, each where its own address says.
var plain [256]atomic.Uintptr

// mustBePlain panics when T holds Go pointers. For a type seen before, the usual case, it is one comparison: allocating a
// small object takes no longer than looking a type up.
//
// The first word of an interface is the address of the description of its dynamic type, here *T, which is a constant of
// the program and lives as long. It is only compared.
func mustBePlain[T any](op string) {
	e := any((*T)(nil))
	described := *(*uintptr)(unsafe.Pointer(&e))
	known := &plain[described/64%uintptr(len(plain))]
	if known.Load() != described {
		layout.Check[T]("heap: " + op)
		known.Store(described)
	}
}

// Make is [Alloc], but panics with the [*vm.Error] where that returns one.
func Make[T any](h *Heap) *T {
	p, err := Alloc[T](h)
	if err != nil {
		panic(err)
	}
	return p
}

// AllocSlice returns length zero elements with room for capacity of them, and for no more: what append returns beyond that
// lies on Go's heap. See [Resize] to make it longer. A capacity of zero takes nothing. It panics when T holds Go pointers
// or has no size, or unless 0 ≤ length ≤ capacity.
//
// It returns an error as [Heap.Alloc], or one wrapping [vm.ErrSize] where the bytes cannot be counted.
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

// MakeSlice is [AllocSlice], but panics with the [*vm.Error] where that returns one.
func MakeSlice[T any](h *Heap, length, capacity int) []T {
	s, err := AllocSlice[T](h, length, capacity)
	if err != nil {
		panic(err)
	}
	return s
}

// Resize gives a slice of [AllocSlice] room for capacity elements, as [Heap.Realloc] does: the elements are kept, those
// behind the length too, what does not fit is cut off, and what is added is zero. s must not be used afterwards, and must
// begin where it was allocated; one without capacity is new. It panics as AllocSlice does.
//
// It returns an error as AllocSlice does; then s is as it was.
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

// sliceSize checks what a slice is to be, and returns its size in bytes.
func sliceSize[T any](op string, h *Heap, length, capacity int) (int, error) {
	mustBePlain[T](op)
	var v T
	each := int(unsafe.Sizeof(v))
	if each == 0 {
		panic(fmt.Sprintf("heap: %s[%s] on %s: the elements have no size: count them instead", op, layout.Name[T](), h.name))
	}
	if length < 0 || capacity < length {
		panic(fmt.Sprintf("heap: %s[%s](%d, %d) on %s: a length is from zero to the capacity", op, layout.Name[T](), length, capacity, h.name))
	}
	if capacity > math.MaxInt/each {
		return 0, &vm.Error{Op: "alloc", Purpose: h.name, Bytes: math.MaxInt, Err: vm.ErrSize,
			Detail: fmt.Sprintf("%d elements of %d bytes are more than any address space has", capacity, each)}
	}
	return capacity * each, nil
}

// Free gives back what [Alloc] or [Make] returned, as [Heap.Free] does.
func Free[T any](h *Heap, p *T) { h.Free(unsafe.Pointer(p)) }

// FreeSlice gives back what [AllocSlice], [MakeSlice] or [Resize] returned, as [Heap.Free] does. s must begin where it was
// allocated; its length does not matter, and one without capacity is nothing to free.
func FreeSlice[T any](h *Heap, s []T) {
	if cap(s) > 0 {
		h.Free(unsafe.Pointer(unsafe.SliceData(s)))
	}
}

// Grow makes the next n allocations of a T unable to fail, those with other types of about the same size counted too. It
// panics when n is negative, T holds Go pointers, or T is larger than what lies in pools (seven eighths of a page):
// what has whole pages fails or does not when it is allocated.
//
// It returns an error as [Heap.Alloc] does; then nothing has changed, but that pages may be committed.
func Grow[T any](h *Heap, n int) error {
	mustBePlain[T]("Grow")
	var v T
	size, align := int(unsafe.Sizeof(v)), int(unsafe.Alignof(v))
	c, ok := classFor(size, align)
	if n < 0 || !ok {
		panic(fmt.Sprintf("heap: Grow[%s](%d) of %d bytes each on %s: a number is zero or more, and the size at most %d",
			layout.Name[T](), n, size, h.name, smallMost))
	}
	h.lock()
	h.mustBeOpen("Grow")
	defer h.unlock()
	return h.promise(c, n)
}

// promise makes sure that a class has n free objects.
func (h *Heap) promise(number, n int) error {
	s, c := &h.supplies[number], &classes[number]
	before := s.promised
	if n > int(h.pages.end)/int(c.pages)*int(c.objects) {
		return h.full(min(n, math.MaxInt/int(c.size)) * int(c.size))
	}
	for s.free < n {
		s.promised = max(before, s.free) // so that what is there already does not go while memory is looked for
		if err := h.newPool(number); err != nil {
			s.promised = before
			h.trim()
			return err
		}
	}
	s.promised = max(before, n)
	h.checkInvariants()
	return nil
}
