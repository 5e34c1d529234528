package vm

import (
	"errors"
	"fmt"
	"unsafe"
)

// errSeveral marks the error of a move whose pages belong to several mappings of the system.
var errSeveral = errors.New("the pages belong to several mappings")

// moveStep is the number of bytes in one step of a copy: the size of a huge page on most systems. The bytes
// of one step are in memory twice for a moment.
const moveStep = 2 << 20

// If a range of at most minMove bytes belongs to several mappings, it is copied: finding the border between
// the mappings takes longer.
const minMove = 64 << 10

// MovePages moves the contents of n bytes at offset off of r to offset targetOff of the region target, which
// may be r. The pages of r go Committed → Reserved, and the pages of target go Reserved → Committed. Pointers
// into the range of r must not be used afterwards. During the call, no goroutine may read or write either
// range.
//
// off, targetOff and n must be multiples of the page size. All pages of the range in r must be Committed, and
// all pages of the range in target must be Reserved, so the ranges cannot overlap. Otherwise MovePages
// panics. The pages of r must also be ReadWrite, which MovePages does not check.
//
// On Linux 5.7 and later, mremap moves the pages without copying their contents. This takes no memory, and
// untouched pages stay untouched. The old addresses stay reserved all the time. If both ranges begin at the
// same offset in a huge page, huge pages and whole tables of 512 pages move in one step. Otherwise the kernel
// copies the entries of the page table, which takes a few nanoseconds a page.
//
// MovePages copies the contents on other systems, on the heap stand-in, between the stand-in and other
// memory, if the pages come from a file, and if Linux refuses the move. Except on the stand-in, it copies in
// steps of 2 MiB, and gives the old memory of each step back.
//
// Ranges of r that [Region.Huge] declared dense are also dense in target if the policy of target is
// PagesAuto.
//
// MovePages returns an [*Error] as [Region.Commit] does. After an error nothing has changed. A [Limit] that r
// and target share is not charged twice. Complexity: if mremap moves the pages, about six system calls, and
// a few more for each border between mappings in the range.
func (r *Region) MovePages(target *Region, targetOff, off, n int) error {
	from, dest := r.m, target.m
	defer lockBoth(from, dest)()
	from.check("move from", off, n)
	dest.check("move to", targetOff, n)
	if (off|targetOff|n)&(pageSize-1) != 0 || !from.committed.contains(off, off+n) ||
		len(dest.committed.covered(targetOff, targetOff+n)) > 0 {
		panic(fmt.Sprintf("vm: move(to %d, from %d, %d): whole committed pages move to whole reserved "+
			"pages of %d bytes (%s)",
			targetOff, off, n, pageSize, from.counted.purpose))
	}
	if n == 0 {
		return nil
	}
	dest.dropKept(interval{targetOff, targetOff + n})
	if dest.recycling.pages.overlaps(targetOff, targetOff+n) {
		return &Error{Op: "move", Purpose: dest.counted.purpose, Bytes: n, Err: ErrMappings,
			Detail: "pages of a closed region cannot be given back"}
	}
	// The move makes one temporary mapping, and up to two new mappings at the ends of each range.
	if detail := tooManyMappings(dest.be, 5); detail != "" {
		return &Error{Op: "move", Purpose: dest.counted.purpose, Bytes: n, Err: ErrMappings, Detail: detail}
	}
	if from.limit != dest.limit && !dest.limit.take(n) {
		return dest.limit.exceeded("move", dest.counted.purpose, n)
	}
	from.altered(interval{off, off + n})
	dest.altered(interval{targetOff, targetOff + n})
	if err := from.moveContents(dest, targetOff, off, n); err != nil {
		if from.limit != dest.limit {
			dest.limit.give(n)
		}
		detail, sentinel := dest.be.explain("commit", n, err)
		return &Error{Op: "move", Purpose: dest.counted.purpose, Bytes: n, Err: sentinel, Detail: detail}
	}
	dest.rebordered(targetOff, targetOff+n, func() { dest.committed.add(targetOff, targetOff+n) })
	dest.counted.committed.Add(int64(n))
	if dest.pages == PagesAuto {
		for _, dense := range from.dense.covered(off, off+n) {
			dest.dense.add(dense.lo-off+targetOff, dense.hi-off+targetOff)
		}
	}
	dest.recount()
	dest.dress(interval{targetOff, targetOff + n})
	from.vacate(interval{off, off + n})
	from.rebordered(off, off+n, func() { from.committed.remove(off, off+n) })
	from.markGone(interval{off, off + n})
	from.recount()
	from.counted.committed.Add(-int64(n))
	if from.limit != dest.limit {
		from.limit.give(n)
	}
	return nil
}

// lockBoth locks two mappings and returns the function that unlocks them. It locks the mapping at the lower
// address first, so that two moves cannot deadlock.
func lockBoth(a, b *mapping) (unlock func()) {
	if a == b {
		a.mu.Lock()
		return a.mu.Unlock
	}
	if address(a.base) > address(b.base) {
		a, b = b, a
	}
	a.mu.Lock()
	b.mu.Lock()
	return func() {
		b.mu.Unlock()
		a.mu.Unlock()
	}
}

// moveContents commits n bytes at offset destOff of dest, and moves the contents of n bytes at offset off of
// m to them. The pages of m stay committed. After a failure both ranges are unchanged.
func (m *mapping) moveContents(dest *mapping, destOff, off, n int) error {
	var moved, copied []interval // offsets from the start of the range
	for done := 0; done < n; {
		count, err := m.moveSome(dest, destOff+done, off+done, n-done)
		if err == nil {
			moved = append(moved, interval{done, done + count})
			if dest.be.reuses() {
				dest.moved.add(destOff+done, destOff+done+count)
			}
			done += count
			continue
		}
		// Pages that cannot move are copied after the loop, when all of the destination is committed, because
		// a commit can fail and a copy cannot.
		if err := dest.be.commit(dest.at(destOff+done), count); err != nil {
			for _, iv := range moved {
				copy(bytesOf(m.at(off+iv.lo), iv.hi-iv.lo), bytesOf(dest.at(destOff+iv.lo), iv.hi-iv.lo))
			}
			dest.vacate(interval{destOff, destOff + done + count})
			return err
		}
		copied = append(copied, interval{done, done + count})
		done += count
	}
	for _, iv := range copied {
		for lo := iv.lo; lo < iv.hi; lo += moveStep {
			step := min(moveStep, iv.hi-lo)
			copy(bytesOf(dest.at(destOff+lo), step), bytesOf(m.at(off+lo), step))
			// Give the memory of this step back now: MovePages gives back the whole source only at the end.
			_ = m.be.discard(m.at(off+lo), step)
		}
	}
	return nil
}

// moveSome moves the first count bytes of a range of n bytes. After an error, the caller must copy these
// count bytes. If the pages belong to several mappings, moveSome tries half of the bytes, then a quarter, and
// so on.
func (m *mapping) moveSome(dest *mapping, destOff, off, n int) (count int, err error) {
	if m.be != dest.be || m.files.overlaps(off, off+n) {
		return n, errors.ErrUnsupported
	}
	for {
		err = m.be.move(dest.at(destOff), m.at(off), n)
		if !errors.Is(err, errSeveral) || n <= minMove {
			return n, err
		}
		n = roundUp(n/2, pageSize)
	}
}

// bytesOf returns ReadWrite pages as a slice. The caller holds the lock of the region, so that it cannot be
// closed while the slice is in use.
func bytesOf(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// vacate decommits a range. If the system refuses, vacate discards or clears the pages, which stay usable. In
// each case the caller counts the pages as Reserved, and they are zero when they are committed again.
func (m *mapping) vacate(iv interval) {
	bare, err := m.uncommit(iv)
	if bare {
		m.dress(iv)
	}
	if err == nil {
		return
	}
	if m.files.overlaps(iv.lo, iv.hi) {
		clear(bytesOf(m.at(iv.lo), iv.hi-iv.lo))
		return
	}
	switch err := m.be.discard(m.at(iv.lo), iv.hi-iv.lo); {
	case err == nil:
	case errors.Is(err, errLost), errors.Is(err, errBare):
		m.dress(iv)
	default:
		clear(bytesOf(m.at(iv.lo), iv.hi-iv.lo))
	}
}

// uncommit: Committed → Reserved, without a change of the counts. It maps moved pages and pages of files
// afresh. Then the kernel joins these pages with the neighbouring mappings, and pages of files no longer hold
// the contents of the file. bare reports whether the range has lost its name and advice: see dress.
func (m *mapping) uncommit(iv interval) (bare bool, err error) {
	if m.moved.meets(iv.lo, iv.hi) {
		err := m.be.reset(m.at(iv.lo), iv.hi-iv.lo)
		if err == nil {
			m.afresh(iv)
			return true, nil
		}
		if m.files.overlaps(iv.lo, iv.hi) {
			return false, err
		}
	}
	return m.be.decommit(m.at(iv.lo), iv.hi-iv.lo)
}
