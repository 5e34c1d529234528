package vm

import (
	"errors"
	"unsafe"

	"github.com/vastgo/vast/internal/fault"
)

// Access is what a committed page may be used for.
type Access uint8

const (
	// ReadWrite is the access of a page that was just committed.
	ReadWrite Access = iota
	// ReadOnly faults on writing.
	ReadOnly
	// NoAccess faults on reading and writing.
	NoAccess
)

// errLost is what a discard wraps when the pages are Reserved now.
var errLost = errors.New("the pages are decommitted")

// errBare is what a discard wraps that was done, but took the range's name and advice away.
var errBare = errors.New("the pages have lost name and advice")

// backend is one source of addresses. Region has checked and rounded all arguments: n is positive, p and n are multiples
// of the page size, a range lies in one reservation and is in the state that each comment names. Where a call fails
// nothing has changed, unless the comment says so.
type backend interface {
	// reserve: nothing → Reserved. The result is a multiple of align: a page, or a huge page where the system has those.
	reserve(n, align int) (unsafe.Pointer, error)
	// release: Reserved → nothing, for addresses that were never handed out.
	release(p unsafe.Pointer, n int) error
	// commit: Reserved → Committed, zero, ReadWrite. After a failure some pages may be Committed.
	commit(p unsafe.Pointer, n int) error
	// decommit: Committed (or Reserved in part, after a failed commit) → Reserved. bare says that the range lost its name
	// and advice. After a failure pages that protect had changed may be ReadWrite.
	decommit(p unsafe.Pointer, n int) (bare bool, err error)
	// discard: Committed → Committed, zero. Pages that protect had changed may be ReadWrite after it. A failure that
	// wraps errLost left the pages Reserved; one that wraps errBare is none, but for the name and the advice.
	discard(p unsafe.Pointer, n int) error
	// move brings what lies in committed pages to reserved ones, which are Committed then, without copying. The old pages
	// stay Committed, and are zero. A failure that wraps errSeveral would not be one for a part of the range. Any page may
	// hold names and advice of either range after it.
	move(to, from unsafe.Pointer, n int) error
	// reset: Reserved and Committed mixed → Reserved, without names and advice, as reserve left it.
	reset(p unsafe.Pointer, n int) error
	// protect changes the access of committed pages. After a failure it may be changed in part.
	protect(p unsafe.Pointer, n int, a Access) error
	// populate takes memory for committed pages, or fails where touching them would end the process. After a failure
	// some pages may have it.
	populate(p unsafe.Pointer, n int) error
	// advise asks for huge pages, or for none, in any state.
	advise(p unsafe.Pointer, n int, huge bool) error
	// collapse joins the committed pages of aligned huge-page ranges into huge pages now.
	collapse(p unsafe.Pointer, n int) error
	// resident returns how many bytes of the range are in memory, in any state.
	resident(p unsafe.Pointer, n int) (int, error)
	// pages tells of the ranges of committed pages that are in memory, in ascending order, and in which state they are, but
	// for PageCommitted; off is the distance from p.
	pages(p unsafe.Pointer, n int, tell func(off, n int, s PageState)) error
	// name labels the range for the system's own tools, where it has such labels.
	name(p unsafe.Pointer, n int, name string)
	// explain tells which limit an error of op on n bytes stands for, and what to do.
	explain(op string, n int, err error) (detail string, sentinel error)
	// mirror: nothing → Committed, as 2n bytes of which each half shows the same memory. Where the system does not let
	// programs do that the error wraps ErrRefused.
	mirror(n int, name string) (unsafe.Pointer, error)
	// unmirror: what mirror made → Reserved.
	unmirror(p unsafe.Pointer, n int) error
	// reuses reports whether the addresses of a closed region may serve another one.
	reuses() bool
}

// chosen returns the backend for a policy.
func chosen(p Pages) backend {
	var be backend = osBackend{}
	if p == PagesHeap || heapByDefault {
		be = heapBackend{}
	}
	if fault.Injecting() {
		be = injected{be}
	}
	return be
}
