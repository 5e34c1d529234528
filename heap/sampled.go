package heap

import (
	"errors"
	"unsafe"

	"github.com/vastgo/vast/guard"
	"github.com/vastgo/vast/vm"
)

// sampled guards a few small allocations of a heap, chosen at random, when the environment variable
// VAST_GUARD=1/n is set. A guarded allocation is a block of a guard.Allocator. Its address lies outside the
// heap's addresses. Free therefore tries freeObject first, and then checks for a guarded block.
type sampled struct {
	blocks  *guard.Allocator
	sampler guard.Sampler
	found   error // the damage that close found
	bytes   int   // of live blocks; protected by the heap's lock
}

const (
	// sampledLive bounds the live guarded allocations, and sampledFreed the freed ones in quarantine, as in a
	// guard.SampledPool.
	sampledLive  = 16
	sampledFreed = 16 * sampledLive
	// sampledPages is the number of pages of addresses: each block has a guard page behind it, and another
	// guard page comes before the first block.
	sampledPages = 1 + 2*(sampledLive+sampledFreed)
)

// newSampled returns the guard of a heap. interval is the average number of small allocations for each
// guarded allocation. newSampled returns nil if interval is 0, or if no addresses are left for the blocks.
func newSampled(name string, o Options, interval int) *sampled {
	if interval == 0 {
		return nil
	}
	blocks, err := guard.NewAllocator(guard.Options{Name: name, Capacity: sampledLive,
		Addresses: sampledPages * vm.PageSize(),
		Limit:     o.Limit, Pages: o.Pages})
	if err != nil {
		return nil
	}
	return &sampled{blocks: blocks, sampler: guard.NewSampler(interval)}
}

// allocUnusually handles a small allocation of a heap that is closed or sampled. The caller holds the lock.
// allocUnusually panics if the heap is closed. If it guards the allocation, it unlocks and returns the
// address. Otherwise it returns nil and keeps the lock.
//
//go:noinline
func (h *Heap) allocUnusually(size, align, class int) unsafe.Pointer {
	h.mustBeOpen("Alloc")
	s := h.sampled
	if s == nil || align > vm.PageSize() || !s.sampler.Sample() {
		return nil
	}
	if align == 0 {
		align = grain
	}
	size = max(size, 1) // a block of size zero would not contain its address
	p, err := s.blocks.Alloc(size, align)
	if err != nil {
		return nil
	}
	s.bytes += size
	h.supplies[class].promised = max(0, h.supplies[class].promised-1)
	h.unlock()
	return p
}

// guarded reports whether p is an address of the guard.Allocator.
func (h *Heap) guarded(p unsafe.Pointer) bool { return h.sampled != nil && h.sampled.blocks.Owns(p) }

// guardedSize returns the size of a guarded allocation, or panics with a [*guard.Fault] about p.
func (h *Heap) guardedSize(op string, p unsafe.Pointer) int {
	h.lock()
	h.mustBeOpen(op)
	h.unlock()
	f, _ := guard.Describe(uintptr(p))
	if f.Kind != guard.Nothing || f.Offset != 0 {
		if op == "Free" || f.Kind == guard.Nothing {
			h.sampled.blocks.Free(p) // panics
		}
		panic(f)
	}
	return f.Size
}

// freeGuarded frees a guarded allocation. If the system refuses to decommit its page, the block stays live
// and is lost.
func (h *Heap) freeGuarded(p unsafe.Pointer) {
	size := h.guardedSize("Free", p)
	defer func() {
		v := recover()
		if _, refused := v.(*vm.Error); refused {
			return
		}
		h.lock()
		h.sampled.bytes -= size
		h.unlock()
		if v != nil {
			panic(v)
		}
	}()
	h.sampled.blocks.Free(p)
}

// reallocGuarded moves a guarded allocation.
func (h *Heap) reallocGuarded(p unsafe.Pointer, size, align int) (unsafe.Pointer, error) {
	return h.copyTo(p, h.guardedSize("Realloc", p), size, align)
}

// close closes the guard.Allocator. It stores the damage that it finds; Heap.Close returns this damage at its
// end.
func (s *sampled) close() error {
	if s == nil {
		return nil
	}
	err := s.blocks.Close()
	if damage := (*guard.Fault)(nil); errors.As(err, &damage) {
		s.found, err = damage, nil
	}
	return err
}

// addTo adds the guarded allocations to the heap's statistics.
func (s *sampled) addTo(st *Stats) {
	if s == nil {
		return
	}
	n := s.blocks.Len()
	st.Allocations += n
	st.InUse += s.bytes
	st.Wasted += n*vm.PageSize() - s.bytes
	st.Committed += n * vm.PageSize()
	st.Reserved += sampledPages * vm.PageSize()
}
