package heap

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

func TestFaults(t *testing.T) {
	longtest.OneGoroutine(t)
	page := vm.PageSize()
	calls := faulttest.EachCall(t, func() (err error) {
		h, err := newHeap(Options{Name: "faults", Capacity: testCapacity}, testCapacity, testBlock, testUnit)
		if err != nil {
			return err
		}
		defer func() {
			_ = h.Close() // may be the call that fails
			for range 2 {
				if again := h.Close(); again != nil {
					t.Error("Close fails again:", again)
				}
			}
		}()
		var all []piece
		// retryOnce runs an operation. After a failure, it checks that nothing has changed and retries.
		retryOnce := func(what string, op func() error) {
			t.Helper()
			err = errors.Join(err, faulttest.Again(t, what, op, func() {
				h.checked()
				for _, c := range all {
					c.mustHold(t, c.size)
				}
			}))
			h.checked()
		}
		for i, size := range []int{20, 3 * page, 2 * testBlock, 40 * page, 7 * page, 2 * testBlock, 300,
			3 * testUnit} {
			var p unsafe.Pointer
			retryOnce("Alloc", func() (err error) { p, err = h.Alloc(size, 0); return err })
			c := piece{p: p, size: size, number: byte(i)}
			mustBeZero(t, p, 0, h.SizeOf(p))
			c.fill()
			all = append(all, c)
		}
		for i := range all {
			c := &all[i]
			for _, size := range []int{2*c.size + page, 9 * testUnit, c.size, c.size/3 + 1} {
				var p unsafe.Pointer
				retryOnce("Realloc", func() (err error) { p, err = h.Realloc(c.p, size, 0); return err })
				kept := piece{p: p, size: c.size, number: c.number}
				kept.mustHold(t, min(c.size, size))
				mustBeZero(t, p, min(c.size, size), h.SizeOf(p))
				c.p, c.size = p, size
				c.fill()
			}
		}
		retryOnce("Grow", func() error { return Grow[ship](h, 500) })
		b := NewBuffer[bytes300](h)
		retryOnce("Buffer.Grow", func() error { return b.Grow(1000) })
		retryOnce("AppendN", func() error { _, err := b.AppendN(4000); return err })
		retryOnce("Resident", func() error { _, err := h.Resident(); return err })
		b.Truncate(b.Len() / 10)
		b.Close()
		for _, c := range all {
			c.mustHold(t, c.size)
			h.Free(c.p)
			h.checked()
		}
		all = nil
		retryOnce("Trim", h.Trim)
		if s := h.Stats(); s.Kept != 0 {
			t.Errorf("%d bytes are kept after Trim", s.Kept)
		}
		if s := h.Stats(); s.Allocations != 0 || s.InUse != 0 {
			t.Errorf("%v after everything was freed", s)
		}
		h.checked()
		// Reused memory must be zero, even if the system refused to take back the memory of a freed
		// allocation.
		for range 3 {
			if p, e := h.Alloc(3*testUnit, 0); e == nil {
				mustBeZero(t, p, 0, 3*testUnit)
				copy(bytesOf(p, 5), "dirty")
			}
			if p, e := h.Alloc(30*page, 0); e == nil {
				mustBeZero(t, p, 0, 30*page)
			}
		}
		return err
	})
	if calls < 40 {
		t.Errorf("%d memory calls, want at least 40", calls)
	}
}
