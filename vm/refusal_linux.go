package vm

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

func (b osBackend) refusals() []Refusal {
	p, err := b.reserve(2*pageSize, pageSize)
	if forbids(err) {
		return []Refusal{{"mmap", err, "No region can be made."}}
	} else if err != nil {
		return nil // a lack of addresses is not a refusal
	}
	defer func() { _ = b.release(p, 2*pageSize) }()
	var all []Refusal
	note := func(call string, err error, instead string) (refused bool) {
		if refused = forbids(err); refused {
			all = append(all, Refusal{call, err, instead})
		}
		return refused
	}
	advice := func(kind int, name, instead string) {
		note("madvise("+name+")", tryAdvice(p, kind), instead)
	}

	// If mprotect is refused, heedsAdvice returns false too, so its result says nothing about madvise.
	if refused := note("mprotect", b.commit(p, 2*pageSize), "Nothing can be committed."); !refused &&
		!heedsAdvice() {
		all = append(all, Refusal{"madvise", errIgnored,
			"Memory is given back by mapping anew, which takes a little longer. Huge pages cannot be " +
				"requested, and Region.Populate is not supported."})
	}
	note("prctl(PR_SET_VMA)", tryName(p, pageSize),
		"Regions have no names in /proc/self/maps; counters still have the names.")
	advice(unix.MADV_DONTNEED, "MADV_DONTNEED", "Memory is given back by mapping anew, which takes a "+
		"little longer.")
	advice(unix.MADV_POPULATE_WRITE, "MADV_POPULATE_WRITE",
		"Region.Populate is not supported: memory is taken when pages are touched.")
	if HugePageSize() > 0 {
		advice(unix.MADV_HUGEPAGE, "MADV_HUGEPAGE",
			"Pages are small, and first touches take several times as long, except in the system's mode "+
				"always.")
		advice(unix.MADV_COLLAPSE, "MADV_COLLAPSE", "Region.Collapse does nothing.")
	}
	_, err = b.resident(p, pageSize)
	note("mincore", err, "The number of bytes in memory is unknown: Resident fails.")

	fd, errMemfd := unix.MemfdCreate("vast: tried", unix.MFD_CLOEXEC)
	if errMemfd == nil {
		_ = unix.Close(fd)
	}
	switch errMove := mapAndDuplicate(p, pageSize); {
	case forbids(errMove) && forbids(errMemfd):
		note("mremap", errMove, "Pages are moved by copying, and rings copy each byte once more.")
		note("memfd_create", errMemfd, "Rings copy each byte once more, because mremap is refused too.")
	default:
		note("mremap", errMove, "Pages are moved by copying. Rings are mapped by memfd_create.")
		note("memfd_create", errMemfd, "Nothing is lost: rings are mapped by mremap.")
	}
	return all
}

// forbids reports whether an error comes from a sandbox. ENOSYS counts, because sandboxes return it too. The
// oldest kernel that Go supports (Linux 3.2) has all calls that refusals tries, except memfd_create.
func forbids(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS)
}

func tryName(p unsafe.Pointer, n int) error {
	label := [...]byte{'v', 'a', 's', 't', 0}
	_, _, errno := unix.Syscall6(unix.SYS_PRCTL, unix.PR_SET_VMA, unix.PR_SET_VMA_ANON_NAME, uintptr(p),
		uintptr(n), uintptr(unsafe.Pointer(&label)), 0)
	if errno != 0 {
		return errno
	}
	return nil
}
