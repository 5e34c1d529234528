package arena

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// Make returns the address of a zero T. If there is no room, Make panics with the [*vm.Error] that
// [Arena.Grow] would return. Make also panics if T holds Go pointers.
//
// Complexity: constant, two or three nanoseconds; about twenty if the previous allocation had another type.
func Make[T any](a *Arena) *T {
	var v T
	first := (a.next + unsafe.Alignof(v) - 1) &^ (unsafe.Alignof(v) - 1)
	// The sum cannot overflow: first is at most math.MaxInt/8 plus a page, and a type has at most math.MaxInt
	// bytes.
	if _, plain := a.plainType.(*T); !plain || first+unsafe.Sizeof(v) > a.end {
		return newSlow[T](a)
	}
	if invariants.Enabled {
		a.reuse(first + unsafe.Sizeof(v))
	}
	a.next = first + unsafe.Sizeof(v)
	return (*T)(unsafe.Add(a.base, first))
}

//go:noinline
func newSlow[T any](a *Arena) *T { return &makeSlice[T](a, "new", 1)[0] }

// mustBePlain panics if T holds Go pointers.
func mustBePlain[T any](a *Arena, op string) {
	if _, plain := a.plainType.(*T); !plain {
		layout.Check[T]("arena: " + op)
		a.plainType = (*T)(nil)
	}
}

// MakeSlice returns a slice of zero elements with the given length and capacity. MakeSlice panics if length
// is negative or larger than capacity, and in the cases in which [Make] panics. For a length from untrusted
// input use [Arena.Alloc].
func MakeSlice[T any](a *Arena, length, capacity int) []T {
	if length < 0 || length > capacity {
		panic(fmt.Sprintf("arena: MakeSlice[%s] on %s of length %d and capacity %d: the length must be "+
			"between 0 and the capacity", layout.Name[T](), a.name, length, capacity))
	}
	return makeSlice[T](a, "make slice", capacity)[:length]
}

func makeSlice[T any](a *Arena, op string, n int) []T {
	mustBePlain[T](a, op)
	var v T
	size := unsafe.Sizeof(v)
	if size > 0 && uintptr(n) > math.MaxInt/size {
		panic(&vm.Error{Op: op, Purpose: a.name, Bytes: math.MaxInt, Err: vm.ErrSize,
			Detail: fmt.Sprintf("%d elements of %d bytes are more than any address space has", n, size)})
	}
	p, err := a.alloc(op, size*uintptr(n), unsafe.Alignof(v))
	if err != nil {
		panic(err)
	}
	// This is sound because these bytes are committed, aligned and zero, and T holds no Go pointers.
	return unsafe.Slice((*T)(p), n)
}

// Append appends to a slice that lies in the arena, or to nil, and returns a slice that lies in the arena. If
// the capacity suffices, Append works as the built-in append does. If the capacity does not suffice and the
// slice is the arena's last allocation, Append extends it in place. Otherwise Append copies the elements to a
// new slice whose capacity is at least twice the old length. Append panics in the cases in which [Make]
// panics. A panic changes nothing.
func Append[T any](a *Arena, s []T, vs ...T) []T {
	n := len(s) + len(vs)
	if n <= cap(s) {
		return append(s, vs...)
	}
	mustBePlain[T](a, "append")
	var v T
	size := unsafe.Sizeof(v)
	end := uintptr(unsafe.Pointer(unsafe.SliceData(s))) + uintptr(cap(s))*size
	if cap(s) > 0 && end == uintptr(a.base)+a.next {
		// The new elements follow the old capacity without a gap, because the size of a type is a multiple of
		// its alignment.
		makeSlice[T](a, "append", n-cap(s))
		return append(unsafe.Slice(unsafe.SliceData(s), n)[:len(s)], vs...)
	}
	moved := makeSlice[T](a, "append", max(n, 2*len(s)))[:len(s)]
	copy(moved, s)
	return append(moved, vs...)
}
