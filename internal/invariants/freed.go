package invariants

import (
	"bytes"
	"fmt"
	"os"
	"unsafe"
)

// MustBeFree panics if b, which is about to hold a new element, was written after it was freed: a program
// wrote through a stale pointer. A container must have poisoned all of b, or never have written to b. Pages
// that were given back to the system since then are zero. MustBeFree does not find a write after which b has
// its old bytes, or only zeros in a page. The callback name returns the name of b for the message. It is
// called only for a panic, so that the check does not allocate.
func MustBeFree(b []byte, name func() string) {
	if i, left := disturbed(b); i >= 0 {
		panic(name() + fmt.Sprintf(" was written after it was freed: byte %d of %d is %#02x, and %#02x was "+
			"left there: drop every pointer to an element when you remove the element", i, len(b), b[i],
			left))
	}
}

var pageSize = os.Getpagesize()

// disturbed returns the index of the first byte of b that differs from the expected byte (poison or zero),
// and the expected byte. The index is -1 if all bytes are as expected.
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
