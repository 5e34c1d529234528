package vm

// Populate takes memory now for the committed pages in [off, off+n), rounded inward to whole pages. The pages
// must be ReadWrite. On Linux, Populate returns an error if the system has no memory left. Touching a page
// would end the process in this case. But if a control group reaches its limit, the kernel ends the process
// even in Populate: set a [Limit].
//
// After an error some pages may have memory. On FreeBSD, on Linux before 5.14, and if a sandbox refuses or
// ignores the call, the error wraps errors.ErrUnsupported.
func (r *Region) Populate(off, n int) error {
	return r.inward("populate", off, n, func(m *mapping, iv interval) error {
		return m.be.populate(m.at(iv.lo), iv.hi-iv.lo)
	})
}

// Huge declares that [off, off+n) is or will be dense: it requests huge pages for the range, rounded inward
// to whole huge pages. The pages may have any state. The first touch of a page after the call takes a huge
// page. The system joins small pages in memory later, or [Region.Collapse] joins them now. The request stays
// in force after a decommit.
//
// Huge is a hint: it does nothing if the policy is not PagesAuto or the system has no huge pages. It returns
// an [*Error] wrapping ErrMappings if the range cannot become a separate mapping.
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
			if err := m.checkMappings("advise", iv.hi-iv.lo); err != nil {
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

// Collapse joins committed pages in [off, off+n) into huge pages now. It copies the pages that are in memory,
// and fills the other pages with zeros. Collapse is a hint: it does nothing for PagesSmall, or if the system
// cannot join the pages.
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
