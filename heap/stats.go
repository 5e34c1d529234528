package heap

import "fmt"

// Stats are the bytes of a heap at one moment.
type Stats struct {
	Reserved    int // of addresses
	Committed   int // that may be touched; what a limit counts
	Allocations int // that were not freed
	InUse       int // of these, with what they have beyond what was asked for: the sum of SizeOf
	Wasted      int // of the pages that allocations lie on, beyond InUse: free objects of pools, and ends cut off
	Kept        int // of free pages whose memory was not given back yet: at most 1 MiB
	Own         int // committed for what the heap knows of its allocations
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

// String formats the figures in one line.
func (s Stats) String() string {
	return fmt.Sprintf("%d allocations of %d bytes, %d wasted, %d kept, %d own, %d committed, %d reserved",
		s.Allocations, s.InUse, s.Wasted, s.Kept, s.Own, s.Committed, s.Reserved)
}

// Resident returns how many bytes of the heap are in memory. Complexity: as [vm.Region.Resident].
func (h *Heap) Resident() (int, error) { return h.region.Resident() }

// Trim gives back all memory that no allocation lies on, and decommits what is behind the last one. Free and Realloc give
// memory back by themselves, but for 1 MiB of free pages, and one pool a size, that the next allocations are to find.
// What Grow has promised stays. Complexity: a system call for each stretch of pages that is given back.
func (h *Heap) Trim() {
	h.lock()
	defer h.unlock()
	if h.closed {
		return
	}
	h.trim()
	h.checkInvariants()
}

func (h *Heap) trim() {
	h.endEmptyPools()
	h.pages.releaseAll()
	h.pages.lower()
	h.pages.forget()
	h.rooms.forget()
}
