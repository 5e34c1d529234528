package earth

import "math"

// The state must be the same on every machine, bit by bit. Two things would prevent that:
//
//   - A compiler may fuse a product and a sum into one instruction that rounds once. Go does so on arm64,
//     loong64, ppc64, riscv64 and s390x, and on amd64 at level v3. An explicit conversion of the product
//     prevents the fusion, so this package writes float32(x*y) or float64(x*y) for each product in a sum.
//   - The functions of package math are assembly on some machines, and may contain fused instructions on
//     others. Therefore this file defines the functions that the state depends on. Only exact functions come
//     from package math: square roots, floor and ceiling (IEEE 754).

const degreesPerRadian = 180 / math.Pi

// vector is a point on the unit sphere, or a direction: x points to 0° N 0° E, y to 0° N 90° E, z to the
// north pole.
type vector struct{ X, Y, Z float32 }

// wide is a vector in double precision, for intermediate results.
type wide struct{ x, y, z float64 }

func (v vector) wide() wide { return wide{float64(v.X), float64(v.Y), float64(v.Z)} }

func (v wide) narrow() vector { return vector{float32(v.x), float32(v.y), float32(v.z)} }

func (v wide) plus(u wide) wide { return wide{v.x + u.x, v.y + u.y, v.z + u.z} }

func (v wide) minus(u wide) wide { return wide{v.x - u.x, v.y - u.y, v.z - u.z} }

func (v wide) times(f float64) wide {
	return wide{float64(v.x * f), float64(v.y * f), float64(v.z * f)}
}

func (v wide) dot(u wide) float64 {
	return float64(v.x*u.x) + float64(v.y*u.y) + float64(v.z*u.z)
}

func (v wide) length() float64 { return math.Sqrt(v.dot(v)) }

// polynomial returns c[0] + c[1]x + c[2]x² + …, by Horner's rule.
func polynomial(x float64, c ...float64) float64 {
	sum := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = float64(sum*x) + c[i]
	}
	return sum
}

// sinCos returns the sine and cosine of an angle in degrees, from -360 to 360, with errors of at most 1e-13.
// It subtracts the nearest multiple of a quarter turn from the angle, and then uses Taylor's series.
func sinCos(degrees float64) (sin, cos float64) {
	quarter := math.Floor(degrees/90 + 0.5)
	x := (degrees - float64(quarter*90)) / degreesPerRadian
	s, c := sinCosSmall(x)
	switch int(quarter) & 3 {
	case 1:
		return c, -s
	case 2:
		return -s, -c
	case 3:
		return -c, s
	}
	return s, c
}

// sinCosSmall returns the sine and cosine of an angle in radians, from -π/4 to π/4.
func sinCosSmall(x float64) (sin, cos float64) {
	y := x * x
	sin = float64(x * polynomial(y, 1, -1.0/6, 1.0/120, -1.0/5040, 1.0/362880, -1.0/39916800, 1.0/6227020800))
	cos = polynomial(y, 1, -1.0/2, 1.0/24, -1.0/720, 1.0/40320, -1.0/3628800, 1.0/479001600, -1.0/87178291200)
	return sin, cos
}

// arc returns the angle between two unit vectors in radians, with an error of at most 4e-8 (a quarter of a
// metre on the Earth). The formula, twice the arc tangent of |a−b| over |a+b|, loses no precision for small
// or large angles (W. Kahan).
func arc(a, b wide) float64 {
	near, far := a.minus(b).length(), a.plus(b).length()
	if near <= far {
		return 2 * arcTangent(near/far)
	}
	return math.Pi - 2*arcTangent(far/near)
}

// arcTangent returns the arc tangent of x, for 0 ≤ x ≤ 1, by formula 4.4.49 of M. Abramowitz, I. Stegun,
// "Handbook of Mathematical Functions".
func arcTangent(x float64) float64 {
	return float64(x * polynomial(x*x, 1, -0.3333314528, 0.1999355085, -0.1420889944, 0.1065626393,
		-0.0752896400, 0.0429096138, -0.0161657367, 0.0028662257))
}

// logarithm returns the natural logarithm of a positive, normal number, with an error of at most 1e-11. It
// writes the number as m·2ⁿ and uses the series of 2 artanh((m−1)/(m+1)).
func logarithm(x float64) float64 {
	b := math.Float64bits(x)
	n := int(b>>52) - 1023
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m /= 2
		n++
	}
	s := (m - 1) / (m + 1)
	return float64(float64(n)*math.Ln2) + float64(s*polynomial(s*s, 2, 2.0/3, 2.0/5, 2.0/7, 2.0/9, 2.0/11,
		2.0/13))
}
