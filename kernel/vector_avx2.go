//go:build goexperiment.simd && amd64 && !go1.27 && !race && !msan && !asan

package kernel

import "simd/archsimd"

type f32 = archsimd.Float32x8
type f64 = archsimd.Float64x4
type i32 = archsimd.Int32x8

func float32x8(op operation, dst, a, b [][8]float32, s float32) {
	zip := func(f func(x, y f32) f32) {
		each(dst, a, b, func(d, x, y *[8]float32) {
			f(archsimd.LoadFloat32x8(x), archsimd.LoadFloat32x8(y)).Store(d)
		})
	}
	k := archsimd.BroadcastFloat32x8(s)
	switch op {
	case opAddScaled:
		zip(func(x, y f32) f32 { return x.Add(y.Mul(k)) })
	case opMul:
		zip(func(x, y f32) f32 { return x.Mul(y) })
	case opScale:
		zip(func(x, _ f32) f32 { return x.Mul(k) })
	case opMin:
		zip(func(x, y f32) f32 {
			zero := x.AsInt32x8().Or(y.AsInt32x8()).AsFloat32x8() // -0 if x or y is -0
			return x.Add(y).Merge(zero.Merge(x.Min(y), x.Equal(y)), x.IsNaN().Or(y.IsNaN()))
		})
	case opMax:
		zip(func(x, y f32) f32 {
			zero := x.AsInt32x8().And(y.AsInt32x8()).AsFloat32x8() // -0 if x and y are -0
			return x.Add(y).Merge(zero.Merge(x.Max(y), x.Equal(y)), x.IsNaN().Or(y.IsNaN()))
		})
	}
}

func float64x4(op operation, dst, a, b [][4]float64, s float64) {
	zip := func(f func(x, y f64) f64) {
		each(dst, a, b, func(d, x, y *[4]float64) {
			f(archsimd.LoadFloat64x4(x), archsimd.LoadFloat64x4(y)).Store(d)
		})
	}
	k := archsimd.BroadcastFloat64x4(s)
	switch op {
	case opAddScaled:
		zip(func(x, y f64) f64 { return x.Add(y.Mul(k)) })
	case opMul:
		zip(func(x, y f64) f64 { return x.Mul(y) })
	case opScale:
		zip(func(x, _ f64) f64 { return x.Mul(k) })
	case opMin:
		zip(func(x, y f64) f64 {
			zero := x.AsInt64x4().Or(y.AsInt64x4()).AsFloat64x4()
			return x.Add(y).Merge(zero.Merge(x.Min(y), x.Equal(y)), x.IsNaN().Or(y.IsNaN()))
		})
	case opMax:
		zip(func(x, y f64) f64 {
			zero := x.AsInt64x4().And(y.AsInt64x4()).AsFloat64x4()
			return x.Add(y).Merge(zero.Merge(x.Max(y), x.Equal(y)), x.IsNaN().Or(y.IsNaN()))
		})
	}
}

func int32x8(op operation, dst, a, b [][8]int32, s int32) {
	zip := func(f func(x, y i32) i32) {
		each(dst, a, b, func(d, x, y *[8]int32) {
			f(archsimd.LoadInt32x8(x), archsimd.LoadInt32x8(y)).Store(d)
		})
	}
	k := archsimd.BroadcastInt32x8(s)
	switch op {
	case opAddScaled:
		zip(func(x, y i32) i32 { return x.Add(y.Mul(k)) })
	case opMul:
		zip(func(x, y i32) i32 { return x.Mul(y) })
	case opScale:
		zip(func(x, _ i32) i32 { return x.Mul(k) })
	case opMin:
		zip(func(x, y i32) i32 { return x.Min(y) })
	case opMax:
		zip(func(x, y i32) i32 { return x.Max(y) })
	}
}
