package vm

// LargestReservation returns the number of bytes that one region could reserve now, at most max. The result
// can be too small by about a thousandth. LargestReservation is for diagnosis. On Windows it searches for the
// largest free range. On other systems it tries sizes by bisection, in about thirty system calls. While it
// tries a size, the process may have no other addresses left.
func LargestReservation(max int) int {
	max = roundDown(min(max, maxReserve), pageSize)
	be := chosen(PagesAuto)
	switch {
	case max <= 0:
		return max
	case !be.reuses():
		return min(max, maxHeapRegion)
	}
	if walker, ok := be.(interface{ largestReservation(limit int) int }); ok {
		return walker.largestReservation(max)
	}
	return bisect(be, max)
}

// bisect returns about the largest size up to limit that can be reserved. limit must be a positive multiple
// of the page size.
func bisect(be backend, limit int) int {
	fits := func(n int) bool {
		p, err := be.reserve(n, pageSize)
		if err != nil {
			return false
		}
		return be.release(p, n) == nil // sound, because no code has seen these addresses
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
