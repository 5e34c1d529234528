package written

import "unsafe"

// Guard begins to watch bytes about which [Watch.Changed] was asked since the last scan. The first write to
// each of their pages takes a page fault until [Watch.Release], which must come before the next scan. Guard
// returns false, and watches nothing more, if that is not possible.
//
// Complexity: a call of the kernel for each run of committed pages.
func (w *Watch) Guard(p unsafe.Pointer, n int) bool {
	of := Range{uintptr(p), uintptr(p) + uintptr(n)}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.guarded(of)
	if r == nil {
		return false
	}
	r.region.Lock()
	defer r.region.Unlock()
	if r.isClosed() || r.hasAltered(of) {
		return false
	}
	if w.loose(r, of, w.kernel.protect) != nil {
		_ = w.loose(r, of, w.kernel.unprotect) // a page that stays protected costs a fault and no more
		return false
	}
	return true
}

// Release ends what Guard began, and reports whether the bytes are certainly as they were then.
func (w *Watch) Release(p unsafe.Pointer, n int) (same bool) {
	of := Range{uintptr(p), uintptr(p) + uintptr(n)}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.guarded(of)
	if r == nil {
		return false
	}
	r.region.Lock()
	defer r.region.Unlock()
	if r.isClosed() {
		return false
	}
	same = !r.hasAltered(of)
	w.ranges = r.region.Committed(w.ranges[:0])
	inside(w.ranges, wholePages(of), func(part Range) {
		if same {
			found, err := w.kernel.written(part)
			same = !found && err == nil
		}
	})
	_ = w.loose(r, of, w.kernel.unprotect)
	return same
}

// guarded returns the watched region of a range, or nil.
func (w *Watch) guarded(of Range) *watched {
	if r := w.find(of.Lo); r != nil && of.Hi <= r.all.Hi {
		return r
	}
	return nil
}

// loose calls f for the committed pages of the loose blocks that overlap a range of a region, which is
// locked.
func (w *Watch) loose(r *watched, of Range, f func(Range) error) (err error) {
	of = wholePages(of)
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

// wholePages returns a range with the whole of its first and last page.
func wholePages(of Range) Range {
	page := uintptr(1) << pageShift
	return Range{of.Lo &^ (page - 1), (of.Hi + page - 1) &^ (page - 1)}
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
