package heap

import (
	"errors"
	"unsafe"

	"github.com/vastgo/vast/guard"
	"github.com/vastgo/vast/vm"
)

// sampled guards small allocations of a heap, chosen at random, if the environment variable VAST_GUARD=1/n is
// set. A guarded allocation is a block of a guard.Allocator, and lies outside the heap's addresses.
type sampled struct {
	blocks  *guard.Allocator
	sampler guard.Sampler
	found   error // the damage that close found
	bytes   int   // number of bytes of live blocks; protected by the heap's lock
}

// The number of freed allocations per live allocation is that of a guard.SampledPool.
const (
	sampledLive  = 16               // largest number of live guarded allocations
	sampledFreed = 16 * sampledLive // largest number of freed guarded allocations in quarantine
	// sampledPages is the number of pages of addresses: a page and a guard page for each block, and a guard
	// page before the first block.
	sampledPages = 1 + 2*(sampledLive+sampledFreed)
)

// newSampled returns the value of Heap.sampled, or nil if interval is 0 or if no addresses are left for the
// blocks. interval is the average number of small allocations for each guarded allocation.
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

// allocUnusually makes a guarded allocation if the sampler picks it, fewer than sampledLive guarded
// allocations are live, and there is memory for a block. The caller holds the lock. allocUnusually unlocks
// the heap and returns the address of the block, or returns nil and keeps the lock. It panics if the heap is
// closed.
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
	size = max(size, 1) // the address of a block of size zero would lie past its end
	p, err := s.blocks.Alloc(size, align)
	if err != nil {
		return nil
	}
	s.bytes += size
	h.supplies[class].promised = max(0, h.supplies[class].promised-1)
	h.unlock()
	return p
}

func (h *Heap) guarded(p unsafe.Pointer) bool { return h.sampled != nil && h.sampled.blocks.Owns(p) }

// guardedSize returns the size of the guarded allocation at p. If no live allocation begins at p, guardedSize
// panics with a [*guard.Fault].
func (h *Heap) guardedSize(op string, p unsafe.Pointer) int {
	h.lock()
	h.mustBeOpen(op)
	h.unlock()
	f, _ := guard.Describe(uintptr(p))
	if f.Kind != guard.Nothing || f.Offset != 0 {
		if op == "Free" || f.Kind == guard.Nothing {
			h.sampled.blocks.Free(p) // panics with a Fault of another kind
		}
		panic(f)
	}
	return f.Size
}

// freeGuarded frees a guarded allocation. If the system refuses to decommit the block, the block stays live,
// and the heap counts it as an allocation.
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

func (h *Heap) reallocGuarded(p unsafe.Pointer, size, align int) (unsafe.Pointer, error) {
	return h.copyTo(p, h.guardedSize("Realloc", p), size, align)
}

// close closes the guard.Allocator. It stores the damage that it finds, for Heap.Close to return after the
// heap's region is closed.
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
