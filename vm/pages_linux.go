package vm

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pages reads ranges of pages in the same state from the kernel (PAGEMAP_SCAN), which also reports huge
// pages. On kernels before 6.7, without /proc, and in builds whose pages are larger than the system's, pages
// calls mincore instead, which only reports which pages are in memory.
func (osBackend) pages(p unsafe.Pointer, n int, tell func(off, n int, s PageState)) error {
	done := scanPages(p, n, tell)
	return pagesInCore(unsafe.Add(p, done), n-done, func(off, n int, s PageState) { tell(done+off, n, s) })
}

// The kernel's interface is documented in Documentation/admin-guide/mm/pagemap.rst.
const (
	pagemapScan = 0xC0606610 // _IOWR('f', 16, struct pm_scan_arg)

	scanPresent = 1 << 3
	scanSwapped = 1 << 4
	scanZero    = 1 << 5
	scanHuge    = 1 << 6
)

// scanArgument is struct pm_scan_arg.
type scanArgument struct {
	size             uint64
	flags            uint64
	start, end       uint64
	walkEnd          uint64 // where the kernel stopped
	vec, vecLen      uint64
	maxPages         uint64
	categoryInverted uint64
	categoryMask     uint64
	categoryAnyOf    uint64
	returnMask       uint64
}

// scannedRange is struct page_region.
type scannedRange struct {
	start, end uint64
	categories uint64
}

// scanPages calls tell for the ranges that the kernel reports, and returns the number of bytes scanned. This
// number is n or 0, except for rare failures. One system call scans only a part of a large range, because
// during the call no thread can map memory.
func scanPages(p unsafe.Pointer, n int, tell func(off, n int, s PageState)) (done int) {
	if pageSize > systemPage {
		return 0 // the kernel's ranges could end inside a page of this build
	}
	fd, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer func() { _ = unix.Close(fd) }()
	// The kernel takes the address of the answers as a number, so they must not lie on a stack, which can
	// move. Pinning keeps them on the heap.
	memory := new(struct {
		argument scanArgument
		answers  [256]scannedRange
	})
	var pin runtime.Pinner
	pin.Pin(memory)
	defer pin.Unpin()
	base := uint64(uintptr(p))
	for done < n {
		a := &memory.argument
		*a = scanArgument{
			size: uint64(unsafe.Sizeof(*a)), start: base + uint64(done), end: base +
				uint64(min(n, done+residentBatch*pageSize)),
			vec: uint64(uintptr(unsafe.Pointer(&memory.answers))), vecLen: uint64(len(memory.answers)),
			categoryAnyOf: scanPresent | scanSwapped,
			returnMask:    scanPresent | scanSwapped | scanZero | scanHuge,
		}
		count, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), pagemapScan, uintptr(unsafe.Pointer(a)))
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 || a.walkEnd <= a.start {
			return done
		}
		for _, r := range memory.answers[:count] {
			tell(int(r.start-base), int(r.end-r.start), scannedState(r.categories))
		}
		done = int(a.walkEnd - base)
	}
	return done
}

func scannedState(categories uint64) (s PageState) {
	if categories&scanPresent != 0 {
		s |= PageResident
		if categories&scanHuge != 0 {
			s |= PageHuge
		}
		if categories&scanZero != 0 {
			s |= PageZero
		}
	}
	if categories&scanSwapped != 0 {
		s |= PageSwapped
	}
	return s
}
