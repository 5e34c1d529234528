package kernel

import (
	"fmt"
	"unsafe"
)

// Number is a type that the functions calculate with. A [View] shows slices of other types, such as
// type Meters float32, as slices of numbers.
type Number interface {
	float32 | float64 | int32 | int64
}

// Add sets dst[i] to a[i] + b[i].
func Add[T Number](dst, a, b []T) {
	dst, a, b = vectors("Add", opAddScaled, dst, a, b, 1)
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

// Sub sets dst[i] to a[i] - b[i].
func Sub[T Number](dst, a, b []T) {
	dst, a, b = vectors("Sub", opAddScaled, dst, a, b, -1)
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}

// Mul sets dst[i] to a[i] × b[i].
func Mul[T Number](dst, a, b []T) {
	dst, a, b = vectors("Mul", opMul, dst, a, b, 0)
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] * b[i]
	}
}

// Scale sets dst[i] to a[i] × s.
func Scale[T Number](dst, a []T, s T) {
	dst, a, _ = vectors("Scale", opScale, dst, a, a, s)
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i] * s
	}
}

// AddScaled sets dst[i] to a[i] + b[i] × s. The product is rounded before it is added, so the result is the
// same on all processors. AddScaled(p, p, v, dt) moves positions by their velocities.
func AddScaled[T Number](dst, a, b []T, s T) {
	dst, a, b = vectors("AddScaled", opAddScaled, dst, a, b, s)
	n := len(dst)
	a, b = a[:n], b[:n]
	i := 0
	// A loop with one number in each round may take twice as long, depending on the place of the loop in
	// memory.
	for ; i < n-3; i += 4 {
		d, x, y := dst[i:i+4:i+4], a[i:i+4:i+4], b[i:i+4:i+4]
		d[0], d[1] = x[0]+T(y[0]*s), x[1]+T(y[1]*s) // without T, the compiler may fuse product and sum
		d[2], d[3] = x[2]+T(y[2]*s), x[3]+T(y[3]*s)
	}
	for ; i < n; i++ {
		dst[i] = a[i] + T(b[i]*s)
	}
}

// Min sets dst[i] to min(a[i], b[i]).
func Min[T Number](dst, a, b []T) {
	dst, a, b = vectors("Min", opMin, dst, a, b, 0)
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = min(a[i], b[i])
	}
}

// Max sets dst[i] to max(a[i], b[i]).
func Max[T Number](dst, a, b []T) {
	dst, a, b = vectors("Max", opMax, dst, a, b, 0)
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = max(a[i], b[i])
	}
}

// operation tells the function vectors what to calculate.
type operation uint8

const (
	opAddScaled operation = iota // also for Add and Sub, because products with 1 and -1 are exact
	opMul
	opScale
	opMin
	opMax
)

// mustFit panics if the slices have different lengths, or if dst shares a part of its memory with another
// slice. dst may be the same slice as a or b, because each step reads its operands before it writes.
func mustFit[T Number](name string, dst, a, b []T) {
	if len(a) != len(dst) || len(b) != len(dst) {
		panic(fmt.Sprintf("kernel: %s: the slices have the lengths %d, %d and %d: pass slices of one length",
			name, len(dst), len(a), len(b)))
	}
	if overlapPartly(dst, a) || overlapPartly(dst, b) {
		panic("kernel: " + name + ": dst overlaps an operand: pass the operand itself, or other memory")
	}
}

// overlapPartly reports whether two slices of equal length share memory, but begin at different addresses.
func overlapPartly[T Number](a, b []T) bool {
	bytes := uintptr(len(a)) * unsafe.Sizeof(*new(T))
	apart := uintptr(unsafe.Pointer(unsafe.SliceData(a))) - uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return apart != 0 && (apart < bytes || -apart < bytes)
}
