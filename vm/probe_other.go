//go:build !windows

package vm

// largestReservation tries sizes up to most, a positive multiple of the page size.
func largestReservation(be backend, most int) int {
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
