package written_test

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// TestGuard: Release reports each write to guarded memory. It reports no reads, not even reads of pages that
// were never written.
func TestGuard(t *testing.T) {
	for _, pages := range []vm.Pages{vm.PagesSmall, vm.PagesHuge} {
		for _, protected := range []bool{false, true} {
			w := begin(t)
			r := reserve(t, 8*block, vm.Options{Pages: pages})
			must(t, r.Commit(0, 6*block))
			b := view(r)
			for i := 0; i < 3*block; i += page { // the test writes to the later blocks after Guard
				b[i] = 1
			}
			n := 4*block + 100
			guard := func() {
				t.Helper()
				w.Scan()
				if !w.Guard(unsafe.Pointer(&b[0]), n) {
					t.Fatal("the memory cannot be guarded")
				}
			}
			release := func() bool { return w.Release(unsafe.Pointer(&b[0]), n) }
			w.Changed(unsafe.Pointer(&b[0]), n, nil)
			if protected {
				w.Try(8)
				w.Scan()
				w.Keep()
			}
			guard()
			sum := 0
			for i := 0; i < n; i += page {
				sum += int(b[i])
			}
			if !release() {
				t.Errorf("pages %v, protected %t: memory that was only read counts as written (sum %d)",
					pages, protected, sum)
			}
			for _, at := range []int{0, block + 5, 2*block - 1, 3*block + 1, n - 1} {
				guard()
				b[at]++
				if release() {
					t.Errorf("pages %v, protected %t: a write of byte %d is not found", pages, protected, at)
				}
			}
			b[7]++ // memory is not guarded now
			guard()
			if !release() {
				t.Errorf("pages %v, protected %t: a write before guard counts as a write after guard", pages,
					protected)
			}
		}
	}
}

// TestGuardOfOtherMemory: memory that is discarded or closed while it is guarded counts as changed. Memory
// outside regions cannot be guarded.
func TestGuardOfOtherMemory(t *testing.T) {
	w := begin(t)
	r := reserve(t, 2*block, vm.Options{})
	must(t, r.Commit(0, block))
	p := r.Base()
	view(r)[3] = 1
	w.Changed(p, block, nil)
	w.Scan()
	if !w.Guard(p, block) {
		t.Fatal("the memory cannot be guarded")
	}
	must(t, r.Discard(0, block))
	if w.Release(p, block) {
		t.Error("discarded memory counts as unchanged")
	}
	w.Scan()
	if !w.Guard(p, block) {
		t.Fatal("the memory cannot be guarded again")
	}
	must(t, r.Close())
	if w.Release(p, block) {
		t.Error("closed memory counts as unchanged")
	}
	if heap := make([]byte, 100); w.Guard(unsafe.Pointer(&heap[0]), 100) {
		t.Error("Go heap memory is guarded")
	}
}

// TestGuardBesideWriters: while goroutines write to every other guarded array, Release finds which arrays
// changed.
func TestGuardBesideWriters(t *testing.T) {
	w := begin(t)
	const arrays = 8
	var all [arrays]*vm.Region
	for i := range all {
		all[i] = reserve(t, block, vm.Options{})
		must(t, all[i].Commit(0, block))
		clear(view(all[i]))
		w.Changed(all[i].Base(), block, nil)
	}
	for range 20 {
		w.Scan()
		for _, r := range all {
			if !w.Guard(r.Base(), block) {
				t.Fatal("the memory cannot be guarded")
			}
		}
		var group sync.WaitGroup
		var same [arrays]bool
		for i, r := range all {
			group.Go(func() {
				if i%2 == 1 {
					view(r)[i*4096]++
				}
				same[i] = w.Release(r.Base(), block)
			})
		}
		group.Wait()
		for i := range all {
			if same[i] != (i%2 == 0) {
				t.Errorf("array %d counts as unchanged: %t, want %t", i, same[i], i%2 == 0)
			}
		}
	}
}
