package vm

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// memFree is MEM_FREE, the state of free addresses.
const memFree = 0x10000

// largestReservation walks over the address space and returns the size of the largest free range in bytes, at
// most limit. The walk ends early at a free range of at least limit bytes. limit must be a positive multiple
// of the page size.
//
// largestReservation reserves nothing, because Wine keeps a table of reserved pages, and filling that table
// for 64 TiB takes a minute.
func (osBackend) largestReservation(limit int) int {
	largest := 0
	var at windows.MemoryBasicInformation
	for address := uintptr(0); largest < limit; address = at.BaseAddress + at.RegionSize {
		if windows.VirtualQuery(address, &at, unsafe.Sizeof(at)) != nil {
			break // the end of the address space
		}
		if at.State == memFree {
			// A reservation begins at a multiple of 64 KiB.
			skipped := roundUp(int(at.BaseAddress), mirrorUnit) - int(at.BaseAddress)
			largest = max(largest, roundDown(int(at.RegionSize)-skipped, pageSize))
		}
	}
	return min(largest, limit)
}
