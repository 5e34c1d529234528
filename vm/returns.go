package vm

// decommitLog holds the latest decommits of a region, for reports about later accesses. A region has a log
// only if the environment variable VAST_GUARD is set when the program starts.
type decommitLog struct {
	of [64]struct {
		interval
		at origin
	}
	next int
}

// logDecommit records a range that [Region.Decommit] has given back. The caller holds the lock.
//
//go:noinline
func (m *mapping) logDecommit(iv interval) {
	if m.decommits == nil {
		m.decommits = new(decommitLog)
	}
	e := &m.decommits.of[m.decommits.next%len(m.decommits.of)]
	m.decommits.next++
	e.interval, e.at = iv, origin{}
	e.at.recordAbove(3) // skips three calls: the function literal in Decommit, then inward, then Decommit
}

// find returns the calls that led to the latest decommit of the memory at an offset, or "".
func (l *decommitLog) find(off int) string {
	if l == nil {
		return ""
	}
	for i := range min(l.next, len(l.of)) {
		if e := &l.of[(l.next-1-i)%len(l.of)]; e.lo <= off && off < e.hi {
			return e.at.String()
		}
	}
	return ""
}
