//go:build linux && race

package vm

import (
	"sync/atomic"
	"unsafe"
)

// The range from hintBase to hintEnd is one that the race detector's runtime neither uses nor watches. Large reservations
// elsewhere can push later mappings of the C library out of the window in which the detector expects them.
const (
	hintBase = 0x4000_0000_0000
	hintEnd  = 0x7000_0000_0000
)

// hintUsed is how many bytes behind hintBase have been suggested already.
var hintUsed atomic.Int64

// reserveHint suggests a place. Where none is left the kernel chooses.
func reserveHint(n int) unsafe.Pointer {
	for {
		used := hintUsed.Load()
		if int64(n) > hintEnd-hintBase-used {
			return nil
		}
		if hintUsed.CompareAndSwap(used, used+int64(n)) {
			return pointerAt(hintBase + int(used))
		}
	}
}
