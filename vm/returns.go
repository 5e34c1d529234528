package vm

// returns remembers where memory of a region was given back last, while the environment variable VAST_GUARD is set: the other
// half of what there is to know about a use of it afterwards.
type returns struct {
	of [64]struct {
		interval
		at origin
	}
	next int
}

// returned remembers a range that [Region.Decommit] has given back. It is called with the lock held.
//
//go:noinline
func (m *mapping) returned(iv interval) {
	if m.returns == nil {
		m.returns = new(returns)
	}
	e := &m.returns.of[m.returns.next%len(m.returns.of)]
	m.returns.next++
	e.interval, e.at = iv, origin{}
	e.at.recordAbove(3) // the function for the range, inward, Decommit
}

// find returns where the memory at an offset was given back, or "".
func (r *returns) find(off int) string {
	if r == nil {
		return ""
	}
	for i := range min(r.next, len(r.of)) {
		if e := &r.of[(r.next-1-i)%len(r.of)]; e.lo <= off && off < e.hi {
			return e.at.String()
		}
	}
	return ""
}
