package vm

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

const memFree = 0x10000 // MEM_FREE

// largestReservation returns the size in bytes of the largest free range of addresses, at most limit. limit
// must be a positive multiple of the page size. largestReservation tries no reservations: Wine keeps a table
// of reserved pages, and filling it for 64 TiB takes a minute.
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
