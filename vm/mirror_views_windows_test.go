package vm

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

// TestMirrorOfViews makes mirrors without placeholders while other goroutines take free addresses. Both
// halves of a mirror are the same memory, and a closed mirror keeps its addresses.
func TestMirrorOfViews(t *testing.T) {
	onlyOS(t)
	// No other test may use this size, because mapViews reuses closed mirrors of the same size.
	const n, mirrors = 3 * mirrorUnit, 40
	var stop atomic.Bool
	var others sync.WaitGroup
	for range 2 {
		others.Go(func() {
			for !stop.Load() {
				if p, err := windows.VirtualAlloc(0, n, windows.MEM_RESERVE,
					windows.PAGE_NOACCESS); err == nil {
					_ = windows.VirtualFree(p, 0, windows.MEM_RELEASE)
				}
			}
		})
	}
	var made []unsafe.Pointer
	for i := range mirrors {
		p, err := mapViews(n)
		must(t, err)
		b := unsafe.Slice((*byte)(p), 2*n)
		if slices.Max(b) != 0 {
			t.Fatalf("mirror %d is not zero", i)
		}
		for at := 0; at < 2*n; at += n / 4 {
			b[at] = byte(i + at/n)
			if got := b[(at+n)%(2*n)]; got != byte(i+at/n) {
				t.Fatalf("mirror %d: byte %d became %d in the other half", i, at, got)
			}
		}
		made = append(made, p)
	}
	stop.Store(true)
	others.Wait()
	slices.SortFunc(made, func(a, b unsafe.Pointer) int { return address(a) - address(b) })
	for i, p := range made {
		if i > 0 && address(made[i-1])+2*n > address(p) {
			t.Fatalf("mirrors at %p and %p overlap", made[i-1], p)
		}
		must(t, retireViews(p, n))
		for _, at := range []int{0, n - 1, n, 2*n - 1} {
			if !faults(func() { sink = *(*byte)(unsafe.Add(p, at)) }) {
				t.Fatalf("byte %d of the closed mirror at %p can be read", at, p)
			}
		}
	}
	for range mirrors {
		p, err := mapViews(n)
		must(t, err)
		if !slices.Contains(made, p) {
			t.Errorf("a mirror is at %p, but no mirror was closed there", p)
		}
		if slices.Max(unsafe.Slice((*byte)(p), 2*n)) != 0 {
			t.Error("a mirror holds bytes of a closed mirror")
		}
	}
	for _, p := range made {
		must(t, retireViews(p, n))
	}
}
