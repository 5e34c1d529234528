package vm

// Populate takes memory for the committed pages in [off, off+n) now, rounded inward; the pages must be
// ReadWrite. If the system has no memory left, Populate returns an error, while touching a page would end the
// process. A control group's limit still ends the process: set a [Limit]. After an error some pages may be
// populated. On FreeBSD, on Linux before 5.14, and if a sandbox refuses or ignores the call, the error wraps
// errors.ErrUnsupported.
func (r *Region) Populate(off, n int) error {
	return r.inward("populate", off, n, func(m *mapping, iv interval) error {
		return m.be.populate(m.at(iv.lo), iv.hi-iv.lo)
	})
}

// Huge declares that [off, off+n) is or will be dense: it requests huge pages for the whole huge pages inside
// the range, in any state. Pages touched after the call are huge. Small pages that are in memory already are
// joined later by the system, or now by [Region.Collapse]. The request stays in force after a decommit.
//
// Huge is a hint: if the policy is not PagesAuto, or the system has no huge pages, it does nothing. It
// returns an [*Error] wrapping ErrMappings if the range could not become a mapping of its own.
func (r *Region) Huge(off, n int) error {
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check("huge", off, n)
	if m.pages != PagesAuto {
		return nil
	}
	whole := m.wholeHugePages(interval{off, off + n})
	for _, iv := range m.dense.gaps(whole.lo, whole.hi, nil) {
		if !m.dense.meets(iv.lo, iv.hi) {
			if err := m.spare("advise", iv.hi-iv.lo); err != nil {
				return err
			}
		}
		if err := m.be.advise(m.at(iv.lo), iv.hi-iv.lo, true); err != nil {
			return m.failed("advise", iv.hi-iv.lo, err)
		}
		m.dense.add(iv.lo, iv.hi)
		m.recount()
	}
	return nil
}

// Collapse joins the committed pages of the whole huge pages in [off, off+n) into huge pages now. It copies
// the pages in memory and fills the other pages with zeros. It is a hint like [Region.Huge].
func (r *Region) Collapse(off, n int) error {
	return r.inward("collapse", off, n, func(m *mapping, iv interval) error {
		whole := m.wholeHugePages(iv)
		if whole.lo == whole.hi || m.pages == PagesSmall {
			return nil
		}
		return m.be.collapse(m.at(whole.lo), whole.hi-whole.lo)
	})
}

// wholeHugePages returns the part of a range that consists of whole huge pages; it may be empty.
func (m *mapping) wholeHugePages(iv interval) interval {
	huge, base := HugePageSize(), address(m.base)
	if huge == 0 {
		return interval{}
	}
	lo := roundUp(base+iv.lo, huge) - base
	hi := roundDown(base+iv.hi, huge) - base
	return interval{lo, max(lo, hi)}
}
