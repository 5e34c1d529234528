package heap

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func TestReallocStaysOrMoves(t *testing.T) {
	page := vm.PageSize()
	for _, pages := range pageKinds {
		h := open(t, Options{Pages: pages, Capacity: 3 * testCapacity})
		c := piece{p: alloc(t, h, 10), size: 10, number: 77}
		c.fill()
		for i, step := range []struct {
			size  int
			stays bool
		}{
			{16, true},             // same class
			{100, false},           // other class
			{60, true},             // at least half of the object's size
			{20, false},            // less than half of the object's size
			{2 * page, false},      // object to block
			{3 * page, true},       // longer block, the next pages are free
			{page, true},           // shorter block
			{4 * page, true},       // longer block, the next pages are free
			{testBlock * 2, false}, // block to room
			{testBlock * 3, true},  // within the room
			{testUnit * 4, true},   // longer room, the next addresses are free
			{testBlock * 2, true},  // shorter allocation in the room
			{testUnit * 9, true},   // longer room, the next addresses are free
			{testBlock / 4, false}, // room to block
			{50, false},            // block to object
			{0, false},             // smallest class
		} {
			had := c
			p, err := h.Realloc(c.p, step.size, 0)
			if err != nil || (p == c.p) != step.stays {
				t.Fatalf("%v, step %d: from %d bytes at %p to %d bytes at %p: %v", pages, i, c.size, c.p,
					step.size, p, err)
			}
			had.p = p
			had.mustHold(t, min(had.size, step.size))
			mustBeZero(t, p, min(had.size, step.size), h.SizeOf(p))
			c.p, c.size = p, step.size
			c.fill()
			h.checked()
			if s := h.Stats(); s.Allocations != 1 || s.InUse != h.SizeOf(p) {
				t.Fatalf("%v, step %d: %v", pages, i, s)
			}
		}
		h.Free(c.p)
	}
}

func TestReallocMovesRoomThatCannotGrow(t *testing.T) {
	for _, pages := range pageKinds {
		h := open(t, Options{Pages: pages, Capacity: 3 * testCapacity})
		c := piece{p: alloc(t, h, 2*testBlock), size: 2 * testBlock, number: 3}
		behind := alloc(t, h, 2*testBlock)
		c.fill()
		for _, size := range []int{5 * testUnit, 11 * testUnit, 30*testUnit + 7} {
			for range 12 {
				alloc(t, h, 2*testBlock) // one of these takes the addresses behind c
			}
			p, err := h.Realloc(c.p, size, 0)
			if err != nil || p == c.p {
				t.Fatalf("%v: Realloc of %p returns %p and %v, want another address", pages, c.p, p, err)
			}
			had := c
			had.p = p
			had.mustHold(t, had.size)
			mustBeZero(t, p, had.size, h.SizeOf(p))
			if text := modeltest.PanicText(func() { h.Free(c.p) }); !strings.Contains(text, "freed already") {
				t.Errorf("%v: freeing the old place panics with %q", pages, text)
			}
			c.p, c.size = p, size
			c.fill()
			h.checked()
		}
		mustBeZero(t, behind, 0, h.SizeOf(behind))
		if s := h.Stats(); s.Committed > s.InUse+s.Own+1<<20 {
			t.Errorf("%v: %v", pages, s)
		}
	}
}

func TestReallocWithoutMemory(t *testing.T) {
	limit := vm.NewLimit(testCapacity)
	h := open(t, Options{Name: "ships", Limit: limit})
	var all []piece
	for i, size := range []int{100, 3 * vm.PageSize(), 2 * testBlock, 4 * testUnit} {
		c := piece{p: alloc(t, h, size), size: size, number: byte(i)}
		c.fill()
		all = append(all, c)
	}
	exhaust(t, h, 16, vm.ErrLimit)
	before := h.Stats()
	for _, c := range all {
		for _, size := range []int{3*c.size + vm.PageSize(), testCapacity, math.MaxInt} {
			if p, err := h.Realloc(c.p, size, 0); err == nil || p != nil {
				t.Errorf("Realloc from %d to %d bytes returns %p and %v, want an error", c.size, size, p, err)
			}
			c.mustHold(t, c.size)
		}
	}
	if after := h.Stats(); after.InUse != before.InUse || after.Allocations != before.Allocations ||
		after.Wasted != before.Wasted {
		t.Errorf("the heap has %v, before %v", after, before)
	}
	for _, c := range all {
		p, err := h.Realloc(c.p, c.size/3, 0)
		if err != nil {
			t.Errorf("Realloc from %d to %d bytes fails: %v", c.size, c.size/3, err)
			continue
		}
		c.p = p
		c.mustHold(t, c.size/3)
	}
	h.checked()
}

func TestReallocOfNothing(t *testing.T) {
	h := open(t, Options{})
	p, err := h.Realloc(nil, 100, 64)
	if err != nil || uintptr(p)%64 != 0 {
		t.Fatal(p, err)
	}
	// The allocation must move, because p does not have the requested alignment.
	bytesOf(p, 1)[0] = 9
	q, err := h.Realloc(p, 100, maxAlign)
	if err != nil || uintptr(q)%maxAlign != 0 || bytesOf(q, 1)[0] != 9 {
		t.Fatal(q, err)
	}
	var none unsafe.Pointer
	h.Free(none)
	h.Free(q)
	if s := h.Stats(); s.Allocations != 0 {
		t.Error(s)
	}
}
