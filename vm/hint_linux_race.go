//go:build linux && race

package vm

import (
	"sync/atomic"
	"unsafe"
)

// reserveHint suggests addresses from hintBase to hintEnd, which the race detector does not use. Large
// reservations at other addresses can make the C library map memory at addresses that the detector refuses.
const (
	hintBase = 0x4000_0000_0000
	hintEnd  = 0x7000_0000_0000
)

// hintUsed is the number of bytes suggested so far, counted from hintBase.
var hintUsed atomic.Int64

// reserveHint suggests an address for n bytes. It returns nil if the range has no room left; with nil the
// kernel chooses the address.
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
