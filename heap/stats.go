package heap

import (
	"errors"
	"fmt"
)

// Stats are the counters of a heap at one moment, in bytes except for Allocations.
type Stats struct {
	Reserved    int // addresses
	Committed   int // memory that may be touched; a limit counts these bytes
	Allocations int // number of live allocations
	InUse       int // sum of SizeOf over all allocations
	Wasted      int // unused bytes in the pages of allocations and pools, such as free objects
	Kept        int // free pages whose memory is not given back yet: at most 1 MiB
	Own         int // committed memory of the heap's own data
}

// Stats returns the heap's counters. Complexity: constant, without a system call.
func (h *Heap) Stats() Stats {
	h.lock()
	defer h.unlock()
	s := Stats{Allocations: h.live, InUse: h.inUse, Wasted: h.held - h.inUse}
	if !h.closed {
		s.Reserved, s.Committed = h.region.Size(), h.region.Committed()
		s.Kept = h.pages.pagesKept << h.pages.shift
		s.Own = h.pages.meta.Committed() + h.rooms.meta.Committed()
		h.sampled.addTo(&s)
	}
	return s
}

// String formats the counters in one line.
func (s Stats) String() string {
	return fmt.Sprintf("%d allocations of %d bytes, %d wasted, %d kept, %d own, %d committed, %d reserved",
		s.Allocations, s.InUse, s.Wasted, s.Kept, s.Own, s.Committed, s.Reserved)
}

// Resident returns how many bytes of the heap are in physical memory. Complexity: as [vm.Region.Resident].
func (h *Heap) Resident() (int, error) { return h.region.Resident() }

// Trim gives back the memory of all free pages and of all pools without allocations, and decommits the pages
// behind the last allocation. Without Trim, a heap keeps up to 1 MiB of free pages and, for each class, one
// pool without allocations. Trim keeps the free objects that Grow has promised. Complexity: a system call for
// each range of pages that Trim gives back.
//
// If the system refuses to take memory back, Trim returns an error as [vm.Region.Decommit] does, and the heap
// works as before.
func (h *Heap) Trim() error {
	h.lock()
	h.mustBeOpen("Trim")
	err := h.trim()
	h.checkInvariants()
	h.unlock()
	return err
}

func (h *Heap) trim() error {
	h.endEmptyPools()
	return errors.Join(h.pages.releaseAll(), h.pages.lower(), h.pages.forget(), h.rooms.forget())
}
