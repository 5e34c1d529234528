package kernel

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// form is a function of the package, and the naive calculation of one result.
type form[T Number] struct {
	name  string
	call  func(dst, a, b []T, s T)
	naive func(a, b, s T) T
}

func forms[T Number]() []form[T] {
	return []form[T]{
		{"Add", func(dst, a, b []T, _ T) { Add(dst, a, b) }, func(a, b, _ T) T { return a + b }},
		{"Sub", func(dst, a, b []T, _ T) { Sub(dst, a, b) }, func(a, b, _ T) T { return a - b }},
		{"Mul", func(dst, a, b []T, _ T) { Mul(dst, a, b) }, func(a, b, _ T) T { return a * b }},
		{"Scale", func(dst, a, _ []T, s T) { Scale(dst, a, s) }, func(a, _, s T) T { return a * s }},
		{"AddScaled", AddScaled[T], func(a, b, s T) T { return a + T(b*s) }},
		{"Min", func(dst, a, b []T, _ T) { Min(dst, a, b) }, func(a, b, _ T) T { return min(a, b) }},
		{"Max", func(dst, a, b []T, _ T) { Max(dst, a, b) }, func(a, b, _ T) T { return max(a, b) }},
	}
}

// special has the numbers for which wrong implementations usually differ.
var special = []any{
	[]float32{0, float32(math.Copysign(0, -1)), 1, -1, 3.5, 0x1.fffffep-1, float32(math.Inf(1)),
		float32(math.Inf(-1)), float32(math.NaN()), math.Float32frombits(0xffc12345), 0x1p-126,
		math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, math.MaxFloat32, -math.MaxFloat32},
	[]float64{0, math.Copysign(0, -1), 1, -1, 3.5, 0x1.fffffffffffffp-1, math.Inf(1), math.Inf(-1),
		math.NaN(), math.Float64frombits(0xfff8000000012345), 0x1p-1022, math.SmallestNonzeroFloat64,
		-math.SmallestNonzeroFloat64, math.MaxFloat64, -math.MaxFloat64},
	[]int32{0, 1, -1, math.MaxInt32, math.MinInt32},
	[]int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32},
}

// number makes a number from random bits. Half of the results are special numbers.
func number[T Number](bits uint64) T {
	if bits>>63 == 0 {
		for _, s := range special {
			if s, ok := s.([]T); ok {
				return s[bits%uint64(len(s))]
			}
		}
	}
	var v any = int64(bits * 0x9e3779b97f4a7c15) // spreads the bits over the exponent, too
	switch any(*new(T)).(type) {
	case float32:
		v = math.Float32frombits(uint32(v.(int64)))
	case float64:
		v = math.Float64frombits(uint64(v.(int64)))
	case int32:
		v = int32(v.(int64))
	}
	return v.(T)
}

// bitsOf returns the bits of x. All NaN have equal bits, because Go does not define the payload of a result.
func bitsOf[T Number](x T) uint64 {
	if x != x {
		return math.MaxUint64
	}
	switch x := any(x).(type) {
	case float32:
		return uint64(math.Float32bits(x))
	case float64:
		return math.Float64bits(x)
	}
	return uint64(x)
}

// compare calls each function for slices of n numbers, and compares the results with the naive calculation.
// The slices begin at different offsets of their arrays. next returns random bits.
func compare[T Number](t *testing.T, n int, next func() uint64) {
	t.Helper()
	const around = 16
	fill := func() (all []T, lo int) {
		all = make([]T, n+2*around)
		for i := range all {
			all[i] = number[T](next())
		}
		return all, int(next() % around)
	}
	s := number[T](next())
	allA, loA := fill()
	allB, loB := fill()
	before, lo := fill()
	for _, f := range forms[T]() {
		for inPlace := range 4 { // bit 0: dst is also a; bit 1: dst is also b
			all := slices.Clone(before)
			dst, a, b := all[lo:][:n], allA[loA:][:n], allB[loB:][:n]
			if inPlace&1 != 0 {
				copy(dst, a)
				a = dst
			}
			if inPlace&2 != 0 {
				copy(dst, b)
				b = dst
			}
			want := slices.Clone(all)
			for i := range n {
				want[lo+i] = f.naive(a[i], b[i], s)
			}
			f.call(dst, a, b, s)
			for i := range all {
				if bitsOf(all[i]) != bitsOf(want[i]) {
					t.Fatalf("%s of %d × %T, scale %v, in place %b: number %d is %v, want %v",
						f.name, n, s, s, inPlace, i-lo, all[i], want[i])
				}
			}
		}
	}
}

func compareAll(t *testing.T, n int, next func() uint64) {
	t.Helper()
	compare[float32](t, n, next)
	compare[float64](t, n, next)
	compare[int32](t, n, next)
	compare[int64](t, n, next)
}

func TestEqualsNaiveLoops(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		seed := uint64(time.Now().UnixNano())
		t.Log("seed", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		for n := range 201 {
			compareAll(t, n, random.Uint64)
		}
		compareAll(t, 5000, random.Uint64)
	})
}

func FuzzKernels(f *testing.F) {
	f.Add(uint8(33), []byte("12345678abcdefgh"))
	f.Fuzz(func(t *testing.T, n uint8, data []byte) {
		data = append(data, make([]byte, 8)...)
		at, turn := 0, uint64(0)
		next := func() uint64 { // the bytes again and again, changed in each round
			if at+8 > len(data) {
				at = 0
				turn += 0x9e3779b97f4a7c15
			}
			at += 8
			return binary.LittleEndian.Uint64(data[at-8:]) ^ turn
		}
		compareAll(t, int(n), next)
	})
}

// TestRoundsTwice fails if a fused instruction calculates product and sum. The exact product has more digits
// than the type holds. A fused instruction keeps these digits, so its sum is not 0.
func TestRoundsTwice(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		dst, a, b := make([]float64, 37), make([]float64, 37), make([]float64, 37)
		for i := range dst {
			a[i], b[i] = -(1 + 0x1p-26), 1+0x1p-27
		}
		AddScaled(dst, a, b, 1+0x1p-27)
		for i, x := range dst {
			if x != 0 {
				t.Fatalf("number %d is %v, want 0", i, x)
			}
		}
		dst32, a32, b32 := make([]float32, 37), make([]float32, 37), make([]float32, 37)
		for i := range dst32 {
			a32[i], b32[i] = -(1 + 0x1p-11), 1+0x1p-12
		}
		AddScaled(dst32, a32, b32, 1+0x1p-12)
		for i, x := range dst32 {
			if x != 0 {
				t.Fatalf("number %d is %v, want 0", i, x)
			}
		}
	})
}

func TestMisuse(t *testing.T) {
	s := make([]float32, 100)
	for _, c := range []struct {
		name string
		call func()
		want string
	}{
		{"short dst", func() { Add(s[:2], s[:3], s[:3]) }, "lengths 2, 3 and 3: pass slices of one length"},
		{"short a", func() { AddScaled(s[:3], s[:2], s[:3], 1) }, "kernel: AddScaled: the slices have the"},
		{"short b", func() { Min(s[:3], s[:3], s[:2]) }, "lengths 3, 3 and 2"},
		{"short operand", func() { Scale(s[:3], s[:2], 1) }, "lengths 3, 2 and 2"},
		{"dst one behind a", func() { Add(s[1:51], s[:50], s[50:]) }, "kernel: Add: dst overlaps an operand"},
		{"dst one before b", func() { Sub(s[:50], s[50:], s[1:51]) }, "pass the operand itself, or"},
		{"last number", func() { Mul(s[:50], s[49:99], s[50:]) }, "kernel: Mul: dst overlaps"},
		{"operand overlaps", func() { Scale(s[:50], s[49:99], 2) }, "kernel: Scale: dst overlaps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, c.want) {
					t.Errorf("panic %q, want %q", text, c.want)
				}
			}()
			c.call()
		})
	}
	for i := range s {
		if s[i] != 0 {
			t.Fatalf("a refused call wrote number %d", i)
		}
		s[i] = float32(i)
	}
	Add(s[:50], s[50:], s[50:]) // neighbours do not overlap
	Sub(s[50:], s[:50], s[50:])
	if s[3] != 106 || s[53] != 53 {
		t.Error(s[3], s[53], "want 106 and 53")
	}
}
