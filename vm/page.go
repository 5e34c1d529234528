package vm

import (
	"os"
	"sync"
	"unsafe"
)

// Pages says which pages back a region.
type Pages uint8

const (
	// PagesAuto uses small pages, and huge pages for the ranges declared dense by [Region.Huge].
	PagesAuto Pages = iota
	// PagesSmall never uses huge pages, in any mode of the system.
	PagesSmall
	// PagesHuge asks for huge pages everywhere. The first touch of a page takes the memory of a huge page.
	PagesHuge
	// PagesHeap takes the region from Go's heap. See the package documentation on the heap stand-in.
	PagesHeap
)

// String returns the policy's name.
func (p Pages) String() string {
	switch p {
	case PagesAuto:
		return "auto"
	case PagesSmall:
		return "small"
	case PagesHuge:
		return "huge"
	case PagesHeap:
		return "heap"
	}
	return "unknown"
}

var (
	systemPage = os.Getpagesize()             // size of the system's page in bytes
	pageSize   = max(systemPage, minPageSize) // size of a region's page in bytes
)

// PageSize returns the size of a page in bytes.
func PageSize() int { return pageSize }

// Facts are the page sizes and limits that the operating system reports. Zero means unknown or no limit.
type Facts struct {
	PageSize         int    // bytes
	HugePageSize     int    // bytes; 0 if a program cannot ask for huge pages
	HugeMode         string // mode of huge pages: see the function HugeMode
	OvercommitMode   int    // Linux: vm.overcommit_memory, whose mode 0 is heuristic; -1 elsewhere
	MaxMappings      int    // Linux: vm.max_map_count
	AddressLimit     int    // bytes: RLIMIT_AS; on Windows the address space of a process
	DataLimit        int    // bytes: RLIMIT_DATA
	ControlGroup     int    // bytes: the memory limit of the control group, or on Windows of the job
	ControlGroupHigh int    // Linux: bytes above which the control group is slowed down (memory.high)
	Memory           int    // bytes of memory of the machine
	Swap             int    // bytes
	CommitLimit      int    // bytes that the system may promise; on Linux it applies in overcommit mode 2
	HeapStandIn      bool   // regions are Go heap memory by default
}

// Usage is the use of the resources that [Facts] limits. Zero means unknown, except in Kept.
type Usage struct {
	Mappings     int // number of mappings of this process; Linux only
	AddressSpace int // bytes of addresses of this process
	Data         int // bytes of private writable memory of this process; on Windows the charged bytes
	CommitCharge int // bytes that the system has promised to all processes
	Kept         int // bytes of closed regions that are still in memory: see Options.Recycle
}

// facts returns the facts at the time of its first call. Use it only for facts that rarely change.
var facts = sync.OnceValue(ReadFacts)

// ReadFacts reads the current facts from the operating system.
func ReadFacts() Facts {
	f := Facts{PageSize: pageSize, HugeMode: "unsupported", OvercommitMode: -1, HeapStandIn: heapByDefault}
	readFacts(&f)
	return f
}

// HugePageSize returns the size of a transparent huge page in bytes, or 0 if a program cannot ask for huge
// pages.
func HugePageSize() int { return facts().HugePageSize }

// HugeMode returns the mode of huge pages: always, madvise (on request), never, disabled (for this process),
// or unsupported.
func HugeMode() string { return facts().HugeMode }

// HeapStandIn reports whether regions of this build are Go heap memory by default. See the package
// documentation on the heap stand-in.
func HeapStandIn() bool { return heapByDefault }

// roundUp returns n rounded up to a multiple of unit, a power of two.
func roundUp(n, unit int) int { return (n + unit - 1) &^ (unit - 1) }

// roundDown returns n rounded down to a multiple of unit, a power of two.
func roundDown(n, unit int) int { return n &^ (unit - 1) }

// pointerAt turns an address of a reservation into a pointer. The conversion is sound: the address lies
// outside Go's heap, and does not go back to the operating system while the process may use it.
func pointerAt(addr int) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// address is the inverse of pointerAt.
func address(p unsafe.Pointer) int { return int(uintptr(p)) }
