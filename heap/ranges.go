package heap

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// kind is the kind of a unit. The kinds of the first and the last unit of a range, and of all pages of a
// pool, are valid. The kinds of other units may be stale. The documentation of the package defines pool,
// block and room; pages.go defines the kept runs.
type kind uint8

const (
	kindNone  kind = iota // not used yet
	kindFree              // first or last unit of a free range
	kindKept              // first page of a kept run
	kindPool              // first page of a pool
	kindBlock             // first unit of a block or a room
	kindTail              // another unit of a range in use
)

// entry describes a unit. Behind the entry of a page there is space for the bits of a pool's objects.
type entry struct {
	kind        kind
	class       uint8  // class number of the pool
	uncommitted bool   // the free range may have uncommitted units
	free        uint16 // number of free objects of the pool
	first       uint16 // index of a word of the pool's bits; all words before it are zero
	fresh       uint16 // number of an object of the pool; it and all later objects are zero
	units       uint32 // length of the range; also in the last entry of a free range
	head        uint32 // in a tail: first unit of the range
	next        uint32 // 1 + first unit of the next free range or pool in the list, or 0
	prev        uint32 // 1 + first unit of the previous free range or pool in the list, or 0
	pages       uint32 // number of committed pages of the room
}

const bytesEntry = int(unsafe.Sizeof(entry{}))

// ranges allocates and frees ranges of numbered units. The entries of the units have memory of their own,
// which is indexed by unit number. So a write through a stale pointer into free units cannot harm the
// entries.
//
// Adjacent free ranges are joined. A bin is a list of the free ranges whose lengths have the same logarithm.
// All units from the top on are free, and in no range. When the range below the top is freed, the top moves
// down.
type ranges struct {
	base   unsafe.Pointer // address of entry 0
	stride int            // bytes from entry to entry
	meta   vm.Span        // memory of the entries
	top    uint32         // first unit of the free end
	end    uint32         // number of units
	bins   [32]uint32     // by log2 of the length: 1 + first unit of the first free range, or 0
	filled uint32         // bit i is set if bin i is not empty
}

// scanLimit is the largest number of free ranges of a bin that take examines before it moves the top. If too
// few units are left above the top, take examines all free ranges that may be long enough.
const scanLimit = 16

// entry returns the entry of a unit. The conversion is sound for units below the top, whose entries are
// committed. Entries hold no Go pointers.
func (r *ranges) entry(unit uint32) *entry {
	return (*entry)(unsafe.Add(r.base, int(unit)*r.stride))
}

// take allocates n units and returns the first unit, a multiple of align. align is a power of two. If the
// units lie below the old top, uncommitted reports whether some of them may be uncommitted. If they lie above
// it, uncommitted is false, and the caller must know which of the units are committed.
func (r *ranges) take(n, align uint32) (at uint32, uncommitted bool, err error) {
	for limit := scanLimit; ; limit = -1 {
		at, uncommitted, ok := r.takeFree(n, align, limit)
		if ok {
			return at, uncommitted, nil
		}
		at = (r.top + align - 1) &^ (align - 1)
		if at <= r.end && n <= r.end-at {
			if err := r.meta.CommitTo(int(at+n)*r.stride, 0); err != nil {
				return 0, false, err
			}
			oldTop := r.top
			r.top = at + n
			r.mark(at, n)
			if oldTop < at {
				r.put(oldTop, at-oldTop, true)
			}
			return at, false, nil
		}
		if limit < 0 {
			return 0, false, errNoRange
		}
	}
}

// errNoRange reports that no free range is long enough. Heap.run and Heap.takeRoom replace it by an error
// with the number of bytes.
var errNoRange = &vm.Error{Op: "alloc", Err: vm.ErrCapacity}

// takeFree takes n units from a free range, as take does. It examines at most limit ranges of each bin, or
// all ranges if limit is negative.
func (r *ranges) takeFree(n, align uint32, limit int) (at uint32, uncommitted, ok bool) {
	for filled := r.filled &^ (1<<log2(n) - 1); filled != 0; filled &= filled - 1 {
		tried := 0
		for i := r.bins[bits.TrailingZeros32(filled)]; i != 0 && tried != limit; tried++ {
			head := i - 1
			e := r.entry(head)
			at := (head + align - 1) &^ (align - 1)
			if before := at - head; before <= e.units && n <= e.units-before {
				return at, r.cut(head, at, n), true
			}
			i = e.next
		}
	}
	return 0, false, false
}

// cut takes the units [at, at+n) out of the free range that begins at head. It reports whether some of these
// units may be uncommitted.
func (r *ranges) cut(head, at, n uint32) (uncommitted bool) {
	e := r.entry(head)
	units, uncommitted := e.units, e.uncommitted
	r.unlink(head)
	if head < at {
		r.link(head, at-head, uncommitted)
	}
	if end := head + units; at+n < end {
		r.link(at+n, end-at-n, uncommitted)
	}
	r.mark(at, n)
	return uncommitted
}

// takeAt allocates the units [at, at+n) if they are free. at is the first unit behind a range in use. The
// caller must call mark for the units.
func (r *ranges) takeAt(at, n uint32) (uncommitted, ok bool, err error) {
	if at == r.top {
		if n > r.end-at {
			return false, false, nil
		}
		if err := r.meta.CommitTo(int(at+n)*r.stride, 0); err != nil {
			return false, false, err
		}
		r.top = at + n
		return false, true, nil
	}
	e := r.entry(at)
	if e.kind != kindFree || e.units < n {
		return false, false, nil
	}
	return r.cut(at, at, n), true, nil
}

// forget decommits the memory of the entries from the top on.
func (r *ranges) forget() error { return r.meta.DecommitTo(int(r.top) * r.stride) }

// mark makes the units [at, at+n) a range in use. The caller sets the kind of the first unit afterwards.
func (r *ranges) mark(at, n uint32) {
	last := r.entry(at + n - 1)
	last.kind, last.head = kindTail, at
	e := r.entry(at)
	e.kind, e.units, e.uncommitted = kindNone, n, false
}

// put frees the units [at, at+n) and joins them with adjacent free ranges. If uncommitted is true, some of
// the units may be uncommitted. put returns the first unit of the joined range, and reports whether units of
// the joined range may be uncommitted. If the joined range ends at the top, the top moves down to the first
// unit of this range.
func (r *ranges) put(at, n uint32, uncommitted bool) (head uint32, anyUncommitted bool) {
	r.entry(at).kind = kindTail
	if at > 0 {
		if last := r.entry(at - 1); last.kind == kindFree {
			before := at - last.units
			uncommitted = uncommitted || r.entry(before).uncommitted
			n += last.units
			at = before
			r.unlink(before)
		}
	}
	if next := at + n; next < r.top {
		if e := r.entry(next); e.kind == kindFree {
			uncommitted = uncommitted || e.uncommitted
			n += e.units
			r.unlink(next)
		}
	}
	if at+n == r.top {
		r.top = at
		return at, uncommitted
	}
	r.link(at, n, uncommitted)
	return at, uncommitted
}

func (r *ranges) link(at, n uint32, uncommitted bool) {
	last := r.entry(at + n - 1)
	last.kind, last.units = kindFree, n
	b := log2(n)
	e := r.entry(at)
	e.kind, e.units, e.uncommitted, e.prev, e.next = kindFree, n, uncommitted, 0, r.bins[b]
	if e.next != 0 {
		r.entry(e.next - 1).prev = at + 1
	}
	r.bins[b] = at + 1
	r.filled |= 1 << b
}

func (r *ranges) unlink(at uint32) {
	e := r.entry(at)
	b := log2(e.units)
	if e.prev != 0 {
		r.entry(e.prev - 1).next = e.next
	} else if r.bins[b] = e.next; e.next == 0 {
		r.filled &^= 1 << b
	}
	if e.next != 0 {
		r.entry(e.next - 1).prev = e.prev
	}
	r.entry(at + e.units - 1).kind = kindTail
	e.kind = kindTail
}

// log2 returns the logarithm of n, rounded down.
func log2(n uint32) int { return bits.Len32(n) - 1 }

// check panics if the ranges do not cover all units below the top, if two free ranges are adjacent, or if the
// bins do not hold exactly the free ranges. It calls inUse for the first unit of each range in use.
func (r *ranges) check(inUse func(unit uint32, e *entry)) {
	free, wasFree := 0, false
	for at := uint32(0); at < r.top; {
		e := r.entry(at)
		if e.units == 0 || e.units > r.top-at {
			panic(fmt.Sprintf("heap: the range at unit %d has %d units, and the top is unit %d", at,
				e.units, r.top))
		}
		last := r.entry(at + e.units - 1)
		switch e.kind {
		case kindFree:
			if wasFree || last.kind != kindFree || last.units != e.units || at+e.units == r.top {
				panic(fmt.Sprintf("heap: the free range of %d units at unit %d is not joined, or its ends "+
					"differ", e.units, at))
			}
			free++
		case kindKept, kindPool, kindBlock:
			if e.units > 1 && (last.kind != kindTail || last.head != at) {
				panic(fmt.Sprintf("heap: the range of %d units at unit %d ends in a unit of kind %d with "+
					"head %d", e.units, at, last.kind, last.head))
			}
			inUse(at, e)
		default:
			panic(fmt.Sprintf("heap: a range has the wrong kind %d at unit %d", e.kind, at))
		}
		wasFree = e.kind == kindFree
		at += e.units
	}
	for b, first := range r.bins {
		if (first != 0) != (r.filled>>b&1 != 0) {
			panic(fmt.Sprintf("heap: bin %d begins with %d, but the bits of the filled bins are %b", b, first,
				r.filled))
		}
		for i, prev := first, uint32(0); i != 0; free-- {
			e := r.entry(i - 1)
			if e.kind != kindFree || log2(e.units) != b || e.prev != prev {
				panic(fmt.Sprintf("heap: the range at unit %d, of kind %d and %d units, does not belong in "+
					"bin %d, or is linked wrongly", i-1, e.kind, e.units, b))
			}
			i, prev = e.next, i
		}
	}
	if free != 0 {
		panic(fmt.Sprintf("heap: the bins lack %d free ranges", free))
	}
}
