package vm

import (
	"os"
	"sync"
	"unsafe"
)

// Pages says which pages back a region.
type Pages uint8

const (
	// PagesAuto uses small pages, and huge pages for the ranges that their owner calls dense (see [Region.Huge]).
	PagesAuto Pages = iota
	// PagesSmall never uses huge pages, whatever the system's mode.
	PagesSmall
	// PagesHuge asks for huge pages everywhere. A page touched once then costs a whole huge page.
	PagesHuge
	// PagesHeap backs the region by Go heap memory: the stand-in described in the package documentation.
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
	systemPage = os.Getpagesize()              // bytes that the system maps as one
	pageSize   = max(systemPage, pageSmallest) // bytes that a region treats as one
)

// PageSize returns the size of a page in bytes.
func PageSize() int { return pageSize }

// Facts are what the operating system says about memory. Zero means unknown or without limit.
type Facts struct {
	PageSize         int    // bytes
	HugePageSize     int    // bytes; 0 where the system has none that a program may ask for
	HugeMode         string // Linux: always, madvise or never, or disabled for this process; elsewhere unsupported
	OvercommitMode   int    // Linux: vm.overcommit_memory; -1 elsewhere
	MaxMappings      int    // Linux: vm.max_map_count
	AddressLimit     int    // bytes: RLIMIT_AS; on Windows the address space of a process
	DataLimit        int    // bytes: RLIMIT_DATA
	ControlGroup     int    // bytes: the memory limit of the control group; on Windows of the job
	ControlGroupHigh int    // bytes: what is used beyond them makes the control group slow (memory.high); Linux
	Memory           int    // bytes of the machine; 0 where it was not asked for
	Swap             int    // bytes
	CommitLimit      int    // bytes that the system may promise: Linux in overcommit mode 2, Windows
	HeapStandIn      bool   // regions are Go heap memory by default
}

// Usage is what is taken of the limits in [Facts]. Zero means unknown.
type Usage struct {
	Mappings     int // of this process; Linux only
	AddressSpace int // bytes of addresses of this process
	Data         int // bytes of private writable memory of this process; on Windows what of it is charged
	CommitCharge int // bytes that the system has promised to all processes
}

// facts are those that the package goes by. The ones that it uses do not change while a process runs, or only by an
// administrator's hand.
var facts = sync.OnceValue(ReadFacts)

// ReadFacts asks the operating system anew. Limits may change while a process runs.
func ReadFacts() Facts {
	f := Facts{PageSize: pageSize, HugeMode: "unsupported", OvercommitMode: -1, HeapStandIn: heapByDefault}
	readFacts(&f)
	return f
}

// HugePageSize returns the size of a transparent huge page in bytes, or 0 where a program cannot ask for one.
func HugePageSize() int { return facts().HugePageSize }

// HugeMode returns when the system gives out huge pages: always, madvise (where asked for), never, disabled (not to this
// process), or unsupported.
func HugeMode() string { return facts().HugeMode }

// roundUp returns n rounded up to a multiple of unit, a power of two.
func roundUp(n, unit int) int { return (n + unit - 1) &^ (unit - 1) }

// roundDown returns n rounded down to a multiple of unit, a power of two.
func roundDown(n, unit int) int { return n &^ (unit - 1) }

// pointerAt turns an address of a reservation into a pointer. It is sound because the address lies outside Go's heap and
// is never given back to the operating system while the process may hold it, so the collector neither moves nor frees
// what lies there.
func pointerAt(addr int) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// address is the inverse of pointerAt.
func address(p unsafe.Pointer) int { return int(uintptr(p)) }
