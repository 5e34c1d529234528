package vm

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapTwice maps the same memory over both halves of a reservation: by mremap, or by a memfd if mremap is
// refused or not supported. mremap comes first, because limits and sandboxes restrict it less often than
// files.
func mapTwice(p unsafe.Pointer, n int, name string) error {
	err := mapAndDuplicate(p, n)
	if !refuses(err) && !errors.Is(err, errNotTwice) {
		return err
	}
	switch second := mapMemfd(p, n, name); {
	case second == nil:
		return nil
	case errors.Is(second, ErrRefused) && !refuses(err):
		return err
	default:
		return fmt.Errorf("mremap: %w; %w", err, second)
	}
}

// refuses reports whether an error comes from a sandbox, or from a kernel that lacks the call or an option.
func refuses(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS) ||
		errors.Is(err, unix.EINVAL)
}

// mapAndDuplicate maps shared anonymous memory and duplicates the mapping by an mremap of zero bytes
// (mremap(2)). It maps the memory elsewhere and moves the mapping into the reservation, because an mmap over
// the reservation may unmap the reservation and then fail.
func mapAndDuplicate(p unsafe.Pointer, n int) error {
	made, err := unix.MmapPtr(-1, 0, reserveHint(n), uintptr(n), readWrite, unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		return err
	}
	if err := mremap(made, n, p, n); err != nil {
		_ = unix.MunmapPtr(made, uintptr(n))
		return err
	}
	err = mremap(p, 0, unsafe.Add(p, n), n)
	if errors.Is(err, unix.ENOMEM) {
		return fmt.Errorf("%w: %w", errNotTwice, err)
	}
	return err
}

// errNotTwice marks an ENOMEM of an mremap of zero bytes. Kernels in user space that do not support this use
// of mremap may return ENOMEM.
var errNotTwice = errors.New("the memory cannot be mapped a second time")

// mremap moves the mapping at the address old to the address target, and changes its length from oldBytes to
// bytes. With oldBytes 0 the old mapping stays, and the target maps the same memory.
func mremap(old unsafe.Pointer, oldBytes int, target unsafe.Pointer, bytes int) error {
	_, _, errno := unix.Syscall6(unix.SYS_MREMAP, uintptr(old), uintptr(oldBytes), uintptr(bytes),
		unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, uintptr(target), 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// mapMemfd maps a file in memory over both halves. It seals the file, so that no process that opens the file
// under /proc can shorten it. Touching a page beyond the end of a shortened file would end this process.
func mapMemfd(p unsafe.Pointer, n int, name string) error {
	name = printableName(name)
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // Linux before 6.3
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	switch {
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return fmt.Errorf("memfd_create: %w: %w", ErrDescriptors, err)
	case err != nil:
		return fmt.Errorf("memfd_create: %w: %w", ErrRefused, err)
	}
	defer unix.Close(fd)
	// A file larger than RLIMIT_FSIZE raises a signal instead of an error.
	var size unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &size) == nil && size.Cur < uint64(n) {
		return fmt.Errorf("memfd_create: %w: RLIMIT_FSIZE allows files of %d bytes", ErrRefused, size.Cur)
	}
	if err := unix.Ftruncate(fd, int64(n)); err != nil {
		return err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS,
		unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL); err != nil {
		return err
	}
	if err := mapFileTwice(p, n, fd); err != nil {
		return err
	}
	if facts().OvercommitMode == 2 {
		// A memfd is charged when its pages are touched. A charge that is refused later would end the
		// process.
		err := osBackend{}.populate(p, n)
		if errors.Is(err, errors.ErrUnsupported) {
			err = fmt.Errorf("memfd_create: %w: %w", ErrRefused, err)
		}
		return err
	}
	return nil
}
