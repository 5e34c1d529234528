package vm

// returns remembers the latest decommits of a region while the environment variable VAST_GUARD is set, for
// reports about later accesses.
type returns struct {
	of [64]struct {
		interval
		at origin
	}
	next int
}

// returned remembers a range that [Region.Decommit] has given back. The caller holds the lock.
//
//go:noinline
func (m *mapping) returned(iv interval) {
	if m.returns == nil {
		m.returns = new(returns)
	}
	e := &m.returns.of[m.returns.next%len(m.returns.of)]
	m.returns.next++
	e.interval, e.at = iv, origin{}
	e.at.recordAbove(3) // skips the function literal in Decommit, inward and Decommit
}

// find returns the calls that led to the latest decommit of the memory at an offset, or "".
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
