package guard

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// Alloc returns the address of a zero T in a block of its own. It returns an error as [Allocator.Alloc] does,
// and panics when T holds Go pointers.
func Alloc[T any](a *Allocator) (*T, error) {
	layout.Check[T]("guard: Alloc")
	var v T
	b, err := a.alloc(int(unsafe.Sizeof(v)), int(unsafe.Alignof(v)), kind{layout.Name[T](), -1})
	if err != nil {
		return nil, err
	}
	// The conversion is sound: the block has the size and alignment of T and is zero, and T holds no Go
	// pointers.
	return (*T)(a.at(b)), nil
}

// Make is like [Alloc], but panics with the error.
func Make[T any](a *Allocator) *T {
	p, err := Alloc[T](a)
	if err != nil {
		panic(err)
	}
	return p
}

// AllocSlice returns a slice of zero values of T in one block. The block has room for capacity elements. A
// slice without capacity takes no block. AllocSlice returns an error as [Allocator.Alloc] does. It panics
// when T holds Go pointers, when length is negative, or when length is greater than capacity.
func AllocSlice[T any](a *Allocator, length, capacity int) ([]T, error) {
	layout.Check[T]("guard: AllocSlice")
	var v T
	size := int(unsafe.Sizeof(v))
	if length < 0 || capacity < length {
		panic(fmt.Sprintf("guard: AllocSlice[%s](%d, %d) on %s: a length is from zero to the capacity",
			layout.Name[T](), length, capacity, a.o.Name))
	}
	if size > 0 && capacity > math.MaxInt/size {
		return nil, &vm.Error{Op: "alloc", Purpose: a.o.Name, Bytes: math.MaxInt, Err: vm.ErrSize,
			Detail: fmt.Sprintf("%d values of %d bytes are more than any address space has", capacity, size)}
	}
	if capacity == 0 {
		return []T{}, nil
	}
	b, err := a.alloc(size*capacity, int(unsafe.Alignof(v)), kind{layout.Name[T](), capacity})
	if err != nil {
		return nil, err
	}
	// The conversion is sound as in Alloc.
	return unsafe.Slice((*T)(a.at(b)), capacity)[:length], nil
}

// MakeSlice is like [AllocSlice], but panics with the error.
func MakeSlice[T any](a *Allocator, length, capacity int) []T {
	s, err := AllocSlice[T](a, length, capacity)
	if err != nil {
		panic(err)
	}
	return s
}

// Free frees a value from [Alloc] or [Make]. It panics as [Allocator.Free] does.
func Free[T any](a *Allocator, p *T) { a.free(uintptr(unsafe.Pointer(p))) }

// FreeSlice frees a slice from [AllocSlice] or [MakeSlice]. The slice s must begin at the first allocated
// element. FreeSlice ignores a slice without capacity. It panics as [Allocator.Free] does.
func FreeSlice[T any](a *Allocator, s []T) {
	if cap(s) > 0 {
		a.free(uintptr(unsafe.Pointer(unsafe.SliceData(s))))
	}
}
