package invariants

import (
	"bytes"
	"fmt"
	"os"
	"unsafe"
)

// MustBeFree panics when b, memory without a live element that is about to get one, was written since it was poisoned: by a
// pointer to an element that was there before. b must have been poisoned as a whole, or never written; pages that were given
// back to the system meanwhile are zero. What b is, is asked only for the message: the check itself makes no garbage. A write
// that left b as it was, or zero to the last byte, is not found.
func MustBeFree(b []byte, what func() string) {
	if i, left := disturbed(b); i >= 0 {
		panic(what() + fmt.Sprintf(" was written after it was freed: byte %d of %d is %#02x, and %#02x was "+
			"left there: drop every pointer to an element where it is removed", i, len(b), b[i], left))
	}
}

var pageSize = os.Getpagesize()

// disturbed returns the index of the first byte of b that is not what was left there, and what that was; or -1.
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
