package vm

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const noReserve = unix.MAP_NORESERVE

// decommit replaces the mapping, because mprotect alone would keep the memory, and no advice frees memory
// immediately.
func (b osBackend) decommit(p unsafe.Pointer, n int) (bare bool, err error) {
	return true, b.reset(p, n)
}

// discard replaces the mapping, because no advice promises zeros: MADV_FREE and MADV_FREE_REUSABLE keep the
// old contents until the system needs the pages, and MADV_DONTNEED only marks the pages as old.
func (osBackend) discard(p unsafe.Pointer, n int) error { return remap(p, n, readWrite) }

// populate touches the pages. On Linux a touch can end the process when memory is short; macOS pages out or
// compresses memory instead.
func (osBackend) populate(p unsafe.Pointer, n int) error { return touch(p, n) }

// advise does nothing. On arm64 the system has no huge pages for anonymous memory. On amd64 a program must
// request huge pages together with the addresses, and cannot decommit a part of a huge page.
func (osBackend) advise(unsafe.Pointer, int, bool) error { return nil }

func (osBackend) collapse(unsafe.Pointer, int) error { return nil }

func (osBackend) pages(p unsafe.Pointer, n int, tell func(off, n int, s PageState)) error {
	return pagesInCore(p, n, tell)
}

func (osBackend) name(unsafe.Pointer, int, string) {}

// explain finds the limit from the operation and the configured limits, because the system reports the usage
// only to C programs.
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
