package vm

import "unsafe"

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

// backend is one source of addresses. Region has checked and rounded all arguments: n is positive, p and n are multiples
// of the page size, and the range is in the state that each comment names. Where a call fails nothing has changed.
type backend interface {
	// reserve: nothing → Reserved. The result is a multiple of align, a power of two that is at least a page. keep, when
	// not nil, must stay reachable as long as the addresses are used.
	reserve(n, align int) (p unsafe.Pointer, keep any, err error)
	// commit: Reserved → Committed, zero, ReadWrite.
	commit(p unsafe.Pointer, n int) error
	// decommit: Committed → Reserved.
	decommit(p unsafe.Pointer, n int) error
	// discard: Committed → Committed, zero.
	discard(p unsafe.Pointer, n int) error
	// reset: Reserved and Committed mixed → Reserved, without names and advice, as reserve left it.
	reset(p unsafe.Pointer, n int) error
	// protect changes the access of committed pages.
	protect(p unsafe.Pointer, n int, a Access) error
	// populate touches committed pages, or fails where touching would end the process.
	populate(p unsafe.Pointer, n int) error
	// advise asks for huge pages, or for none, in any state.
	advise(p unsafe.Pointer, n int, huge bool) error
	// collapse joins the committed pages of aligned huge-page ranges into huge pages now.
	collapse(p unsafe.Pointer, n int) error
	// resident returns how many bytes of the range are in memory.
	resident(p unsafe.Pointer, n int) (int, error)
	// name labels the range for the system's own tools, where it has such labels.
	name(p unsafe.Pointer, n int, name string)
	// explain tells which limit an error of op on n bytes stands for, and what to do.
	explain(op string, n int, err error) (sentinel error, detail string)
	// reuses reports whether the addresses of a closed region may serve another one.
	reuses() bool
}

// chosen returns the backend for a policy.
func chosen(p Pages) backend {
	if p == PagesHeap || heapByDefault {
		return heapBackend{}
	}
	return osBackend{}
}
