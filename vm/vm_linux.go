package vm

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const noReserve = unix.MAP_NORESERVE

// decommit makes the pages inaccessible and gives their memory back; the range keeps its name and advice. In
// two cases decommit replaces the mapping, which loses name and advice. In strict overcommit mode only a new
// mapping gives the charge back. If the kernel ignores or refuses MADV_DONTNEED, only a new mapping gives the
// memory back.
func (b osBackend) decommit(p unsafe.Pointer, n int) (bare bool, err error) {
	if facts().OvercommitMode == 2 || !heedsAdvice() {
		return true, b.reset(p, n)
	}
	err = unix.Mprotect(bytesAt(p, n), unix.PROT_NONE)
	if err == nil {
		if unix.Madvise(bytesAt(p, n), unix.MADV_DONTNEED) == nil {
			return false, nil
		}
		// The kernel refuses this advice for pages locked in memory, for instance after mlockall.
		bare, err = true, b.reset(p, n)
	}
	if err != nil {
		// mprotect may have changed some of the pages: make all of them accessible again. This call needs no
		// new mapping. It fails only if the process has one mapping more than the limit (mmap allows one
		// more).
		_ = unix.Mprotect(bytesAt(p, n), readWrite)
		return false, err
	}
	return bare, nil
}

// keeps implements the interface keeper. It returns false in two cases: in strict overcommit mode, where
// pages that were written stay charged even when they are inaccessible, and if the kernel ignores advice (see
// heedsAdvice).
func (osBackend) keeps() bool { return facts().OvercommitMode != 2 && heedsAdvice() }

// discard gives memory back by MADV_DONTNEED, which takes effect immediately. The kernel supplies zero pages
// when the range is touched again. If the kernel ignores or refuses this advice, discard replaces the mapping
// in two steps. The first step maps the range without access, which needs no charge that the kernel could
// refuse. The second step makes the pages accessible. A single mmap with access could fail and leave the
// range unmapped.
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
	if refuses(err) && tryAdvice(p, unix.MADV_POPULATE_WRITE) != nil {
		return fmt.Errorf("MADV_POPULATE_WRITE: %w (%w)", errors.ErrUnsupported, err)
	}
	return err
}

// tryAdvice returns the error with which the kernel or a sandbox refuses a kind of advice, or nil. It gives
// the advice for zero bytes: the kernel then checks only the kind.
func tryAdvice(p unsafe.Pointer, advice int) error {
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
		return nil // the kernel has no huge pages, or a sandbox forbids the advice
	}
	return err
}

func (osBackend) collapse(p unsafe.Pointer, n int) error {
	err := unix.Madvise(bytesAt(p, n), unix.MADV_COLLAPSE)
	if refuses(err) || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EBUSY) ||
		errors.Is(err, unix.ENOMEM) {
		return nil // causes: a kernel before 6.1, a sandbox, advice against huge pages, no free huge page
	}
	return err
}

// name labels the range. The kernel does not join neighbouring mappings with different names. Kernels without
// CONFIG_ANON_VMA_NAME refuse the call, which does no harm.
func (osBackend) name(p unsafe.Pointer, n int, name string) {
	label, err := unix.BytePtrFromString(printableName(name))
	if err != nil {
		return
	}
	_, _, _ = unix.Syscall6(unix.SYS_PRCTL, unix.PR_SET_VMA, unix.PR_SET_VMA_ANON_NAME, uintptr(p),
		uintptr(n), uintptr(unsafe.Pointer(label)), 0)
}

// printableName cuts a name to 79 bytes and puts an underscore for each byte that the kernel refuses. The
// kernel accepts printable ASCII, except characters with a meaning in /proc/self/maps or in shells.
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
