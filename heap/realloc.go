package heap

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// Realloc resizes the allocation that begins at p to size bytes and returns its new address. It keeps the
// contents up to the smaller of the old and the new size. Added bytes are zero if the program did not write
// beyond the size that it requested last. If the allocation moves, p must not be used afterwards.
// Realloc(nil, size, align) allocates. align is as for [Heap.Alloc]. Realloc panics as Alloc and [Heap.Free]
// do.
//
// Realloc returns an error as Alloc does. After an error, the allocation at p is unchanged. Shrinking an
// allocation that has the requested alignment cannot fail.
//
// An allocation of whole pages that has the requested alignment grows in place if enough addresses behind it
// are free. But an allocation of at most 256 KiB is usually copied when it grows beyond this size. An
// allocation of more than 256 KiB usually has addresses for at least twice its size. When these addresses are
// used up, the allocation moves by [vm.Region.MovePages], on Linux without a copy. Smaller allocations that
// cannot grow in place are copied. An allocation that shrinks stays in place and gives back the pages that it
// does not need, or is copied to a smaller allocation.
func (h *Heap) Realloc(p unsafe.Pointer, size, align int) (unsafe.Pointer, error) {
	checkSize("Realloc", h.name, size, align)
	if p == nil {
		return h.Alloc(size, align)
	}
	if h.guarded(p) {
		return h.reallocGuarded(p, size, align)
	}
	at := h.lockAndFind("Realloc", p)
	q, err := p, h.tooLarge(size)
	if err == nil {
		switch {
		case uintptr(p)&uintptr(max(align, 1)-1) != 0:
			q = nil
		case at.room:
			if q, err = h.resizeRoom(at, p, size, align); errors.Is(err, vm.ErrMappings) {
				q, err = nil, nil // copy to a block, which needs no mapping
			}
		case at.e.kind == kindBlock:
			q = h.resizeBlock(at, p, size)
		case size > at.size || size < at.size/2:
			q = nil
		}
	}
	h.checkInvariants()
	h.unlock()
	if q == nil && err == nil {
		q, err = h.copyTo(p, at.size, size, align)
	}
	if err != nil {
		return nil, err
	}
	h.clearBehind(q, size)
	return q, nil
}

func checkSize(op, name string, size, align int) {
	if size < 0 {
		panic(fmt.Sprintf("heap: %s(%d bytes, alignment %d) on %s: a size is zero or more", op, size, align,
			name))
	}
	if align < 0 || align&(align-1) != 0 || align > maxAlign {
		panic(fmt.Sprintf("heap: %s(%d bytes, alignment %d) on %s: an alignment is a power of two up to %d",
			op, size, align, name, maxAlign))
	}
}

// copyTo moves an allocation of oldSize bytes by copying it. If there is no memory for the copy, an
// allocation that shrinks and has the requested alignment stays in place.
func (h *Heap) copyTo(p unsafe.Pointer, oldSize, size, align int) (unsafe.Pointer, error) {
	q, err := h.Alloc(size, align)
	if err != nil {
		if size <= oldSize && uintptr(p)&uintptr(max(align, 1)-1) == 0 {
			return p, nil
		}
		return nil, err
	}
	n := min(oldSize, size)
	copy(unsafe.Slice((*byte)(q), n), unsafe.Slice((*byte)(p), n))
	h.Free(p)
	return q, nil
}

func (h *Heap) clearBehind(p unsafe.Pointer, size int) {
	if usable := h.SizeOf(p); usable > size {
		clear(unsafe.Slice((*byte)(p), usable)[size:])
	}
}

// resizeBlock resizes a block in place. It returns nil if the allocation must be copied.
func (h *Heap) resizeBlock(at place, p unsafe.Pointer, size int) unsafe.Pointer {
	n, have := uint32(h.pagesFor(size)), at.e.units
	switch {
	case size <= maxSmall, int(n) >= len(h.pages.kept) && int(have) < len(h.pages.kept):
		return nil // the allocation becomes an object or a room
	case n > have:
		if ok, err := h.pages.extend(at.unit+have, n-have); !ok || err != nil {
			return nil
		}
		h.pages.entry(at.unit + have).kind = kindTail
	}
	h.pages.mark(at.unit, n)
	at.e.kind = kindBlock
	h.count(0, int(n)<<h.pages.shift-at.size)
	if n < have {
		h.pages.mark(at.unit+n, have-n)
		h.pages.free(at.unit+n, have-n)
	}
	return p
}

// resizeRoom resizes an allocation in a room, in place or by moving its pages. It returns nil if the
// allocation must be copied.
func (h *Heap) resizeRoom(at place, p unsafe.Pointer, size, align int) (unsafe.Pointer, error) {
	n, have := h.pagesFor(size), int(at.e.pages)
	if n <= have {
		if n < len(h.pages.kept)/2 {
			return nil, nil
		}
		h.decommitRoom(at.unit, n, have)
		h.resized(at.e, n)
		return p, nil
	}
	if h.rooms.unitsFor(n) > at.e.units {
		more := h.rooms.unitsFor(2*n) - at.e.units
		_, ok, err := h.rooms.takeAt(at.unit+at.e.units, more)
		if err != nil {
			return nil, err
		}
		if !ok {
			return h.moveRoom(at, n, align)
		}
		h.rooms.mark(at.unit+at.e.units, more)
		if err := h.commitRoom(at.unit, have, n); err != nil {
			h.rooms.put(at.unit+at.e.units, more, true)
			return nil, err
		}
		h.rooms.entry(at.unit + at.e.units).kind = kindTail
		h.rooms.mark(at.unit, at.e.units+more)
		at.e.kind = kindBlock
	} else if err := h.commitRoom(at.unit, have, n); err != nil {
		return nil, err
	}
	h.resized(at.e, n)
	return p, nil
}

func (h *Heap) resized(e *entry, n int) {
	h.count(0, (n-int(e.pages))*h.rooms.page)
	e.pages = uint32(n)
}

// moveRoom moves an allocation to a longer room by moving its pages. It returns nil if the heap cannot make a
// longer room.
func (h *Heap) moveRoom(at place, n, align int) (unsafe.Pointer, error) {
	have := int(at.e.pages)
	to, err := h.takeRoom(n, align)
	if err != nil {
		return nil, nil // the allocation may still fit among the blocks
	}
	e := h.rooms.entry(to)
	if err = h.commitRoom(to, have, n); err == nil {
		// MovePages needs pages that are not committed. An earlier decommitRoom may have failed to decommit
		// some of them.
		off, bytes := h.rooms.offset(to), have*h.rooms.page
		if err = h.region.Decommit(off, bytes); err == nil {
			err = h.region.MovePages(h.region, off, h.rooms.offset(at.unit), bytes)
		}
		if err != nil {
			h.decommitRoom(to, have, n)
		}
	}
	if err != nil {
		h.rooms.put(to, e.units, true)
		return nil, err
	}
	e.kind, e.pages = kindBlock, uint32(have)
	h.resized(e, n)
	h.rooms.put(at.unit, at.e.units, true)
	return h.rooms.at(to), nil
}
