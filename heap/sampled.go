package heap

import (
	"errors"
	"unsafe"

	"github.com/vastgo/vast/guard"
	"github.com/vastgo/vast/vm"
)

// sampled is what a heap has where the environment variable VAST_GUARD=1/n is set: a few of its small allocations, chosen at
// random, are blocks of a guard.Allocator. The heap's addresses and those of the blocks are apart, so that what is freed is
// looked for among the blocks only when it was not found in a pool.
type sampled struct {
	blocks  *guard.Allocator
	sampler guard.Sampler
	found   error // the damage that closing blocks found
	bytes   int   // of live blocks; the heap's lock guards it
}

const (
	// sampledLive is how many guarded allocations may live at a time, and sampledFreed how many are remembered after they were
	// freed: as in a guard.SampledPool.
	sampledLive  = 16
	sampledFreed = 16 * sampledLive
	// sampledAddresses is the pages that they take: each has one behind it, and one stands before them all.
	sampledPages = 1 + 2*(sampledLive+sampledFreed)
)

// newSampled returns what guards one allocation in every of a heap; nil where none is to be guarded, or where there are no
// addresses for it.
func newSampled(name string, o Options, every int) *sampled {
	if every == 0 {
		return nil
	}
	blocks, err := guard.NewAllocator(guard.Options{Name: name, Capacity: sampledLive, Addresses: sampledPages * vm.PageSize(),
		Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return nil
	}
	return &sampled{blocks: blocks, sampler: guard.NewSampler(every)}
}

// allocUnusually is called with the lock held, for a small allocation of a heap that is closed or has some of them guarded. It
// panics for a closed one. Otherwise it returns a guarded allocation without the lock, or nil and the heap goes on.
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
	size = max(size, 1) // so that its address is in it
	p, err := s.blocks.Alloc(size, align)
	if err != nil {
		return nil
	}
	s.bytes += size
	h.supplies[class].promised = max(0, h.supplies[class].promised-1)
	h.unlock()
	return p
}

// guarded reports whether p points into the blocks that are guarded.
func (h *Heap) guarded(p unsafe.Pointer) bool { return h.sampled != nil && h.sampled.blocks.Owns(p) }

// guardedSize returns the bytes of a guarded allocation, or panics with a [*guard.Fault] that says what is wrong with p.
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

// freeGuarded frees a guarded allocation. Where the system cannot take its page away it stays, and nobody has it.
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

// close closes the blocks. Damage around them is kept for the end of closing.
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

// addTo counts the guarded allocations in a heap's statistics.
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
