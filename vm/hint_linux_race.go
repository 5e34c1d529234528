//go:build linux && race

package vm

import (
	"sync/atomic"
	"unsafe"
)

// Reservations go to the range from hintBase to hintEnd, which the race detector's runtime neither uses nor
// watches. Large reservations elsewhere can push later mappings of the C library out of the window in which
// the detector expects them.
const (
	hintBase = 0x4000_0000_0000
	hintEnd  = 0x7000_0000_0000
)

// hintUsed is the number of bytes, from hintBase on, that were suggested already.
var hintUsed atomic.Int64

// reserveHint suggests an address. If no address is left, reserveHint returns nil, and the kernel chooses.
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
