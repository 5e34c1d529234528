package vm

// LargestReservation returns how many bytes one region could reserve now, up to max, to one part in a thousand. It is
// meant for diagnosis: it tries sizes by bisection, some thirty system calls, and for the moment of each call the
// process may have no addresses left for anything else. What it takes goes back to the operating system at once, which
// is sound because nobody has seen the addresses.
func LargestReservation(max int) int {
	max = roundDown(min(max, maxReserve), pageSize)
	be := chosen(PagesAuto)
	if !be.reuses() {
		return min(max, maxHeapRegion)
	}
	fits := func(n int) bool {
		p, err := be.reserve(n, pageSize)
		if err != nil {
			return false
		}
		return be.release(p, n) == nil
	}
	if max <= 0 || fits(max) {
		return max
	}
	lo, hi := 0, max // lo fits, hi does not
	for hi-lo > pageSize+hi/1024 {
		if mid := roundDown(lo+(hi-lo)/2, pageSize); fits(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
