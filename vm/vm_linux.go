package vm

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// osBackend is virtual memory by mmap, mprotect and madvise.
type osBackend struct{}

const reserveFlags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE

// bytesAt views a range of a region as the slice that package unix takes.
func bytesAt(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

func (osBackend) reserve(n, align int) (unsafe.Pointer, any, error) {
	slack := 0
	if align > pageSize {
		slack = align
	}
	p, err := unix.MmapPtr(-1, 0, reserveHint(n+slack), uintptr(n+slack), unix.PROT_NONE, reserveFlags)
	if err != nil {
		return nil, nil, err
	}
	if slack == 0 {
		return p, nil, nil
	}
	// What lies around the aligned part was never handed to anybody and can go back.
	before := roundUp(int(uintptr(p)), align) - int(uintptr(p))
	if before > 0 {
		_ = unix.MunmapPtr(p, uintptr(before))
	}
	p = unsafe.Add(p, before)
	if after := slack - before; after > 0 {
		_ = unix.MunmapPtr(unsafe.Add(p, n), uintptr(after))
	}
	return p, nil, nil
}

func (osBackend) commit(p unsafe.Pointer, n int) error {
	return unix.Mprotect(bytesAt(p, n), unix.PROT_READ|unix.PROT_WRITE)
}

// decommit keeps names and advice where memory is not charged. In strict overcommit mode only a fresh mapping gives the
// charge back.
func (b osBackend) decommit(p unsafe.Pointer, n int) error {
	if facts().OvercommitMode == 2 {
		return b.reset(p, n)
	}
	if err := unix.Mprotect(bytesAt(p, n), unix.PROT_NONE); err != nil {
		return err
	}
	return unix.Madvise(bytesAt(p, n), unix.MADV_DONTNEED)
}

func (osBackend) discard(p unsafe.Pointer, n int) error {
	return unix.Madvise(bytesAt(p, n), unix.MADV_DONTNEED)
}

func (osBackend) reset(p unsafe.Pointer, n int) error {
	_, err := unix.MmapPtr(-1, 0, p, uintptr(n), unix.PROT_NONE, reserveFlags|unix.MAP_FIXED)
	return err
}

func (osBackend) protect(p unsafe.Pointer, n int, a Access) error {
	prot := unix.PROT_READ | unix.PROT_WRITE
	switch a {
	case ReadOnly:
		prot = unix.PROT_READ
	case NoAccess:
		prot = unix.PROT_NONE
	}
	return unix.Mprotect(bytesAt(p, n), prot)
}

func (osBackend) populate(p unsafe.Pointer, n int) error {
	err := unix.Madvise(bytesAt(p, n), unix.MADV_POPULATE_WRITE)
	if errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("MADV_POPULATE_WRITE: %w", errors.ErrUnsupported)
	}
	return err
}

func (osBackend) advise(p unsafe.Pointer, n int, huge bool) error {
	advice := unix.MADV_NOHUGEPAGE
	if huge {
		advice = unix.MADV_HUGEPAGE
	}
	err := unix.Madvise(bytesAt(p, n), advice)
	if errors.Is(err, unix.EINVAL) {
		return nil // a kernel without huge pages
	}
	return err
}

func (osBackend) collapse(p unsafe.Pointer, n int) error {
	err := unix.Madvise(bytesAt(p, n), unix.MADV_COLLAPSE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EBUSY) {
		return nil // a kernel before 6.1, or no huge page free now
	}
	return err
}

func (osBackend) resident(p unsafe.Pointer, n int) (int, error) {
	var present [64 << 10]byte
	total := 0
	for n > 0 {
		part := min(n, len(present)*pageSize)
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(p), uintptr(part), uintptr(unsafe.Pointer(&present[0])))
		if errno != 0 {
			return total, errno
		}
		for _, b := range present[:part/pageSize] {
			total += int(b&1) * pageSize
		}
		p, n = unsafe.Add(p, part), n-part
	}
	return total, nil
}

// name labels the whole range once: ranges with different names are never joined into one mapping. Kernels without
// CONFIG_ANON_VMA_NAME refuse, which does no harm.
func (osBackend) name(p unsafe.Pointer, n int, name string) {
	if len(name) > 79 {
		name = name[:79]
	}
	label, err := unix.BytePtrFromString(name)
	if err != nil {
		return
	}
	_, _, _ = unix.Syscall6(unix.SYS_PRCTL, unix.PR_SET_VMA, unix.PR_SET_VMA_ANON_NAME, uintptr(p), uintptr(n),
		uintptr(unsafe.Pointer(label)), 0)
}

func (osBackend) reuses() bool { return true }
