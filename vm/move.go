package vm

import (
	"errors"
	"fmt"
	"unsafe"
)

// errSeveral is wrapped by the error of a move that did nothing because the pages belong to several mappings
// of the system.
var errSeveral = errors.New("the pages are several mappings")

// moveStep is the number of bytes that a copy moves at a time. These bytes are in memory twice meanwhile.
// moveStep is the size of a huge page on most systems.
const moveStep = 2 << 20

// moveSmallest is the size in bytes up to which copying is cheaper than finding the border between two
// mappings.
const moveSmallest = 64 << 10

// MovePages moves the contents of n bytes at offset off of r to offset toOff of to, which may be r. The pages
// of r go Committed → Reserved, and the pages of to go Reserved → Committed. off, toOff and n must be
// multiples of the page size, all pages of the range in r Committed, and all pages of the range in to
// Reserved, so that the ranges never overlap; MovePages panics otherwise. The pages of r must also be
// ReadWrite; MovePages does not check that. Pointers into the range of r must not be used afterwards, and no
// goroutine may touch either range meanwhile: for a moment the contents are in neither.
//
// On Linux (5.7 and later) mremap moves the pages themselves: nothing is copied, no memory is taken, and
// untouched pages stay untouched. The old addresses stay reserved all the time. Huge pages stay whole, and
// whole tables of 512 pages move at once, if off and toOff have the same offset in a huge page; otherwise the
// page table's entries are copied, at a few nanoseconds a page. On the heap stand-in, on other systems,
// between regions of different backends, for pages whose contents come from a file, and if Linux refuses, the
// bytes are copied in steps of 2 MiB, and each step's old memory is given back.
//
// Ranges that [Region.Huge] declared dense in r are declared dense in to as well.
//
// It returns an [*Error] as [Region.Commit] does; then nothing has changed. A shared [Limit] of r and to is
// not charged twice. Complexity: about six system calls, and a few more for each border between mappings in
// the range.
func (r *Region) MovePages(to *Region, toOff, off, n int) error {
	from, dest := r.m, to.m
	defer lockBoth(from, dest)()
	from.check("move from", off, n)
	dest.check("move to", toOff, n)
	if (off|toOff|n)&(pageSize-1) != 0 || !from.committed.contains(off, off+n) ||
		len(dest.committed.covered(toOff, toOff+n)) > 0 {
		panic(fmt.Sprintf("vm: move(to %d, from %d, %d): whole committed pages move to whole reserved "+
			"pages of %d bytes (%s)",
			toOff, off, n, pageSize, from.counted.purpose))
	}
	if n == 0 {
		return nil
	}
	dest.cool(interval{toOff, toOff + n})
	if dest.recycling.pages.overlaps(toOff, toOff+n) {
		return &Error{Op: "move", Purpose: dest.counted.purpose, Bytes: n, Err: ErrMappings,
			Detail: "pages of a closed region cannot be given back"}
	}
	// The move adds one mapping between source and destination, and up to two at the ends of each range.
	if detail := tooManyMappings(dest.be, 5); detail != "" {
		return &Error{Op: "move", Purpose: dest.counted.purpose, Bytes: n, Err: ErrMappings, Detail: detail}
	}
	if from.limit != dest.limit && !dest.limit.take(n) {
		return dest.limit.passed("move", dest.counted.purpose, n)
	}
	from.altered(interval{off, off + n})
	dest.altered(interval{toOff, toOff + n})
	if err := from.moveContents(dest, toOff, off, n); err != nil {
		if from.limit != dest.limit {
			dest.limit.give(n)
		}
		detail, sentinel := dest.be.explain("commit", n, err)
		return &Error{Op: "move", Purpose: dest.counted.purpose, Bytes: n, Err: sentinel, Detail: detail}
	}
	dest.rebordered(toOff, toOff+n, func() { dest.committed.add(toOff, toOff+n) })
	dest.counted.committed.Add(int64(n))
	if dest.pages == PagesAuto {
		for _, dense := range from.dense.covered(off, off+n) {
			dest.dense.add(dense.lo-off+toOff, dense.hi-off+toOff)
		}
	}
	dest.recount()
	dest.dress(interval{toOff, toOff + n})
	from.vacate(interval{off, off + n})
	from.rebordered(off, off+n, func() { from.committed.remove(off, off+n) })
	from.left(interval{off, off + n})
	from.recount()
	from.counted.committed.Add(-int64(n))
	if from.limit != dest.limit {
		from.limit.give(n)
	}
	return nil
}

// lockBoth locks two mappings and returns the function that unlocks them. It locks in the order of their
// addresses, so that two moves cannot deadlock.
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

// moveContents commits the pages at toOff and moves the contents at off there; the pages at off stay
// committed. After a failure both ranges are unchanged.
func (m *mapping) moveContents(to *mapping, toOff, off, n int) error {
	var moved, copied []interval // offsets in the range
	for done, part := 0, n; done < n; part = n - done {
		next, err := m.moveSome(to, toOff+done, off+done, part)
		if err == nil {
			moved = append(moved, interval{done, done + next})
			if to.be.reuses() {
				to.moved.add(toOff+done, toOff+done+next)
			}
			done += next
			continue
		}
		// Pages that cannot move are copied, but only after all of the destination is committed: only
		// committing can fail.
		if err := to.be.commit(to.at(toOff+done), next); err != nil {
			for _, iv := range moved {
				copy(bytesOf(m.at(off+iv.lo), iv.hi-iv.lo), bytesOf(to.at(toOff+iv.lo), iv.hi-iv.lo))
			}
			to.vacate(interval{toOff, toOff + done + next})
			return err
		}
		copied = append(copied, interval{done, done + next})
		done += next
	}
	for _, iv := range copied {
		for lo := iv.lo; lo < iv.hi; lo += moveStep {
			step := min(moveStep, iv.hi-lo)
			copy(bytesOf(to.at(toOff+lo), step), bytesOf(m.at(off+lo), step))
			// This gives memory back early; all of it goes back in the end.
			_ = m.be.discard(m.at(off+lo), step)
		}
	}
	return nil
}

// moveSome moves the first bytes of a range, up to the end of their mapping. After an error, next is the
// number of bytes to copy instead.
func (m *mapping) moveSome(to *mapping, toOff, off, n int) (next int, err error) {
	if m.be != to.be || m.files.overlaps(off, off+n) {
		return n, errors.ErrUnsupported
	}
	for {
		err = m.be.move(to.at(toOff), m.at(off), n)
		if !errors.Is(err, errSeveral) || n <= moveSmallest {
			return n, err
		}
		n = roundUp(n/2, pageSize)
	}
}

// bytesOf views readable and writable pages. It is sound because their region is locked, so it cannot be
// closed meanwhile.
func bytesOf(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// vacate decommits a range, which counts as Reserved from now on, even if the system refuses. If the system
// refuses, the pages stay usable, but their memory is given back, and they are zero when they are committed
// again.
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

// uncommit asks the system for Committed → Reserved. It maps moved pages and pages of files afresh: the
// mapping of moved pages is then joined with its neighbours, and pages of files are zero when they are
// committed again.
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
