package vm

import (
	"fmt"
	"unsafe"
)

// Look calls f for each range of committed pages in [off, off+n), with the range's offset in the region and
// its bytes. f must not write the bytes, and must not keep them after it returns. If nothing is committed, or
// the region is closed, f is not called. The range must not contain pages that [Region.Protect] made
// inaccessible.
//
// Look is for diagnosis. The caller must synchronize Look with writes to the memory. f must not call methods
// of the region, because Look holds the lock of the region while f runs.
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
		// unsafe.Slice is sound because the pages are committed, and stay committed while the lock is held.
		f(lo, unsafe.Slice((*byte)(m.at(lo)), hi-lo))
	}
}
