package vm

// LargestReservation returns how many bytes one region could reserve now, up to max, to one part in a thousand. It is
// meant for diagnosis. On Windows it looks for the largest free range. Elsewhere it tries sizes by bisection, some thirty
// system calls, and for the moment of each call the process may have no addresses left for anything else; what it takes
// goes back to the operating system at once, which is sound because nobody has seen the addresses.
func LargestReservation(max int) int {
	max = roundDown(min(max, maxReserve), pageSize)
	be := chosen(PagesAuto)
	switch {
	case max <= 0:
		return max
	case !be.reuses():
		return min(max, maxHeapRegion)
	}
	return largestReservation(be, max)
}
