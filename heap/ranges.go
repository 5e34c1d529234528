package heap

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// kind is what a unit is a part of. Units inside a range keep what they were before: only the first and the last of a
// range, and all pages of a pool, are marked.
type kind uint8

const (
	kindNone  kind = iota // nothing yet
	kindFree              // a free range
	kindKept              // free pages whose memory is kept
	kindPool              // a pool
	kindBlock             // one allocation of whole pages
	kindTail              // not the first unit of a range that is in use
)

// entry is what is known of a unit. Those of pages have the bits of a pool behind them.
type entry struct {
	kind     kind
	class    uint8  // of a pool
	reserved bool   // a part of a free range is not committed
	free     uint16 // free objects of a pool
	first    uint16 // the words of a pool's bits below this one are zero
	fresh    uint16 // the objects of a pool from this one on are zero
	units    uint32 // length of a range; free ranges have it at both ends
	head     uint32 // of a tail: the first unit
	next     uint32 // in a list of free ranges, or of pools with room: number of the next one's first unit plus 1, or 0
	prev     uint32
	pages    uint32 // of a block in a room: those that are committed
}

const bytesEntry = int(unsafe.Sizeof(entry{}))

// ranges gives out ranges of numbered units and takes them back. What it knows is in memory of its own, indexed by the
// number of the unit: nothing is written into free memory, so that a write through a stale pointer cannot harm it.
//
// Free ranges that touch are joined. They are in lists by the logarithm of their length. A free range at the top is none:
// the top comes down.
type ranges struct {
	base   unsafe.Pointer // of the entries
	stride int            // bytes from one entry to the next
	meta   vm.Span        // where the entries are
	top    uint32         // units from here on are free and in no range
	end    uint32         // the number of units
	bins   [32]uint32     // the first free range of 2^i to 2^(i+1)-1 units plus 1, or 0
	filled uint32         // the bins that have any
}

// scanLimit is how many free ranges of a bin are tried before a larger one is split, or the top moved.
const scanLimit = 16

// entry returns what is known of a unit. It is sound for units below the top, for which the entries are committed; they
// hold no Go pointers.
func (r *ranges) entry(unit uint32) *entry {
	return (*entry)(unsafe.Add(r.base, int(unit)*r.stride))
}

// take returns the first of n free units, in a multiple of align, a power of two. reserved says that a part of them may not
// be committed; above fresh units that is the caller's to know.
func (r *ranges) take(n, align uint32) (at uint32, reserved bool, err error) {
	for limit := scanLimit; ; limit = -1 {
		at, reserved, ok := r.takeFree(n, align, limit)
		if ok {
			return at, reserved, nil
		}
		at = (r.top + align - 1) &^ (align - 1)
		if at <= r.end && n <= r.end-at {
			if err := r.meta.CommitTo(int(at+n)*r.stride, 0); err != nil {
				return 0, false, err
			}
			below := r.top
			r.top = at + n
			r.mark(at, n)
			if below < at {
				r.put(below, at-below, true)
			}
			return at, false, nil
		}
		if limit < 0 {
			return 0, false, errNoRange
		}
	}
}

// errNoRange says that no range of the length asked for is free. Who asked knows the bytes.
var errNoRange = &vm.Error{Op: "alloc", Err: vm.ErrCapacity}

// takeFree is take from the free ranges. Of each list it looks at as many as limit says, all where it is negative.
func (r *ranges) takeFree(n, align uint32, limit int) (at uint32, reserved, ok bool) {
	for filled := r.filled &^ (1<<log2(n) - 1); filled != 0; filled &= filled - 1 {
		looked := 0
		for i := r.bins[bits.TrailingZeros32(filled)]; i != 0 && looked != limit; looked++ {
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

// cut takes n units from at on out of the free range that begins at head, and returns whether they may be uncommitted.
func (r *ranges) cut(head, at, n uint32) (reserved bool) {
	e := r.entry(head)
	units, reserved := e.units, e.reserved
	r.unlink(head)
	if head < at {
		r.link(head, at-head, reserved)
	}
	if end := head + units; at+n < end {
		r.link(at+n, end-at-n, reserved)
	}
	r.mark(at, n)
	return reserved
}

// takeAt takes the n units from at on, where they are free.
func (r *ranges) takeAt(at, n uint32) (reserved, ok bool, err error) {
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

// forget gives back the memory of the entries above the top. Where the system refuses, they stay.
func (r *ranges) forget() { _ = r.meta.DecommitTo(int(r.top) * r.stride) }

// mark makes a range in use of n units, with no kind at its first one yet.
func (r *ranges) mark(at, n uint32) {
	last := r.entry(at + n - 1)
	last.kind, last.head = kindTail, at
	e := r.entry(at)
	e.kind, e.units, e.reserved = kindNone, n, false
}

// put gives units back that are in use. reserved says that a part of them may not be committed. It returns the free range
// that they are a part of now, before the top came down.
func (r *ranges) put(at, n uint32, reserved bool) (head uint32, mixed bool) {
	r.entry(at).kind = kindTail
	if at > 0 {
		if last := r.entry(at - 1); last.kind == kindFree {
			before := at - last.units
			reserved = reserved || r.entry(before).reserved
			n += last.units
			at = before
			r.unlink(before)
		}
	}
	if next := at + n; next < r.top {
		if e := r.entry(next); e.kind == kindFree {
			reserved = reserved || e.reserved
			n += e.units
			r.unlink(next)
		}
	}
	if at+n == r.top {
		r.top = at
		return at, reserved
	}
	r.link(at, n, reserved)
	return at, reserved
}

// link puts a free range into its list.
func (r *ranges) link(at, n uint32, reserved bool) {
	last := r.entry(at + n - 1)
	last.kind, last.units = kindFree, n
	b := log2(n)
	e := r.entry(at)
	e.kind, e.units, e.reserved, e.prev, e.next = kindFree, n, reserved, 0, r.bins[b]
	if e.next != 0 {
		r.entry(e.next - 1).prev = at + 1
	}
	r.bins[b] = at + 1
	r.filled |= 1 << b
}

// unlink takes a free range out of its list.
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

// check panics unless the ranges cover all units below the top without gaps, free ones do not touch, and exactly they are
// in the lists. It calls inUse for the first unit of each range that is in use.
func (r *ranges) check(inUse func(unit uint32, e *entry)) {
	free, wasFree := 0, false
	for at := uint32(0); at < r.top; {
		e := r.entry(at)
		if e.units == 0 || e.units > r.top-at {
			panic(fmt.Sprintf("heap: the range at unit %d has %d units below %d", at, e.units, r.top))
		}
		last := r.entry(at + e.units - 1)
		switch e.kind {
		case kindFree:
			if wasFree || last.kind != kindFree || last.units != e.units || at+e.units == r.top {
				panic(fmt.Sprintf("heap: the free range of %d units at unit %d is not joined", e.units, at))
			}
			free++
		case kindKept, kindPool, kindBlock:
			if e.units > 1 && (last.kind != kindTail || last.head != at) {
				panic(fmt.Sprintf("heap: the last of %d units at unit %d is of kind %d", e.units, at, last.kind))
			}
			inUse(at, e)
		default:
			panic(fmt.Sprintf("heap: a range of kind %d at unit %d", e.kind, at))
		}
		wasFree = e.kind == kindFree
		at += e.units
	}
	for b, first := range r.bins {
		if (first != 0) != (r.filled>>b&1 != 0) {
			panic(fmt.Sprintf("heap: bin %d begins with %d, but %b are filled", b, first, r.filled))
		}
		for i, prev := first, uint32(0); i != 0; free-- {
			e := r.entry(i - 1)
			if e.kind != kindFree || log2(e.units) != b || e.prev != prev {
				panic(fmt.Sprintf("heap: unit %d of kind %d with %d units is in bin %d", i-1, e.kind, e.units, b))
			}
			i, prev = e.next, i
		}
	}
	if free != 0 {
		panic(fmt.Sprintf("heap: the lists lack %d free ranges", free))
	}
}
