//go:build !(mips || mipsle || mips64 || mips64le || ppc64 || ppc64le)

package written

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// These numbers and structures come from linux/userfaultfd.h. Processors with other ioctl numbers are
// excluded above: Linux has no write protection by userfaultfd there.
const (
	userModeOnly = 1 // UFFD_USER_MODE_ONLY: needs no privilege

	apiCall          = 0xC018AA3F // UFFDIO_API
	registerCall     = 0xC020AA00 // UFFDIO_REGISTER
	unregisterCall   = 0x8010AA01 // UFFDIO_UNREGISTER
	writeProtectCall = 0xC018AA06 // UFFDIO_WRITEPROTECT

	apiVersion         = 0xAA
	featureUnpopulated = 1 << 13 // UFFD_FEATURE_WP_UNPOPULATED: pages without memory can be protected
	featureAsync       = 1 << 15 // UFFD_FEATURE_WP_ASYNC: the kernel itself handles the faults
	modeWriteProtect   = 1 << 1  // UFFDIO_REGISTER_MODE_WP
)

type apiArgument struct{ api, features, ioctls uint64 }

type registerArgument struct{ start, bytes, mode, ioctls uint64 }

type rangeArgument struct{ start, bytes uint64 }

type writeProtectArgument struct{ start, bytes, mode uint64 }

// These numbers and structures come from linux/fs.h and Documentation/admin-guide/mm/pagemap.rst.
const (
	scanCall = 0xC0606610 // PAGEMAP_SCAN

	protectMatching = 1 << 0 // PM_SCAN_WP_MATCHING
	checkAsync      = 1 << 1 // PM_SCAN_CHECK_WPASYNC: fail if a page is not registered
	pageIsWritten   = 1 << 1 // PAGE_IS_WRITTEN
	pageIsZero      = 1 << 5 // PAGE_IS_PFNZERO: a page that was only read
)

type scanArgument struct {
	size             uint64
	flags            uint64
	start, end       uint64
	walkEnd          uint64 // the address at which the kernel stopped
	vec, vecLen      uint64
	maxPages         uint64
	categoryInverted uint64
	categoryMask     uint64
	categoryAnyOf    uint64
	returnMask       uint64
}

// linuxKernel implements kernel on Linux 6.7 and later.
type linuxKernel struct {
	*descriptors
	answers *[512]answer
}

// descriptors are the file descriptors that all watches of the process share, because a page can be
// registered with one userfaultfd only.
type descriptors struct {
	faults  int // the userfaultfd
	pagemap int // /proc/self/pagemap
}

// shared holds the open descriptors and the number of watches that use them.
var shared struct {
	mu    sync.Mutex
	users int
	descriptors
}

func openKernel() (kernel, error) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.users == 0 {
		if err := shared.open(); err != nil {
			return nil, err
		}
	}
	k := &linuxKernel{&shared.descriptors, new([512]answer)}
	if shared.users == 0 {
		if err := k.try(); err != nil {
			return nil, errors.Join(err, shared.shut())
		}
	}
	shared.users++
	return k, nil
}

func (k *linuxKernel) close() error {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.users--; shared.users > 0 {
		return nil
	}
	return shared.shut()
}

func (d *descriptors) open() error {
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|unix.O_NONBLOCK|userModeOnly, 0, 0)
	if errno != 0 {
		return refused("userfaultfd", errno)
	}
	api := apiArgument{api: apiVersion, features: featureUnpopulated | featureAsync}
	if err := control(int(fd), apiCall, unsafe.Pointer(&api)); err != nil {
		_ = unix.Close(int(fd))
		return refused("UFFDIO_API", err)
	}
	pagemap, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		_ = unix.Close(int(fd))
		return refused("/proc/self/pagemap", err)
	}
	d.faults, d.pagemap = int(fd), pagemap
	return nil
}

func (d *descriptors) shut() error { return errors.Join(unix.Close(d.faults), unix.Close(d.pagemap)) }

func refused(call string, err error) error {
	switch {
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return fmt.Errorf("%s: %w: raise RLIMIT_NOFILE (ulimit -n) or close files", call, err)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return unsupported(call + ": " + err.Error() + " (seccomp?)")
	}
	return unsupported(call + ": " + err.Error() + " (Linux 6.7 or later is needed)")
}

// try checks that the kernel reports written pages. It maps two pages, writes to them and unmaps them.
func (k *linuxKernel) try() error {
	if os.Getpagesize() > blockBytes {
		return unsupported(fmt.Sprintf("pages of %d bytes are too large", os.Getpagesize()))
	}
	n := 2 * os.Getpagesize()
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return fmt.Errorf("mapping two pages for a test of the kernel: %w", err)
	}
	defer func() { _ = unix.MunmapPtr(p, uintptr(n)) }()
	first, second := (*byte)(p), (*byte)(unsafe.Add(p, n/2))
	r := Range{uintptr(p), uintptr(p) + uintptr(n)}
	if err := k.register(r); err != nil {
		return refused("UFFDIO_REGISTER", err)
	}
	if err := k.unprotect(r); err != nil {
		return refused("UFFDIO_WRITEPROTECT", err)
	}
	if err := k.protect(r); err != nil {
		return refused("PAGEMAP_SCAN", err)
	}
	for step, s := range []struct {
		write func()
		found []Range
	}{
		{func() { *first, *second = 1, 1 }, []Range{r}},
		{func() { *second = 2 }, []Range{{r.Lo + uintptr(n/2), r.Hi}}},
		{func() {}, nil},
	} {
		s.write()
		found, _, err := k.scan(r)
		if err != nil {
			return refused("PAGEMAP_SCAN", err)
		}
		same := len(found) == len(s.found)
		for i := range found {
			same = same && found[i].pages() == s.found[i]
		}
		if !same {
			return unsupported(fmt.Sprintf("step %d of a test: the kernel reports wrong pages", step+1))
		}
	}
	return nil
}

func (d *descriptors) register(r Range) error {
	a := registerArgument{start: uint64(r.Lo), bytes: uint64(r.Hi - r.Lo), mode: modeWriteProtect}
	return control(d.faults, registerCall, unsafe.Pointer(&a))
}

func (d *descriptors) unregister(r Range) error {
	a := rangeArgument{start: uint64(r.Lo), bytes: uint64(r.Hi - r.Lo)}
	return control(d.faults, unregisterCall, unsafe.Pointer(&a))
}

func (d *descriptors) unprotect(r Range) error {
	a := writeProtectArgument{start: uint64(r.Lo), bytes: uint64(r.Hi - r.Lo)}
	return control(d.faults, writeProtectCall, unsafe.Pointer(&a))
}

// protect skips pages without a page table, because it would have to allocate the table. After the first
// write to a skipped page, the kernel reports the page as written.
func (d *descriptors) protect(r Range) error {
	a := scanArgument{flags: protectMatching | checkAsync, start: uint64(r.Lo), end: uint64(r.Hi),
		categoryMask: pageIsWritten}
	a.size = uint64(unsafe.Sizeof(a))
	return control(d.pagemap, scanCall, unsafe.Pointer(&a))
}

// scan skips pages without a page table, as protect does.
func (k *linuxKernel) scan(r Range) (found []answer, end uintptr, err error) {
	var pin runtime.Pinner // the system call gets the address of the answers as an integer
	pin.Pin(k.answers)
	defer pin.Unpin()
	a := scanArgument{flags: protectMatching | checkAsync, start: uint64(r.Lo), end: uint64(r.Hi),
		vec: uint64(uintptr(unsafe.Pointer(k.answers))), vecLen: uint64(len(k.answers)),
		categoryMask: pageIsWritten, returnMask: pageIsWritten}
	a.size = uint64(unsafe.Sizeof(a))
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(k.pagemap), scanCall, uintptr(unsafe.Pointer(&a)))
	switch {
	case errno != 0:
		return nil, 0, errno
	case uintptr(a.walkEnd) <= r.Lo || uintptr(a.walkEnd) > r.Hi || int(n) > len(k.answers):
		return nil, 0, unix.EIO // the kernel returned impossible values
	}
	return k.answers[:n], uintptr(a.walkEnd), nil
}

func (d *descriptors) written(r Range) (bool, error) {
	var found answer
	var pin runtime.Pinner // the system call gets the address of the answer as an integer
	pin.Pin(&found)
	defer pin.Unpin()
	a := scanArgument{flags: checkAsync, start: uint64(r.Lo), end: uint64(r.Hi),
		vec: uint64(uintptr(unsafe.Pointer(&found))), vecLen: 1, maxPages: 1,
		categoryMask: pageIsWritten | pageIsZero, categoryInverted: pageIsZero, returnMask: pageIsWritten}
	a.size = uint64(unsafe.Sizeof(a))
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(d.pagemap), scanCall, uintptr(unsafe.Pointer(&a)))
	if errno != 0 {
		return false, errno
	}
	return n > 0, nil
}

func control(fd int, call uintptr, argument unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), call, uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}
