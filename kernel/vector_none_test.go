//go:build !goexperiment.simd || !amd64 || go1.27 || race || msan || asan

package kernel

import "testing"

// onEachPath calls f for the only path of this build.
func onEachPath(t *testing.T, f func(t *testing.T)) { f(t) }
