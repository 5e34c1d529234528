package heap

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// exhaust allocates until an allocation fails. The error must be want. It returns the allocations.
func exhaust(t *testing.T, h *Heap, size int, want error) []unsafe.Pointer {
	t.Helper()
	var all []unsafe.Pointer
	for {
		before := h.Stats()
		p, err := h.Alloc(size, 0)
		if err == nil {
			all = append(all, p)
			continue
		}
		var e *vm.Error
		if !errors.Is(err, want) || !errors.As(err, &e) || e.Purpose != "ships" || len(all) == 0 {
			t.Fatalf("after %d allocations of %d bytes: %v, want %v", len(all), size, err, want)
		}
		if after := h.Stats(); after.Allocations != before.Allocations || after.InUse != before.InUse ||
			after.Wasted > before.Wasted {
			t.Fatalf("an allocation that failed changed %v to %v", before, after)
		}
		h.checked()
		return all
	}
}

// After any allocations and frees, the whole limit must be usable again.
func TestLimit(t *testing.T) {
	const budget = 3 << 20
	page := vm.PageSize()
	for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesHeap} {
		limit := vm.NewLimit(budget)
		h := open(t, Options{Name: "ships", Limit: limit, Pages: pages, Capacity: 3 * testCapacity})
		sizes := []int{16, 300, page, 7 * page, 2 * testBlock, 48, 1 << 20, 2500, page}
		if !longtest.Enabled() {
			sizes = sizes[1:] // the smallest size takes most of the time
		}
		for _, size := range sizes {
			all := exhaust(t, h, size, vm.ErrLimit)
			taken := h.Stats().InUse + h.Stats().Wasted + h.Stats().Own
			if taken+max(size, 8*page)+128<<10 < budget {
				t.Errorf("allocations of %d bytes use only %d bytes of a limit of %d bytes: %v", size, taken,
					budget, h.Stats())
			}
			for i := 0; i < len(all); i += 2 {
				h.Free(all[i])
			}
			if size >= page {
				half := exhaust(t, h, 3*page, vm.ErrLimit)
				if len(half)*3*page < len(all)/2*size-10*page {
					t.Errorf("after every second of %d allocations of %d bytes was freed, only %d "+
						"allocations of %d bytes succeed", len(all), size, len(half), 3*page)
				}
				for _, p := range half {
					h.Free(p)
				}
			}
			for i := 1; i < len(all); i += 2 {
				h.Free(all[i])
			}
		}
		if err := h.Trim(); err != nil {
			t.Fatal(err)
		}
		if s := h.Stats(); s.Allocations != 0 || s.Committed != limit.Used() {
			t.Errorf("%v, %d bytes of the limit are used", s, limit.Used())
		}
		if err := h.Close(); err != nil || limit.Used() != 0 {
			t.Errorf("after Close %d bytes of the limit are used: %v", limit.Used(), err)
		}
	}
}

func TestCapacity(t *testing.T) {
	page := vm.PageSize()
	h := open(t, Options{Name: "ships"})
	if n := len(exhaust(t, h, page, vm.ErrCapacity)); n != testCapacity/page {
		t.Errorf("%d pages were allocated, want %d", n, testCapacity/page)
	}
	_, err := h.Alloc(1, 0)
	if want := "no addresses of that length are free: free some, or raise Options.Capacity, which is " +
		vm.Bytes(testCapacity); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	// The addresses of kept pages must be usable for blocks. doc.go explains kept pages, blocks and rooms.
	h = open(t, Options{Name: "ships"})
	for _, p := range exhaust(t, h, page, vm.ErrCapacity) {
		h.Free(p)
	}
	if n := len(exhaust(t, h, testBlock, vm.ErrCapacity)); n != testCapacity/testBlock {
		t.Errorf("after all pages were freed, %d blocks were allocated, want %d", n, testCapacity/testBlock)
	}
	// When the addresses of rooms run out, large allocations use the addresses of blocks.
	h = open(t, Options{Name: "ships"})
	all := exhaust(t, h, 2*testBlock, vm.ErrCapacity)
	if bytes := len(all) * 2 * testBlock; bytes <= 2*testCapacity {
		t.Errorf("%d bytes of large allocations fit, want more than %d", bytes, 2*testCapacity)
	}
	for _, p := range all {
		h.Free(p)
	}
	h.checked()
	if _, err := h.Alloc(3*testCapacity, 0); err != nil {
		t.Error("after everything was freed:", err)
	}
}

func TestGrowIsAPromise(t *testing.T) {
	type ship [9]uint64
	limit := vm.NewLimit(2 << 20)
	h := open(t, Options{Name: "ships", Limit: limit})
	all := make([]*ship, 0, 5000)
	for range 100 {
		all = append(all, Make[ship](h))
	}
	if err := Grow[ship](h, 4000); err != nil {
		t.Fatal(err)
	}
	exhaust(t, h, vm.PageSize(), vm.ErrLimit)
	for _, s := range all {
		Free(h, s)
	}
	// All objects are free now, but Trim keeps the objects that Grow has promised.
	if err := h.Trim(); err != nil {
		t.Fatal(err)
	}
	exhaust(t, h, vm.PageSize(), vm.ErrLimit)
	for i := range 4000 {
		if _, err := Alloc[ship](h); err != nil {
			t.Fatalf("allocation %d of 4000: %v", i, err)
		}
	}
	before := h.Stats()
	if err := Grow[ship](h, 30_000); !errors.Is(err, vm.ErrLimit) {
		t.Errorf("Grow beyond the limit: %v", err)
	}
	if err := Grow[ship](h, 1<<30); !errors.Is(err, vm.ErrCapacity) {
		t.Errorf("Grow beyond the capacity: %v", err)
	}
	if after := h.Stats(); after.Wasted > before.Wasted || after.InUse != before.InUse {
		t.Errorf("a failed Grow changed %v to %v", before, after)
	}
	h.checked()
}
