package invariants

import (
	"bytes"
	"fmt"
	"os"
	"unsafe"
)

// MustBeFree panics if b, which is about to hold a new element, was written since it was poisoned: through a
// stale pointer. All of b must have been poisoned, or never written; pages given back to the system meanwhile
// are zero. what names b for the message and is called only then: the check itself does not allocate. A write
// that left b unchanged, or all zero, is not found.
func MustBeFree(b []byte, what func() string) {
	if i, left := disturbed(b); i >= 0 {
		panic(what() + fmt.Sprintf(" was written after it was freed: byte %d of %d is %#02x, and %#02x was "+
			"left there: drop every pointer to an element where it is removed", i, len(b), b[i], left))
	}
}

var pageSize = os.Getpagesize()

// disturbed returns the index of the first byte of b that differs from the poison or zero left there, and the
// value left there; or -1.
func disturbed(b []byte) (i int, left byte) {
	for lo := 0; lo < len(b); {
		at := uintptr(unsafe.Pointer(&b[lo]))
		piece := b[lo:min(len(b), lo+pageSize-int(at%uintptr(pageSize)))]
		if left = 0; bytes.IndexByte(piece, PoisonByte) >= 0 {
			left = PoisonByte
		}
		for k, v := range piece {
			if v != left {
				return lo + k, left
			}
		}
		lo += len(piece)
	}
	return -1, 0
}
