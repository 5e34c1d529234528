package vm

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const noReserve = unix.MAP_NORESERVE

// reserveHint lets the kernel choose the place.
func reserveHint(int) unsafe.Pointer { return nil }

// decommit maps the range anew: mprotect alone would keep the memory, and no advice takes it away at once.
func (b osBackend) decommit(p unsafe.Pointer, n int) (bare bool, err error) {
	return true, b.reset(p, n)
}

// discard maps the range anew too. MADV_FREE and MADV_FREE_REUSABLE leave the old contents in place until the system
// wants the pages, and MADV_DONTNEED only ages them: none of them promises zeros. MADV_FREE_REUSABLE would be right for
// memory of which nobody expects anything, such as an allocator's free pages that are cleared when they are used again;
// but it wants MADV_FREE_REUSE before that, or the system counts the process too low, and what it saves over mapping anew
// is the fault of a page that was not taken meanwhile. Nothing in this module holds such memory for long.
func (osBackend) discard(p unsafe.Pointer, n int) error { return remap(p, n, readWrite) }

// populate touches the pages: the system pages out or compresses where memory is short, so that a touch does not end the
// process as it can on Linux.
func (osBackend) populate(p unsafe.Pointer, n int) error { return touch(p, n) }

// advise does nothing: the system has no huge pages for anonymous memory on arm64, and on amd64 only ones that must be
// asked for when the addresses are taken and cannot be decommitted in part.
func (osBackend) advise(unsafe.Pointer, int, bool) error { return nil }

func (osBackend) collapse(unsafe.Pointer, int) error { return nil }

func (osBackend) pages(p unsafe.Pointer, n int, tell func(off, n int, s PageState)) error {
	return pagesInCore(p, n, tell)
}

func (osBackend) name(unsafe.Pointer, int, string) {}

// explain goes by the operation and the limits that are set; the system does not tell a program without C how much of
// them it uses.
func (osBackend) explain(op string, n int, err error) (detail string, sentinel error) {
	if !errors.Is(err, unix.ENOMEM) {
		return "", err
	}
	f := ReadFacts()
	switch {
	case op == "reserve" && f.AddressLimit > 0:
		return fmt.Sprintf("RLIMIT_AS allows %s for the whole process: raise it (ulimit -v) or reserve "+
			"less (a smaller capacity)", Bytes(f.AddressLimit)), ErrAddressSpace
	case op == "reserve":
		return "reserve less (a smaller capacity)", ErrAddressSpace
	case op == "commit" && f.DataLimit > 0:
		return fmt.Sprintf("RLIMIT_DATA allows %s for the whole process: raise it (ulimit -d)",
			Bytes(f.DataLimit)), ErrDataLimit
	}
	return "the kernel has no memory left for this", err
}
