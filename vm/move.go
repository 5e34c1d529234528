package vm

import (
	"errors"
	"fmt"
	"unsafe"
)

// errSeveral is wrapped by the error of a move that did nothing because the pages belong to several mappings
// of the system.
var errSeveral = errors.New("the pages belong to several mappings")

// moveStep is the number of bytes that a copy moves at a time. Until the step ends, these bytes are in memory
// twice. moveStep is the size of a huge page on most systems.
const moveStep = 2 << 20

// moveSmallest is the size in bytes up to which copying is cheaper than finding the border between two
// mappings.
const moveSmallest = 64 << 10

// MovePages moves the contents of n bytes at offset off of r to offset targetOff of the region target, which
// may be r. The pages of r go Committed → Reserved, and the pages of target go Reserved → Committed. Pointers
// into the range of r must not be used afterwards. No goroutine may touch either range during the call: for a
// moment the contents are in neither range.
//
// MovePages panics unless off, targetOff and n are multiples of the page size, all pages of the range in r
// are Committed, and all pages of the range in target are Reserved. Overlapping ranges cannot meet these
// conditions. The pages of r must also be ReadWrite; MovePages does not check that.
//
// On Linux (5.7 and later) mremap moves the pages themselves: nothing is copied, no memory is taken, and
// untouched pages stay untouched. The old addresses stay reserved all the time. If both ranges begin at the
// same offset in a huge page, huge pages stay whole, and each table of 512 pages moves as a whole. Otherwise
// the kernel copies the entries of the page table, at a few nanoseconds a page.
//
// MovePages copies the bytes on the heap stand-in, on other systems, between regions of different backends,
// if the contents of the pages come from a file, and if Linux refuses the move. Outside the stand-in it
// copies in steps of 2 MiB, and gives each step's old memory back.
//
// If the policy of target is PagesAuto, ranges that [Region.Huge] declared dense in r become dense in target,
// too.
//
// It returns an [*Error] as [Region.Commit] does; then nothing has changed. A [Limit] that r and target share
// is not charged twice. Complexity: about six system calls, and a few more for each border between mappings
// in the range.
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
	dest.cool(interval{targetOff, targetOff + n})
	if dest.recycling.pages.overlaps(targetOff, targetOff+n) {
		return &Error{Op: "move", Purpose: dest.counted.purpose, Bytes: n, Err: ErrMappings,
			Detail: "pages of a closed region cannot be given back"}
	}
	// The move makes one temporary mapping, and up to two new mappings at the ends of each range.
	if detail := tooManyMappings(dest.be, 5); detail != "" {
		return &Error{Op: "move", Purpose: dest.counted.purpose, Bytes: n, Err: ErrMappings, Detail: detail}
	}
	if from.limit != dest.limit && !dest.limit.take(n) {
		return dest.limit.passed("move", dest.counted.purpose, n)
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

// moveContents commits n bytes at offset destOff of dest, and moves the contents at offset off of m there.
// The pages of m stay committed. After a failure both ranges are unchanged.
func (m *mapping) moveContents(dest *mapping, destOff, off, n int) error {
	var moved, copied []interval // offsets in the range
	for done, part := 0, n; done < n; part = n - done {
		next, err := m.moveSome(dest, destOff+done, off+done, part)
		if err == nil {
			moved = append(moved, interval{done, done + next})
			if dest.be.reuses() {
				dest.moved.add(destOff+done, destOff+done+next)
			}
			done += next
			continue
		}
		// Pages that cannot move are copied after the loop, when all of the destination is committed, because
		// a commit can fail and a copy cannot.
		if err := dest.be.commit(dest.at(destOff+done), next); err != nil {
			for _, iv := range moved {
				copy(bytesOf(m.at(off+iv.lo), iv.hi-iv.lo), bytesOf(dest.at(destOff+iv.lo), iv.hi-iv.lo))
			}
			dest.vacate(interval{destOff, destOff + done + next})
			return err
		}
		copied = append(copied, interval{done, done + next})
		done += next
	}
	for _, iv := range copied {
		for lo := iv.lo; lo < iv.hi; lo += moveStep {
			step := min(moveStep, iv.hi-lo)
			copy(bytesOf(dest.at(destOff+lo), step), bytesOf(m.at(off+lo), step))
			// This discard gives memory back early. vacate gives all memory of the source back later.
			_ = m.be.discard(m.at(off+lo), step)
		}
	}
	return nil
}

// moveSome moves the first bytes of a range, and returns their number as next. If the n bytes belong to
// several mappings, it tries half of them, and so on. After an error, next is the number of bytes to copy
// instead.
func (m *mapping) moveSome(dest *mapping, destOff, off, n int) (next int, err error) {
	if m.be != dest.be || m.files.overlaps(off, off+n) {
		return n, errors.ErrUnsupported
	}
	for {
		err = m.be.move(dest.at(destOff), m.at(off), n)
		if !errors.Is(err, errSeveral) || n <= moveSmallest {
			return n, err
		}
		n = roundUp(n/2, pageSize)
	}
}

// bytesOf returns readable and writable pages as a slice. The slice is sound because the pages' region is
// locked, so the region cannot be closed meanwhile.
func bytesOf(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// vacate decommits a range. The range counts as Reserved from now on, even if the system refuses. After a
// refusal the pages stay usable, but vacate gives their memory back or clears it, so that they are zero when
// they are committed again.
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
// afresh. Then the mapping of moved pages is joined with the neighbouring mappings, and pages of files are
// zero when they are committed again.
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
