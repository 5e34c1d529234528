package vm

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is MEMORYSTATUSEX:
// https://learn.microsoft.com/windows/win32/api/sysinfoapi/ns-sysinfoapi-memorystatusex
type memoryStatus struct {
	length               uint32 // size of this struct in bytes
	load                 uint32
	totalPhys, availPhys uint64
	totalPageFile        uint64 // the commit limit of the system or the process, whichever is smaller
	availPageFile        uint64
	totalVirtual         uint64
	availVirtual         uint64
	availExtendedVirtual uint64
}

// memoryCounters is PROCESS_MEMORY_COUNTERS:
// https://learn.microsoft.com/windows/win32/api/psapi/ns-psapi-process_memory_counters
type memoryCounters struct {
	length, faults              uint32 // size of this struct in bytes; number of page faults
	peakWorkingSet, workingSet  uintptr
	peakPagedPool, pagedPool    uintptr
	peakNonPagedPool, unpaged   uintptr
	pageFileUsage, peakPageFile uintptr // pageFileUsage is the process's part of the commit charge
}

var (
	kernel32             = windows.NewLazySystemDLL("kernel32.dll")
	globalMemoryStatusEx = kernel32.NewProc("GlobalMemoryStatusEx")
	getProcessMemoryInfo = kernel32.NewProc("K32GetProcessMemoryInfo")
)

func readMemoryStatus() memoryStatus {
	s := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return memoryStatus{}
	}
	return s
}

// privateMemory returns the private memory of the process in bytes, or 0 if it is not known.
func privateMemory() int {
	c := memoryCounters{length: uint32(unsafe.Sizeof(memoryCounters{}))}
	ok, _, _ := getProcessMemoryInfo.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&c)),
		uintptr(c.length))
	if ok == 0 {
		return 0
	}
	return int(c.pageFileUsage)
}

func readFacts(f *Facts) {
	s := readMemoryStatus()
	f.Memory = int(s.totalPhys)
	f.AddressLimit = int(s.totalVirtual)
	f.CommitLimit = int(s.totalPageFile)
	f.ControlGroup = jobLimit()
}

// ReadUsage returns the current usage, as the operating system counts it.
func ReadUsage() Usage {
	s := readMemoryStatus()
	return Usage{
		AddressSpace: int(s.totalVirtual - s.availVirtual),
		Data:         privateMemory(),
		CommitCharge: int(s.totalPageFile - s.availPageFile),
	}
}

// jobLimit returns the memory limit of the process's job, or 0.
func jobLimit() int {
	// The call takes the address of info as a number, which does not change when the runtime moves a stack.
	// So info must not be on a stack: it is pinned on the heap.
	info := new(windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION)
	var pin runtime.Pinner
	pin.Pin(info)
	defer pin.Unpin()
	err := windows.QueryInformationJobObject(0, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(info)), uint32(unsafe.Sizeof(*info)), nil)
	if err != nil {
		return 0 // not in a job
	}
	limit := 0
	if info.BasicLimitInformation.LimitFlags&windows.JOB_OBJECT_LIMIT_JOB_MEMORY != 0 {
		limit = int(info.JobMemoryLimit)
	}
	if info.BasicLimitInformation.LimitFlags&windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY != 0 {
		if n := int(info.ProcessMemoryLimit); limit == 0 || n < limit {
			limit = n
		}
	}
	return limit
}
