package vm

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const noReserve = unix.MAP_NORESERVE

// decommit keeps names and advice where memory is not charged. In strict overcommit mode only a fresh mapping gives the
// charge back, and on some kernels nothing else gives memory back.
func (b osBackend) decommit(p unsafe.Pointer, n int) (bare bool, err error) {
	if facts().OvercommitMode == 2 || !heedsAdvice() {
		return true, b.reset(p, n)
	}
	err = unix.Mprotect(bytesAt(p, n), unix.PROT_NONE)
	if err == nil {
		if unix.Madvise(bytesAt(p, n), unix.MADV_DONTNEED) == nil {
			return false, nil
		}
		// The kernel refuses for pages locked in memory, after mlockall for instance.
		bare, err = true, b.reset(p, n)
	}
	if err != nil {
		// mprotect stops where it fails: what it changed before that is made usable again. That needs no mapping that
		// there was not before, and can fail only where mmap has taken the process past the limit, by its one more.
		_ = unix.Mprotect(bytesAt(p, n), readWrite)
		return false, err
	}
	return bare, nil
}

// discard gives memory back at once; the kernel fills the pages with zeros when they are touched again. Where it does not
// take that advice a fresh mapping does the same: one without access first, because an mmap that is refused may have
// unmapped what lay there, and that one takes nothing that could be refused.
func (b osBackend) discard(p unsafe.Pointer, n int) error {
	if heedsAdvice() {
		err := unix.Madvise(bytesAt(p, n), unix.MADV_DONTNEED)
		if errors.Is(err, unix.EINVAL) {
			err = unix.Madvise(bytesAt(p, n), unix.MADV_DONTNEED_LOCKED)
		}
		if !refuses(err) {
			return err
		}
	}
	if err := b.reset(p, n); err != nil {
		return err
	}
	if err := b.commit(p, n); err != nil {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return errBare
}

func (osBackend) populate(p unsafe.Pointer, n int) error {
	if !heedsAdvice() {
		return fmt.Errorf("MADV_POPULATE_WRITE: %w (%w)", errors.ErrUnsupported, errIgnored)
	}
	err := unix.Madvise(bytesAt(p, n), unix.MADV_POPULATE_WRITE)
	if refuses(err) && adviceTaken(p, unix.MADV_POPULATE_WRITE) != nil {
		return fmt.Errorf("MADV_POPULATE_WRITE: %w (%w)", errors.ErrUnsupported, err)
	}
	return err
}

// adviceTaken returns the error with which the kernel, or a sandbox, refuses a kind of advice: for no bytes at all the
// kernel looks at nothing else.
func adviceTaken(p unsafe.Pointer, advice int) error {
	if _, _, errno := unix.Syscall(unix.SYS_MADVISE, uintptr(p), 0, uintptr(advice)); errno != 0 {
		return errno
	}
	return nil
}

func (osBackend) advise(p unsafe.Pointer, n int, huge bool) error {
	advice := unix.MADV_NOHUGEPAGE
	if huge {
		advice = unix.MADV_HUGEPAGE
	}
	err := unix.Madvise(bytesAt(p, n), advice)
	if refuses(err) {
		return nil // a kernel without huge pages, or a sandbox that does not let them be asked for
	}
	return err
}

func (osBackend) collapse(p unsafe.Pointer, n int) error {
	err := unix.Madvise(bytesAt(p, n), unix.MADV_COLLAPSE)
	if refuses(err) || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EBUSY) ||
		errors.Is(err, unix.ENOMEM) {
		return nil // a kernel before 6.1, a sandbox, a range advised against it, or no huge page free now
	}
	return err
}

// name labels the range: neighbours with different names are never joined into one mapping. Kernels without
// CONFIG_ANON_VMA_NAME refuse, which does no harm.
func (osBackend) name(p unsafe.Pointer, n int, name string) {
	label, err := unix.BytePtrFromString(printableName(name))
	if err != nil {
		return
	}
	_, _, _ = unix.Syscall6(unix.SYS_PRCTL, unix.PR_SET_VMA, unix.PR_SET_VMA_ANON_NAME, uintptr(p), uintptr(n),
		uintptr(unsafe.Pointer(label)), 0)
}

// printableName returns what the kernel takes of a name: 79 bytes of printable ASCII, without the characters that mean
// something in /proc/self/maps and in shells. Every other byte becomes an underscore.
func printableName(name string) string {
	b := []byte(name[:min(len(name), 79)])
	for i, c := range b {
		switch {
		case c < ' ' || c > '~', c == '\\', c == '`', c == '$', c == '[', c == ']':
			b[i] = '_'
		}
	}
	return string(b)
}
