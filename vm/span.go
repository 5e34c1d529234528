package vm

import (
	"errors"
	"fmt"
	"unsafe"
)

// Span is a part of a region whose committed bytes are one growing prefix. A span costs at most two mappings,
// or four after [Region.Huge] for a part of the span. Several goroutines must not use a Span at the same
// time. A Span must not be copied after it has grown, because a copy does not see later growth.
type Span struct {
	region    *Region
	base      unsafe.Pointer
	off, size int
	committed int
}

// minStep is the smallest default step of a span or a seam in bytes, except in recycled regions. With this
// step, system calls are rare compared with page faults.
const minStep = 64 << 10

// Carve hands out the next bytes of the region, rounded up to whole pages, as a Span. The base of the span is
// a multiple of align, which must be a power of two, or 0 for the page size. A span cannot be given back
// before the region is closed.
//
// Carve returns an [*Error] wrapping ErrSize, or ErrCapacity if the region has no room left.
func (r *Region) Carve(bytes, align int) (Span, error) { return r.carve(bytes, align, false) }

// CarvePrivate is Carve for memory to which only the caller has pointers, and which the caller does not touch
// after Close. If the region is recycled (see [Options]), the committed pages of the span stay accessible
// while the region is closed, so that the next region commits them without a system call. CarvePrivate takes
// the last free bytes of the region, while Carve takes the first free bytes.
func (r *Region) CarvePrivate(bytes, align int) (Span, error) { return r.carve(bytes, align, true) }

func (r *Region) carve(bytes, align int, private bool) (Span, error) {
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check("carve", 0, 0)
	if align < 0 || align > maxReserve || align&(align-1) != 0 {
		panic(fmt.Sprintf("vm: carve(%d, %d): the alignment must be a power of two (%s)", bytes, align,
			m.counted.purpose))
	}
	if bytes <= 0 || bytes > maxReserve {
		return Span{}, &Error{Op: "carve", Purpose: m.counted.purpose, Bytes: bytes, Err: ErrSize,
			Detail: fmt.Sprintf("ask for 1 to %d bytes", maxReserve)}
	}
	base, size := address(m.base), roundUp(bytes, pageSize)
	align = max(align, pageSize)
	lo := roundUp(base+m.carved, align) - base
	if private && size <= m.top {
		lo = roundDown(base+m.top-size, align) - base
	}
	if size > m.top || lo < m.carved || lo > m.top-size {
		return Span{}, &Error{Op: "carve", Purpose: m.counted.purpose, Bytes: bytes, Err: ErrCapacity,
			Detail: fmt.Sprintf("%s of %s are carved", Bytes(m.carved+m.size-m.top), Bytes(m.size))}
	}
	m.recycling.carve(m, part{interval{lo, lo + size}, private})
	if private {
		m.top = lo
	} else {
		m.carved = lo + size
	}
	return Span{region: r, base: m.at(lo), off: lo, size: size}, nil
}

// Base returns the span's first address.
func (s *Span) Base() unsafe.Pointer { return s.base }

// Size returns the largest number of bytes that the span can commit.
func (s *Span) Size() int { return s.size }

// Committed returns the length of the usable prefix in bytes.
func (s *Span) Committed() int { return s.committed }

// Region returns the region of the span.
func (s *Span) Region() *Region { return s.region }

// Offset returns the offset of the span in its region, in bytes.
func (s *Span) Offset() int { return s.off }

// CommitTo commits a prefix of at least need bytes. To make system calls rare, it commits at least step bytes
// at a time. With step 0, the step is an eighth of the committed bytes, and at least 64 KiB. In a recycled
// region the first steps are smaller (see [Options]). If the pages that a closed region left there cover the
// needed bytes, CommitTo commits exactly these pages. If the region may have huge pages, CommitTo rounds a
// prefix of at least one huge page up to whole huge pages. If committing ahead fails, CommitTo commits only
// the needed pages.
//
// CommitTo returns an [*Error] wrapping ErrCapacity, or an error of [Region.Commit]. After an error nothing
// has changed.
func (s *Span) CommitTo(need, step int) error {
	if need <= s.committed {
		return nil
	}
	if need > s.size {
		return &Error{Op: "grow", Purpose: s.region.m.counted.purpose, Bytes: need, Err: ErrCapacity,
			Detail: fmt.Sprintf("made for %s", Bytes(s.size))}
	}
	if step <= 0 {
		step = s.region.m.step(s.committed)
	}
	ahead := roundUp(max(need, s.committed+min(step, s.size-s.committed)), pageSize)
	if kept := s.region.m.keptTo(s.off+s.committed) - s.off; kept >= need {
		ahead = kept
	}
	if huge := HugePageSize(); huge > 0 && ahead >= huge && s.region.m.pages != PagesSmall {
		ahead = roundUp(ahead, huge)
	}
	ahead = min(ahead, s.size)
	err := s.region.Commit(s.off+s.committed, ahead-s.committed)
	if exact := roundUp(need, pageSize); err != nil && exact < ahead {
		ahead = exact
		err = s.region.Commit(s.off+s.committed, ahead-s.committed)
	}
	if err != nil {
		return err
	}
	s.committed = ahead
	return nil
}

// DecommitTo keeps the first n bytes, rounded up to whole pages, and decommits the bytes after them.
func (s *Span) DecommitTo(n int) error {
	keep := roundUp(max(n, 0), pageSize)
	if keep >= s.committed {
		return nil
	}
	if err := s.region.Decommit(s.off+keep, s.committed-keep); err != nil {
		return err
	}
	s.committed = keep
	return nil
}

// Discard gives back the memory of [off, off+n), counted from the span's base, as [Region.Discard] does. If
// an error leaves pages Reserved, Discard tries to commit them again, so that the prefix has no gap.
func (s *Span) Discard(off, n int) error {
	err := s.region.Discard(s.off+off, n)
	if err == nil {
		return nil
	}
	return errors.Join(err, s.region.Commit(s.off+off, n))
}

// Resident returns the number of bytes of the span in memory. Complexity: as [Region.Resident].
func (s *Span) Resident() (int, error) {
	return s.region.m.residentIn(interval{s.off, s.off + s.committed})
}
