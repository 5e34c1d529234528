//go:build !goexperiment.simd || !amd64 || go1.27 || race || msan || asan

package kernel

// vectors checks the arguments and leaves the whole work to the caller's loop.
func vectors[T Number](name string, _ operation, dst, a, b []T, _ T) (d, x, y []T) {
	mustFit(name, dst, a, b)
	return dst, a, b
}
