package vm

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This backend follows the manual pages of mmap(2), mprotect(2), madvise(2), mincore(2) and tuning(7). It is
// built and vetted, but its tests do not run on FreeBSD. For this reason it uses the simplest calls and
// relies only on documented behaviour.

// noReserve is zero here, because FreeBSD reserves swap space for writable memory only.
const noReserve = 0

// decommit maps the range afresh: mprotect alone would keep the memory and its charge.
func (b osBackend) decommit(p unsafe.Pointer, n int) (bare bool, err error) {
	return true, b.reset(p, n)
}

// discard maps the range afresh. MADV_FREE lets the system take the pages when it needs memory, and
// MADV_DONTNEED only marks the pages as old: no advice promises zeros. The range is first mapped without
// access, because pages without access need no charge that the system could refuse. A single mmap with access
// could fail and leave the range unmapped.
func (b osBackend) discard(p unsafe.Pointer, n int) error {
	if err := b.reset(p, n); err != nil {
		return err
	}
	if err := b.commit(p, n); err != nil {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return nil
}

// populate is not supported: no system call gives memory to a range, and if memory runs out, a touch ends the
// process.
func (osBackend) populate(unsafe.Pointer, int) error { return errors.ErrUnsupported }

// advise does nothing: the system makes superpages of dense aligned ranges by itself, and takes no advice.
func (osBackend) advise(unsafe.Pointer, int, bool) error { return nil }

func (osBackend) collapse(unsafe.Pointer, int) error { return nil }

func (osBackend) pages(p unsafe.Pointer, n int, tell func(off, n int, s PageState)) error {
	return pagesInCore(p, n, tell)
}

func (osBackend) name(unsafe.Pointer, int, string) {}

// explain concludes from the operation and the configured limits.
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
	// hw.physmem is an unsigned long. On 32-bit machines it has four bytes, this call fails, and f.Memory
	// stays zero.
	if n, err := unix.SysctlUint64("hw.physmem"); err == nil {
		f.Memory = int(min(n, math.MaxInt))
	}
	f.AddressLimit = resourceLimit(unix.RLIMIT_AS)
	f.DataLimit = resourceLimit(unix.RLIMIT_DATA)
}

// ReadUsage returns the zero Usage: this package does not read the usage on FreeBSD.
func ReadUsage() Usage { return Usage{} }

// mapTwice always refuses, and mirrors are copied instead. Anonymous memory that can be mapped twice
// (SHM_ANON) needs C: the number of the system call differs between versions of FreeBSD, and a kernel without
// that number sends a signal instead of returning an error.
func mapTwice(_ unsafe.Pointer, n int, _ string) error {
	return &Error{Op: "mirror", Bytes: n, Err: ErrRefused,
		Detail: "anonymous shared memory (SHM_ANON) needs C here, so every byte is copied once more"}
}
