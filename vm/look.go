package vm

import (
	"fmt"
	"unsafe"
)

// Look calls f for each run of committed pages in [off, off+n). The arguments of f are the run's offset in
// the region and the run's bytes. f must not write to the bytes or keep the slice. f must not call methods of
// the region, because Look holds the region's lock while f runs.
//
// Look is for diagnosis. The caller must synchronize Look with writes to the memory. [off, off+n) must not
// contain pages that [Region.Protect] made inaccessible. A closed region has no committed pages.
func (r *Region) Look(off, n int, f func(off int, b []byte)) {
	m := r.m
	if off < 0 || n < 0 || off > m.size || n > m.size-off {
		panic(fmt.Sprintf("vm: look(%d, %d) reaches outside a region of %d bytes (%s)", off, n, m.size,
			m.counted.purpose))
	}
	if n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := m.committed.first(off); i < len(m.committed.of) && m.committed.of[i].lo < off+n; i++ {
		iv := m.committed.of[i]
		lo, hi := max(off, iv.lo), min(off+n, iv.hi)
		// unsafe.Slice is sound because the pages stay committed while the lock is held.
		f(lo, unsafe.Slice((*byte)(m.at(lo)), hi-lo))
	}
}
