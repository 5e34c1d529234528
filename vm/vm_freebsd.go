package vm

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This backend is built and vetted, but no test runs on FreeBSD. Therefore the backend uses the simplest
// calls, and relies only on the manual pages of mmap(2), mprotect(2), madvise(2), mincore(2) and tuning(7).

// noReserve is zero, because FreeBSD reserves swap space only for writable memory.
const noReserve = 0

// decommit replaces the mapping, because mprotect alone would keep the memory and its charge.
func (b osBackend) decommit(p unsafe.Pointer, n int) (bare bool, err error) {
	return true, b.reset(p, n)
}

// discard replaces the mapping, because no advice promises zeros: MADV_FREE keeps the contents until the
// system needs the pages, and MADV_DONTNEED only marks the pages as old. discard first maps the range without
// access, which needs no charge that the system could refuse. A single mmap with access could fail and leave
// the range unmapped.
func (b osBackend) discard(p unsafe.Pointer, n int) error {
	if err := b.reset(p, n); err != nil {
		return err
	}
	if err := b.commit(p, n); err != nil {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return nil
}

// populate is not supported: no system call supplies memory for a range, and a touch ends the process if
// memory runs out.
func (osBackend) populate(unsafe.Pointer, int) error { return errors.ErrUnsupported }

// advise does nothing: the system itself makes superpages of dense aligned ranges, and takes no advice.
func (osBackend) advise(unsafe.Pointer, int, bool) error { return nil }

func (osBackend) collapse(unsafe.Pointer, int) error { return nil }

func (osBackend) pages(p unsafe.Pointer, n int, tell func(off, n int, s PageState)) error {
	return pagesInCore(p, n, tell)
}

func (osBackend) name(unsafe.Pointer, int, string) {}

func (osBackend) explain(op string, n int, err error) (detail string, sentinel error) {
	if !errors.Is(err, unix.ENOMEM) {
		return "", err
	}
	f := ReadFacts()
	switch {
	case op == "reserve" && f.AddressLimit > 0:
		return fmt.Sprintf("RLIMIT_AS allows %s for the whole process: raise it (limits -v) or reserve "+
			"less (a smaller capacity)", Bytes(f.AddressLimit)), ErrAddressSpace
	case op == "reserve":
		return "reserve less (a smaller capacity)", ErrAddressSpace
	case op == "commit" || op == "discard":
		return "the system has promised all the swap space it may promise (vm.overcommit, or RLIMIT_SWAP " +
			"of the user): add swap, raise the limit (limits -w), or close what is not " +
			"needed", ErrCommitCharge
	}
	return "the kernel has no memory left for this", err
}

func readFacts(f *Facts) {
	// hw.physmem is an unsigned long. On 32-bit machines a long has four bytes, so the call fails, and
	// f.Memory stays zero.
	if n, err := unix.SysctlUint64("hw.physmem"); err == nil {
		f.Memory = int(min(n, math.MaxInt))
	}
	f.AddressLimit = resourceLimit(unix.RLIMIT_AS)
	f.DataLimit = resourceLimit(unix.RLIMIT_DATA)
}

// ReadUsage returns the zero Usage on FreeBSD.
func ReadUsage() Usage { return Usage{} }

// mapTwice always refuses, so mirrors copy their bytes. Anonymous memory that can be mapped twice (SHM_ANON)
// needs C: the number of the system call differs between versions of FreeBSD, and for an unknown number the
// kernel sends a signal instead of returning an error.
func mapTwice(_ unsafe.Pointer, n int, _ string) error {
	return &Error{Op: "mirror", Bytes: n, Err: ErrRefused,
		Detail: "anonymous shared memory (SHM_ANON) needs C here, so every byte is copied once more"}
}
