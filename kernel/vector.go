//go:build goexperiment.simd && amd64 && !go1.27 && !race && !msan && !asan

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// The build constraints exclude sanitizers, which do not see vector instructions, and later versions of Go,
// whose package archsimd may differ.

var hasAVX2, hasAVX512 = archsimd.X86.AVX2(), archsimd.X86.AVX512()

// vectors checks the arguments. It calculates the first results with vector instructions, and returns the
// rest of the slices for the caller's loop.
func vectors[T Number](name string, op operation, dst, a, b []T, s T) (d, x, y []T) {
	mustFit(name, dst, a, b)
	if !hasAVX2 {
		return dst, a, b
	}
	wide := hasAVX512 && op == opAddScaled // decision 0039 says why only this operation
	done := 0
	switch s := any(s).(type) {
	case float32:
		if wide {
			done = apply(float32x16, op, dst, a, b, s)
		} else {
			done = apply(float32x8, op, dst, a, b, s)
		}
	case float64:
		if wide {
			done = apply(float64x8, op, dst, a, b, s)
		} else {
			done = apply(float64x4, op, dst, a, b, s)
		}
	case int32:
		if wide {
			done = apply(int32x16, op, dst, a, b, s)
		} else {
			done = apply(int32x8, op, dst, a, b, s)
		}
	case int64: // AVX2 has neither products nor minima of this type
		if wide {
			done = apply(int64x8, op, dst, a, b, s)
		}
	}
	return dst[done:], a[done:], b[done:]
}

// apply calls f for the numbers that fill whole arrays V, and returns their count. N and T are the same type.
func apply[V any, N, T Number](f func(operation, []V, []V, []V, N), op operation, dst, a, b []T, s N) int {
	length := int(unsafe.Sizeof(*new(V)) / unsafe.Sizeof(s))
	n := len(dst) / length
	f(op, arrays[V](dst, n), arrays[V](a, n), arrays[V](b, n), s)
	archsimd.ClearAVXUpperBits() // otherwise SSE instructions of later code are slow
	return n * length
}

// arrays shows the start of s as n arrays. This is sound because V is an array of T, and apply has divided
// the length of s by the length of V.
func arrays[V any, T Number](s []T, n int) []V {
	return unsafe.Slice((*V)(unsafe.Pointer(unsafe.SliceData(s))), n)
}

// each calls f for all arrays. The compiler inlines the function each and its argument f into functions such
// as float32x16.
func each[V any](dst, a, b []V, f func(d, x, y *V)) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		f(&dst[i], &a[i], &b[i])
	}
}

func float32x16(_ operation, dst, a, b [][16]float32, s float32) {
	k := archsimd.BroadcastFloat32x16(s)
	each(dst, a, b, func(d, x, y *[16]float32) {
		archsimd.LoadFloat32x16(x).Add(archsimd.LoadFloat32x16(y).Mul(k)).Store(d)
	})
}

func float64x8(_ operation, dst, a, b [][8]float64, s float64) {
	k := archsimd.BroadcastFloat64x8(s)
	each(dst, a, b, func(d, x, y *[8]float64) {
		archsimd.LoadFloat64x8(x).Add(archsimd.LoadFloat64x8(y).Mul(k)).Store(d)
	})
}

func int32x16(_ operation, dst, a, b [][16]int32, s int32) {
	k := archsimd.BroadcastInt32x16(s)
	each(dst, a, b, func(d, x, y *[16]int32) {
		archsimd.LoadInt32x16(x).Add(archsimd.LoadInt32x16(y).Mul(k)).Store(d)
	})
}

func int64x8(_ operation, dst, a, b [][8]int64, s int64) {
	k := archsimd.BroadcastInt64x8(s)
	each(dst, a, b, func(d, x, y *[8]int64) {
		archsimd.LoadInt64x8(x).Add(archsimd.LoadInt64x8(y).Mul(k)).Store(d)
	})
}
