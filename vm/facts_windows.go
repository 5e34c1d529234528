package vm

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is MEMORYSTATUSEX: https://learn.microsoft.com/windows/win32/api/sysinfoapi/ns-sysinfoapi-memorystatusex
type memoryStatus struct {
	length               uint32 // bytes of this struct
	load                 uint32
	totalPhys, availPhys uint64
	totalPageFile        uint64 // the commit limit of the system or the process, whichever is smaller
	availPageFile        uint64
	totalVirtual         uint64
	availVirtual         uint64
	availExtendedVirtual uint64
}

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

func readMemoryStatus() memoryStatus {
	s := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return memoryStatus{}
	}
	return s
}

func readFacts(f *Facts) {
	s := readMemoryStatus()
	f.Memory = int(s.totalPhys)
	f.AddressLimit = int(s.totalVirtual)
	f.CommitLimit = int(s.totalPageFile)
	f.ControlGroup = jobLimit()
}

// ReadUsage asks the operating system what is taken of the limits.
func ReadUsage() Usage {
	s := readMemoryStatus()
	return Usage{
		AddressSpace: int(s.totalVirtual - s.availVirtual),
		CommitCharge: int(s.totalPageFile - s.availPageFile),
	}
}

// jobLimit returns the memory limit of the job that the process belongs to, or 0.
func jobLimit() int {
	// The call takes the address of info as a number, so it must not move with a stack: pinning puts it on the heap.
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
