package vm

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// memFree is MEM_FREE, the state of addresses that belong to nobody.
const memFree = 0x10000

// largestReservation walks over the address space, up to a free range of most bytes, a positive multiple of the page size.
// Nothing is tried: Wine keeps a table of the pages that are reserved, which takes it a minute for 64 TiB.
func largestReservation(_ backend, most int) int {
	largest := 0
	var at windows.MemoryBasicInformation
	for address := uintptr(0); largest < most; address = at.BaseAddress + at.RegionSize {
		if windows.VirtualQuery(address, &at, unsafe.Sizeof(at)) != nil {
			break // these were the process's addresses
		}
		if at.State == memFree {
			// A reservation begins at a multiple of 64 KiB.
			skipped := roundUp(int(at.BaseAddress), mirrorUnit) - int(at.BaseAddress)
			largest = max(largest, roundDown(int(at.RegionSize)-skipped, pageSize))
		}
	}
	return min(largest, most)
}
