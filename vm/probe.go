package vm

// LargestReservation returns the number of bytes that one region could reserve now, at most max. The result
// is at most about one part in a thousand too small. It is meant for diagnosis. On Windows it looks for the
// largest free range. Elsewhere it tries sizes by bisection, in some thirty system calls. While it tries a
// size, the process may have no addresses left for anything else. The tried addresses go back to the
// operating system at once, which is sound because no code has seen them.
func LargestReservation(max int) int {
	max = roundDown(min(max, maxReserve), pageSize)
	be := chosen(PagesAuto)
	switch {
	case max <= 0:
		return max
	case !be.reuses():
		return min(max, maxHeapRegion)
	}
	if walker, ok := be.(interface{ largestReservation(most int) int }); ok {
		return walker.largestReservation(max)
	}
	return bisect(be, max)
}

// bisect finds the largest size up to most, a positive multiple of the page size, by trying.
func bisect(be backend, most int) int {
	fits := func(n int) bool {
		p, err := be.reserve(n, pageSize)
		if err != nil {
			return false
		}
		return be.release(p, n) == nil
	}
	if fits(most) {
		return most
	}
	lo, hi := 0, most // lo fits, hi does not
	for hi-lo > pageSize+hi/1024 {
		if mid := roundDown(lo+(hi-lo)/2, pageSize); fits(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
