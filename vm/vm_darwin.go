package vm

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const noReserve = unix.MAP_NORESERVE

// decommit maps the range afresh: mprotect alone would keep the memory, and no advice frees memory
// immediately.
func (b osBackend) decommit(p unsafe.Pointer, n int) (bare bool, err error) {
	return true, b.reset(p, n)
}

// discard maps the range afresh too. MADV_FREE and MADV_FREE_REUSABLE keep the old contents until the system
// needs the pages, and MADV_DONTNEED only marks the pages as old: no advice promises zeros.
// MADV_FREE_REUSABLE suits memory whose contents do not matter, such as an allocator's free pages that are
// cleared before reuse. But the program must give the advice MADV_FREE_REUSE before the reuse; otherwise the
// system counts too little memory for the process. MADV_FREE_REUSABLE saves only the page faults of pages
// that the system has not taken meanwhile. This module does not hold such memory for long.
func (osBackend) discard(p unsafe.Pointer, n int) error { return remap(p, n, readWrite) }

// populate touches the pages: if memory is short, the system pages out or compresses, so a touch does not end
// the process as it can on Linux.
func (osBackend) populate(p unsafe.Pointer, n int) error { return touch(p, n) }

// advise does nothing: the system has no huge pages for anonymous memory on arm64. On amd64 they must be
// requested with the addresses and cannot be decommitted in part.
func (osBackend) advise(unsafe.Pointer, int, bool) error { return nil }

func (osBackend) collapse(unsafe.Pointer, int) error { return nil }

func (osBackend) pages(p unsafe.Pointer, n int, tell func(off, n int, s PageState)) error {
	return pagesInCore(p, n, tell)
}

func (osBackend) name(unsafe.Pointer, int, string) {}

// explain concludes from the operation and the configured limits, because the system reports the usage only
// to C programs.
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

func readFacts(f *Facts) {
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil {
		f.Memory = int(n)
	}
	f.AddressLimit = resourceLimit(unix.RLIMIT_AS)
	f.DataLimit = resourceLimit(unix.RLIMIT_DATA)
}

// ReadUsage returns the zero Usage: macOS reports the usage only to C programs.
func ReadUsage() Usage { return Usage{} }
