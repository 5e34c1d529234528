package vm

// LargestReservation returns the number of bytes that one region could reserve now, at most max. The result
// can be too small by about a thousandth. LargestReservation is for diagnosis. On the heap stand-in the
// result is at most the limit of a region. On Windows LargestReservation searches for the largest free range.
// On other systems it tries sizes by bisection, in about thirty system calls. While it tries a size, the
// process may have no other addresses left.
func LargestReservation(max int) int {
	max = roundDown(min(max, maxReserve), pageSize)
	backend := chosen(PagesAuto)
	switch {
	case max <= 0:
		return max
	case !backend.reuses():
		return min(max, maxHeapRegion)
	}
	if walker, ok := backend.(interface{ largestReservation(limit int) int }); ok {
		return walker.largestReservation(max)
	}
	return bisect(backend, max)
}

// bisect returns about the largest size up to limit that can be reserved. limit must be a positive multiple
// of the page size.
func bisect(backend backend, limit int) int {
	fits := func(n int) bool {
		p, err := backend.reserve(n, pageSize)
		if err != nil {
			return false
		}
		return backend.release(p, n) == nil // sound, because no code has seen these addresses
	}
	if fits(limit) {
		return limit
	}
	lo, hi := 0, limit // lo fits, hi does not
	for hi-lo > pageSize+hi/1024 {
		if mid := roundDown(lo+(hi-lo)/2, pageSize); fits(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
