package written

import "unsafe"

// Guard begins to watch n bytes at p for writes. If it cannot watch the bytes, it returns false. Call
// [Watch.Changed] for the bytes before Guard, and call [Watch.Release] before the next scan. The first write
// to each guarded page takes a page fault.
//
// Complexity: one call of the kernel for each run of committed pages.
func (w *Watch) Guard(p unsafe.Pointer, n int) bool {
	return w.guarded(p, n, func(r *watched, bounds Range) bool {
		if r.hasAltered(bounds) {
			return false
		}
		if w.eachLoose(r, bounds, w.kernel.protect) != nil {
			_ = w.eachLoose(r, bounds, w.kernel.unprotect) // a page that stays protected costs one page fault
			return false
		}
		return true
	})
}

// Release ends the watch that [Watch.Guard] began for the n bytes at p. If it returns true, the bytes have
// not changed since the call of Guard. If it returns false, they may have changed.
func (w *Watch) Release(p unsafe.Pointer, n int) (same bool) {
	return w.guarded(p, n, func(r *watched, bounds Range) bool {
		same := !r.hasAltered(bounds)
		w.ranges = r.region.Committed(w.ranges[:0])
		inside(w.ranges, bounds, func(part Range) {
			if same {
				found, err := w.kernel.written(part)
				same = !found && err == nil
			}
		})
		_ = w.eachLoose(r, bounds, w.kernel.unprotect)
		return same
	})
}

// guarded calls f with the region that contains n bytes at p, and with the range of the pages that hold these
// bytes. It locks the region during the call. It returns the result of f, or false if no watched region
// contains all of the bytes or if the region is closed.
func (w *Watch) guarded(p unsafe.Pointer, n int, f func(r *watched, bounds Range) bool) bool {
	page := uintptr(1) << pageShift
	bounds := Range{uintptr(p) &^ (page - 1), (uintptr(p) + uintptr(n) + page - 1) &^ (page - 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.find(bounds.Lo)
	if r == nil || bounds.Hi > r.all.Hi {
		return false
	}
	r.region.Lock()
	defer r.region.Unlock()
	return !r.isClosed() && f(r, bounds)
}

// eachLoose calls f for each run of committed pages that lie in a range and in loose blocks (blocks that are
// not protected). It stops at the first error of f and returns this error. The caller holds the lock of the
// region.
func (w *Watch) eachLoose(r *watched, bounds Range, f func(Range) error) (err error) {
	w.ranges = r.region.Committed(w.ranges[:0])
	r.parts(w.ranges, func(b *block) bool {
		return !b.protected && b.all().Lo < bounds.Hi && bounds.Lo < b.all().Hi
	}, func(part Range) {
		if part.Lo < bounds.Hi && bounds.Lo < part.Hi && err == nil {
			err = f(part.intersect(bounds))
		}
	})
	return err
}

// hasAltered reports whether pages of a range were altered (see Watcher.Altered) since the last scan.
func (r *watched) hasAltered(bounds Range) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.altered {
		if a.Lo < bounds.Hi && bounds.Lo < a.Hi {
			return true
		}
	}
	return false
}
