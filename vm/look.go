package vm

import (
	"fmt"
	"unsafe"
)

// Look calls f with what lies in the committed pages of [off, off+n): for each range of them in that its offset in the
// region and its bytes, which are for reading only and not to be kept. Where nothing is committed, or the region is closed,
// f is not called. Pages that [Region.Protect] took away must not be among them.
//
// It is for diagnosis: what others write meanwhile is the caller's to order, and f must not call methods of the region,
// because nothing is committed or decommitted until f is done.
func (r *Region) Look(off, n int, f func(off int, b []byte)) {
	m := r.m
	if off < 0 || n < 0 || off > m.size || n > m.size-off {
		panic(fmt.Sprintf("vm: look(%d, %d) reaches outside a region of %d bytes (%s)", off, n, m.size, m.counted.purpose))
	}
	if n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := m.committed.first(off); i < len(m.committed.of) && m.committed.of[i].lo < off+n; i++ {
		iv := m.committed.of[i]
		lo, hi := max(off, iv.lo), min(off+n, iv.hi)
		// Sound because the pages are committed, and stay so while the lock is held.
		f(lo, unsafe.Slice((*byte)(m.at(lo)), hi-lo))
	}
}
