package vm

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This back end goes by the manual pages of mmap(2), mprotect(2), madvise(2), mincore(2) and tuning(7): it is built and
// vetted, but nothing runs its tests on FreeBSD. So it uses the plainest calls, and takes nothing for granted that is not
// written there.

// noReserve is nothing here: only memory that may be written to counts in the system's reservation of swap space.
const noReserve = 0

// reserveHint lets the kernel choose the place.
func reserveHint(int) unsafe.Pointer { return nil }

// decommit maps the range anew: mprotect alone would keep the memory, and the charge for it.
func (b osBackend) decommit(p unsafe.Pointer, n int) (bare bool, err error) {
	return true, b.reset(p, n)
}

// discard maps the range anew. MADV_FREE lets the system take the pages when it wants them and MADV_DONTNEED only ages
// them: neither promises zeros. It goes by pages without access, which are charged to nothing: a mapping that is refused
// may have unmapped what lay there.
func (b osBackend) discard(p unsafe.Pointer, n int) error {
	if err := b.reset(p, n); err != nil {
		return err
	}
	if err := b.commit(p, n); err != nil {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return nil
}

// populate is not there: no call takes memory for a range, and where there is none left a touch ends the process.
func (osBackend) populate(unsafe.Pointer, int) error { return errors.ErrUnsupported }

// advise does nothing: the system makes superpages unasked of what is dense and aligned, and takes no advice about it.
func (osBackend) advise(unsafe.Pointer, int, bool) error { return nil }

func (osBackend) collapse(unsafe.Pointer, int) error { return nil }

func (osBackend) pages(p unsafe.Pointer, n int, tell func(off, n int, s PageState)) error {
	return pagesInCore(p, n, tell)
}

func (osBackend) name(unsafe.Pointer, int, string) {}

// explain goes by the operation and the limits that are set.
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
		return "the system has promised all the swap space it may promise (vm.overcommit, or RLIMIT_SWAP of the user): add swap, " +
			"raise the limit (limits -w), or close what is not needed", ErrCommitCharge
	}
	return "the kernel has no memory left for this", err
}
