package heap

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func TestFreedMemoryIsPoisoned(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("built without the tag invariants")
	}
	for _, size := range []int{24, 900, vm.PageSize(), 3 * vm.PageSize()} {
		h := open(t, Options{Name: "ships"})
		keep := alloc(t, h, size) // if size is small, p lies in the pool of keep, so Free(p) keeps the pool
		p := alloc(t, h, size)
		n := h.SizeOf(p)
		h.Free(p)
		for i, b := range bytesOf(p, n) {
			if b != invariants.PoisonByte {
				t.Fatalf("byte %d of %d holds %#x after Free", i, n, b)
			}
		}
		*(*byte)(unsafe.Add(p, 13)) = 7
		text := modeltest.PanicText(func() { _, _ = h.Alloc(size, 0) })
		if !strings.Contains(text, " on ships was written after it was freed: byte 13 of ") ||
			!strings.Contains(text, "is 0x07, and 0xdb was left there") {
			t.Errorf("%d bytes: allocating again panics with %q", size, text)
		}
		h.Free(keep)
		h.checked()
	}
}
