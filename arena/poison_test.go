package arena

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

//vastvet:ignore useafter: the test uses released memory on purpose
func TestReleasedMemoryIsPoisoned(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("built without the tag invariants")
	}
	page := vm.PageSize()
	for _, highWater := range []int{0, 2 * page} {
		a, err := New(Options{Name: "frame", HighWater: highWater})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		_, _ = a.Alloc(100, 4)
		m := a.Mark()
		s := MakeSlice[uint32](a, page, page)
		for i := range s {
			s[i] = 1
		}
		a.Release(m)
		if s[0] != 0x01010101*invariants.PoisonByte || s[page/8] != s[0] {
			t.Errorf("released memory holds %#x and %#x, want poison", s[0], s[page/8])
		}
		m = a.Mark()
		if again := MakeSlice[uint32](a, 2*page, 2*page); &again[0] != &s[0] {
			t.Fatal("the memory was not used again")
		} else if i := firstNot(again, 0); i >= 0 {
			t.Errorf("element %d is %#x, want 0", i, again[i])
		}
		a.Release(m)
		s[3] = 5
		_, _ = a.Alloc(8, 4) // ends before the written byte
		text := modeltest.PanicText(func() { Make[[2]uint64](a) })
		if !strings.Contains(text, "arena: the memory of frame from byte 108 on was written after it was "+
			"freed: byte 4 of 20 is 0x05, and 0xdb was left there") {
			t.Errorf("allocating the written memory again panics with %q", text)
		}
		s[3] = s[4]
		a.Reset()
		if p, err := a.Alloc(1000, 1); err != nil || firstNot(unsafe.Slice((*uint32)(p), 250), 0) >= 0 {
			t.Errorf("after Reset, Alloc failed or its memory is not zero: %v", err)
		}
	}
}

func firstNot(s []uint32, want uint32) int {
	for i, v := range s {
		if v != want {
			return i
		}
	}
	return -1
}
