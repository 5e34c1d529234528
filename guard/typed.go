package guard

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// New returns the address of a zero T in a block of its own. It panics with the [*vm.Error] that [Allocator.Alloc] would
// return, and when T holds Go pointers.
func New[T any](a *Allocator) *T {
	layout.Check[T]("guard: New")
	var v T
	return (*T)(a.make(unsafe.Sizeof(v), unsafe.Alignof(v), kind{layout.Name[T](), -1}))
}

// MakeSlice returns n zero values of T in one block. It panics as [New] does, and when n is negative.
func MakeSlice[T any](a *Allocator, n int) []T {
	layout.Check[T]("guard: MakeSlice")
	var v T
	size := unsafe.Sizeof(v)
	if n < 0 {
		panic(fmt.Sprintf("guard: MakeSlice[%s](%d) on %s: a length is zero or more", layout.Name[T](), n, a.o.Name))
	}
	if size > 0 && uintptr(n) > math.MaxInt/size {
		panic(&vm.Error{Op: "alloc", Purpose: a.o.Name, Bytes: math.MaxInt, Err: vm.ErrSize,
			Detail: fmt.Sprintf("%d values of %d bytes: no memory is so large", n, size)})
	}
	p := a.make(size*uintptr(n), unsafe.Alignof(v), kind{layout.Name[T](), n})
	return unsafe.Slice((*T)(p), n)
}

// make returns a block for a type that holds no Go pointers, which is why it may hold any: it is zero, aligned, and of the
// right size.
func (a *Allocator) make(size, align uintptr, what kind) unsafe.Pointer {
	b, err := a.alloc(int(size), int(align), what)
	if err != nil {
		panic(err)
	}
	return a.at(b)
}

// Free takes away what [New] returned. It panics as [Allocator.Free] does.
func Free[T any](a *Allocator, p *T) { a.free(uintptr(unsafe.Pointer(p))) }

// FreeSlice takes away what [MakeSlice] returned; s must begin where that began. It panics as [Allocator.Free] does.
func FreeSlice[T any](a *Allocator, s []T) { a.free(uintptr(unsafe.Pointer(unsafe.SliceData(s)))) }
