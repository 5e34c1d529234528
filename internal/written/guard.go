package written

import "unsafe"

// Guard begins to watch bytes for writes. [Watch.Changed] must have been called for the bytes. The first
// write to each of their pages takes a page fault until [Watch.Release], which must come before the next
// scan. If the bytes cannot be watched, Guard returns false and watches nothing.
//
// Complexity: a call of the kernel for each run of committed pages.
func (w *Watch) Guard(p unsafe.Pointer, n int) bool {
	return w.guarded(p, n, func(r *watched, of Range) bool {
		if r.hasAltered(of) {
			return false
		}
		if w.loose(r, of, w.kernel.protect) != nil {
			_ = w.loose(r, of, w.kernel.unprotect) // a page that stays protected costs only one page fault
			return false
		}
		return true
	})
}

// Release ends the watch that [Watch.Guard] began. It reports whether the bytes are certainly the same as at
// the call of Guard.
func (w *Watch) Release(p unsafe.Pointer, n int) (same bool) {
	return w.guarded(p, n, func(r *watched, of Range) bool {
		same := !r.hasAltered(of)
		w.ranges = r.region.Committed(w.ranges[:0])
		inside(w.ranges, of, func(part Range) {
			if same {
				found, err := w.kernel.written(part)
				same = !found && err == nil
			}
		})
		_ = w.loose(r, of, w.kernel.unprotect)
		return same
	})
}

// guarded calls f with the pages that hold the n bytes from p on, and with the watched region of these pages.
// The region is locked during the call. guarded returns false if no watched region has all of the bytes.
func (w *Watch) guarded(p unsafe.Pointer, n int, f func(r *watched, of Range) bool) bool {
	page := uintptr(1) << pageShift
	of := Range{uintptr(p) &^ (page - 1), (uintptr(p) + uintptr(n) + page - 1) &^ (page - 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.find(of.Lo)
	if r == nil || of.Hi > r.all.Hi {
		return false
	}
	r.region.Lock()
	defer r.region.Unlock()
	return !r.isClosed() && f(r, of)
}

// loose calls f for the committed pages that lie in a range of a region and in loose blocks. The region must
// be locked.
func (w *Watch) loose(r *watched, of Range, f func(Range) error) (err error) {
	w.ranges = r.region.Committed(w.ranges[:0])
	r.parts(w.ranges, func(b *block) bool {
		return !b.protected && b.all().Lo < of.Hi && of.Lo < b.all().Hi
	}, func(part Range) {
		if part.Lo < of.Hi && of.Lo < part.Hi && err == nil {
			err = f(part.in(of))
		}
	})
	return err
}

// hasAltered reports whether pages of a range were altered since the last scan.
func (r *watched) hasAltered(of Range) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.altered {
		if a.Lo < of.Hi && of.Lo < a.Hi {
			return true
		}
	}
	return false
}
