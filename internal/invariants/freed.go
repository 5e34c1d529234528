package invariants

import (
	"bytes"
	"fmt"
	"os"
	"unsafe"
)

// MustBeFree panics if b was written after it was freed, through a stale pointer. The caller is about to put
// a new element into b. Each page of b must hold only poison, or only zeros if it was never written or was
// given back to the system. MustBeFree does not find a write that leaves the same bytes, or only zeros in a
// page. The argument name is a function that returns the name of b for the message. A check that finds
// nothing does not call the function, and so does not allocate.
func MustBeFree(b []byte, name func() string) {
	if i, left := firstWritten(b); i >= 0 {
		panic(name() + fmt.Sprintf(" was written after it was freed: byte %d of %d is %#02x, and %#02x was "+
			"left there: drop every pointer to an element when you remove the element", i, len(b), b[i],
			left))
	}
}

var pageSize = os.Getpagesize()

// firstWritten returns the index of the first byte of b that differs from the expected byte (poison or zero),
// and the expected byte. The index is -1 if all bytes are as expected.
func firstWritten(b []byte) (i int, left byte) {
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
