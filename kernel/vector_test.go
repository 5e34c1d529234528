//go:build goexperiment.simd && amd64 && !go1.27 && !race && !msan && !asan

package kernel

import (
	"simd/archsimd"
	"testing"
)

// onEachPath calls f once for each set of vector instructions that this processor has, and once with the Go
// loops.
func onEachPath(t *testing.T, f func(t *testing.T)) {
	defer func() { hasAVX2, hasAVX512 = archsimd.X86.AVX2(), archsimd.X86.AVX512() }()
	for _, path := range []struct {
		name         string
		avx2, avx512 bool
	}{{"AVX-512", true, true}, {"AVX2", true, false}, {"Go", false, false}} {
		if path.avx2 && !archsimd.X86.AVX2() || path.avx512 && !archsimd.X86.AVX512() {
			t.Logf("this processor lacks %s", path.name)
			continue
		}
		hasAVX2, hasAVX512 = path.avx2, path.avx512
		t.Run(path.name, f)
	}
}

// TestVectorsAreUsed fails if vector instructions calculate fewer numbers than they can. No other test
// notices this, because the Go loops give the same results.
func TestVectorsAreUsed(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		for op := opAddScaled; op <= opMax; op++ {
			want := [4]int{7, 3, 7, 31}
			switch {
			case !hasAVX2:
				want = [4]int{31, 31, 31, 31}
			case hasAVX512 && op == opAddScaled:
				want = [4]int{15, 7, 15, 7}
			}
			got := [4]int{leftOf[float32](op), leftOf[float64](op), leftOf[int32](op), leftOf[int64](op)}
			if got != want {
				t.Errorf("operation %d leaves %v of 31 numbers, want %v", op, got, want)
			}
		}
	})
}

func leftOf[T Number](op operation) int {
	s := make([]T, 31)
	rest, _, _ := vectors("test", op, s, s, s, 1)
	return len(rest)
}
