package vm

import (
	"errors"
	"unsafe"

	"github.com/vastgo/vast/internal/fault"
)

// Access says how a committed page may be accessed.
type Access uint8

const (
	// ReadWrite is the access of a newly committed page.
	ReadWrite Access = iota
	// ReadOnly faults on writing.
	ReadOnly
	// NoAccess faults on reading and writing.
	NoAccess
)

// errLost is wrapped by the error of a discard or mapFile that left the pages Reserved.
var errLost = errors.New("the pages are decommitted")

// errBare is wrapped by the error of a discard that succeeded but removed the range's name and advice.
var errBare = errors.New("the pages have lost name and advice")

// backend is a source of addresses. Region has checked and rounded all arguments: n is positive, p and n are
// multiples of the page size, and a range lies in one reservation. The comments give the states of the range
// before and after the call: before → after. A failed call changes nothing, except what its comment says.
type backend interface {
	// reserve: nothing → Reserved. The result is a multiple of align, which is the size of a page or of a
	// huge page.
	reserve(n, align int) (unsafe.Pointer, error)
	// release: Reserved → nothing, for addresses that were never handed out.
	release(p unsafe.Pointer, n int) error
	// commit: Reserved → Committed, zero, ReadWrite. After a failure, some pages may be Committed.
	commit(p unsafe.Pointer, n int) error
	// decommit: Committed (or partly Reserved, after a failed commit) → Reserved. bare reports that the range
	// lost its name and advice. After a failure, pages changed by protect may be ReadWrite.
	decommit(p unsafe.Pointer, n int) (bare bool, err error)
	// discard: Committed → Committed, zero. Pages changed by protect may become ReadWrite. A failure that
	// wraps errLost left the pages Reserved. An error that wraps errBare means success, but the range lost
	// its name and advice.
	discard(p unsafe.Pointer, n int) error
	// move moves the contents of committed pages to reserved pages without copying: the reserved pages become
	// Committed, and the old pages stay Committed and zero. After a failure that wraps errSeveral, the caller
	// may move parts of the range. After a success or a failure, the pages of both ranges may have the name
	// and advice of the other range.
	move(to, from unsafe.Pointer, n int) error
	// reset: a mix of Reserved and Committed → Reserved, without names and advice, as after reserve.
	reset(p unsafe.Pointer, n int) error
	// protect changes the access of committed pages. After a failure, some pages may have the new access.
	protect(p unsafe.Pointer, n int, a Access) error
	// mapFile: Committed → Committed, with the contents of a file, as private pages. The range loses its name
	// and advice. A failure that wraps errLost left the pages Reserved.
	mapFile(p unsafe.Pointer, n int, file uintptr, offset int64) error
	// populate takes memory for committed pages. It fails if a touch of the pages would end the process.
	// After a failure, some pages may have memory.
	populate(p unsafe.Pointer, n int) error
	// advise asks for huge pages, or for small pages, in any state.
	advise(p unsafe.Pointer, n int, huge bool) error
	// collapse joins the committed pages of aligned huge-page ranges into huge pages now.
	collapse(p unsafe.Pointer, n int) error
	// resident returns the number of bytes of the range in memory, in any state.
	resident(p unsafe.Pointer, n int) (int, error)
	// pages calls tell for each range of committed pages that are in memory or, if the system reports it,
	// swapped out. The ranges are in ascending order. offset is the distance of the range from p. s is the
	// state of the pages, without PageCommitted.
	pages(p unsafe.Pointer, n int, tell func(offset, n int, s PageState)) error
	// name labels the range for the system's own tools, if the system has labels.
	name(p unsafe.Pointer, n int, name string)
	// explain describes in detail the limit that caused err, an error of op on n bytes, and the remedy.
	// sentinel is the error that the caller's Error wraps. It is err itself if no sentinel fits.
	explain(op string, n int, err error) (detail string, sentinel error)
	// mirror: nothing → Committed: 2n bytes whose two halves show the same n bytes of memory. If the system
	// does not allow a mirror, the error wraps ErrRefused.
	mirror(n int, name string) (unsafe.Pointer, error)
	// unmirror: a mirror → Reserved.
	unmirror(p unsafe.Pointer, n int) error
	// reuses reports whether later regions may use the addresses of a closed region.
	reuses() bool
}

func chosen(p Pages) backend {
	var b backend = osBackend{}
	if p == PagesHeap || heapByDefault {
		b = heapBackend{}
	}
	if fault.Injecting() {
		b = injected{b}
	}
	return b
}
