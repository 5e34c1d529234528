//go:build linux && race

package vm

import (
	"sync/atomic"
	"unsafe"
)

// hintAt begins in a range that the race detector's runtime neither uses nor watches. Large reservations elsewhere can
// push later mappings of the C library out of the window in which the detector expects them.
var hintAt atomic.Uintptr

const hintBase = 0x4000_0000_0000

func reserveHint(n int) unsafe.Pointer {
	end := hintAt.Add(uintptr(n))
	addr := hintBase + end - uintptr(n)
	return *(*unsafe.Pointer)(unsafe.Pointer(&addr))
}
