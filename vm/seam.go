package vm

import (
	"fmt"
	"unsafe"
)

// Seam is a part of a region with two arrays that grow away from each other. Both begin at one address, the
// seam: one array grows downwards, the other upwards. The committed bytes of both arrays are one growing
// range. So the two arrays cost as many mappings as one [Span], grow with as many commits, and small arrays
// share a page. A Seam suits arrays that are read at the same index. A Seam must not be copied after it has
// grown.
type Seam struct {
	region   *Region
	base     unsafe.Pointer // address of the seam
	at       int            // offset of the seam in the region
	lead     int            // offset of the seam in its page
	lo, hi   int            // committed range, as offsets in the region; lo == hi if no byte is committed
	maxBelow int            // largest size of the array below, in bytes
	maxAbove int            // largest size of the array above, in bytes
	// For each unitAbove bytes of the array above, the array below has unitBelow bytes.
	unitBelow, unitAbove int
}

// Seam turns a span without committed bytes into a seam at the given offset from the span's base, in bytes.
// For each unitAbove bytes of the array above, the array below has unitBelow bytes. The span must not be used
// afterwards.
func (s *Span) Seam(offset, unitBelow, unitAbove int) Seam {
	if offset < 0 || offset >= s.size || s.committed != 0 || unitBelow <= 0 || unitAbove <= 0 {
		panic(fmt.Sprintf("vm: seam(%d, %d, %d): the seam must lie in the %d bytes of a span that has not "+
			"grown, and both units must be positive (%s)", offset, unitBelow, unitAbove, s.size,
			s.region.m.counted.purpose))
	}
	off := s.off + offset
	return Seam{region: s.region, base: unsafe.Add(s.base, offset), at: off, lead: off % pageSize, lo: off,
		hi: off, maxBelow: offset, maxAbove: s.size - offset, unitBelow: unitBelow, unitAbove: unitAbove}
}

// Base returns the address of the seam: the array above begins there, and the array below ends there.
func (s *Seam) Base() unsafe.Pointer { return s.base }

// Offset returns the offset of the seam in its region, in bytes.
func (s *Seam) Offset() int { return s.at }

// Size returns the largest sizes in bytes of the arrays below and above the seam.
func (s *Seam) Size() (below, above int) { return s.maxBelow, s.maxAbove }

// Region returns the region of the seam.
func (s *Seam) Region() *Region { return s.region }

// Below returns the number of committed bytes below the seam.
func (s *Seam) Below() int { return max(0, s.at-s.lo) }

// Above returns the number of committed bytes above the seam.
func (s *Seam) Above() int { return max(0, s.hi-s.at) }

// Committed returns the number of committed bytes on both sides.
func (s *Seam) Committed() int { return s.hi - s.lo }

// CommitTo commits at least need bytes above the seam, and the corresponding bytes below the seam. It commits
// ahead as [Span.CommitTo] does, but counts the committed bytes from the start of the seam's page, so that
// seams at different offsets in a page grow by equal steps. If committing ahead fails, CommitTo commits only
// the needed bytes.
//
// CommitTo returns an [*Error] wrapping ErrCapacity, or an error of [Region.Commit]. After an error nothing
// has changed.
func (s *Seam) CommitTo(need int) error {
	if need <= s.Above() {
		return nil
	}
	if need > s.maxAbove {
		return &Error{Op: "grow", Purpose: s.region.m.counted.purpose, Bytes: need, Err: ErrCapacity,
			Detail: fmt.Sprintf("made for %s", Bytes(s.maxAbove))}
	}
	page := s.at - s.lead
	exact := max(s.hi, roundUp(s.at+need, pageSize))
	top := s.hi - page
	if s.hi == s.lo {
		top = 0
	}
	most := s.lead + s.maxAbove
	size := roundUp(max(exact-page, top+min(s.region.m.step(top), most-top)), pageSize) // from the page on
	if kept := s.region.m.keptTo(page + top); kept >= exact {
		size = kept - page
	}
	if huge := HugePageSize(); huge > 0 && size >= huge && s.region.m.pages != PagesSmall {
		size = roundUp(size, huge)
	}
	ahead := page + min(size, most)
	err := s.commit(ahead)
	if err != nil && exact < ahead {
		err = s.commit(exact)
	}
	return err
}

// share returns the number of bytes below the seam that correspond to the bytes above it up to offset hi of
// the region. The bytes between the start of the seam's page and the seam count as bytes above, so that seams
// at different offsets in a page grow by equal steps.
func (s *Seam) share(hi int) int {
	return min((hi-s.at+s.lead+s.unitAbove-1)/s.unitAbove*s.unitBelow, s.maxBelow)
}

// commit commits the bytes above the seam up to offset hi of the region, and the corresponding bytes below
// the seam.
func (s *Seam) commit(hi int) error {
	lo := min(s.lo, roundDown(s.at-s.share(hi), pageSize))
	if err := s.region.Commit(lo, hi-lo); err != nil {
		return err
	}
	s.lo, s.hi = lo, hi
	return nil
}

// DecommitTo keeps the given numbers of bytes below and above the seam, and decommits the other pages. It
// also keeps the bytes below the seam that correspond to kept bytes above the seam. It keeps a page whole if
// it keeps a byte of the page.
func (s *Seam) DecommitTo(below, above int) error {
	lo, hi := s.at-below, s.at+above
	if above > 0 {
		hi = roundUp(hi, pageSize)
		lo = min(lo, s.at-s.share(hi))
	} else if below > 0 {
		hi = roundUp(hi, pageSize) // keeps the seam's page
	} else {
		lo, hi = s.lo, s.lo
	}
	if hi < s.hi {
		if err := s.region.Decommit(hi, s.hi-hi); err != nil {
			return err
		}
		s.hi = hi
	}
	if s.hi == s.lo {
		s.lo, s.hi = s.at, s.at
		return nil
	}
	if lo = roundDown(lo, pageSize); s.lo < lo {
		if err := s.region.Decommit(s.lo, lo-s.lo); err != nil {
			return err
		}
		s.lo = lo
	}
	return nil
}

// Discard gives back the memory of n bytes, beginning off bytes above the seam, as [Span.Discard] does.
func (s *Seam) Discard(off, n int) error {
	above := Span{region: s.region, off: s.at}
	return above.Discard(off, n)
}

// Resident returns the number of bytes of both sides in memory. Complexity: as [Region.Resident].
func (s *Seam) Resident() (int, error) { return s.region.m.residentIn(interval{s.lo, s.hi}) }
