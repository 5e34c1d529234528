package heap

import (
	"errors"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// rooms are ranges of addresses for large allocations, at least twice as long as these when they are made, so that one
// that grows usually grows where it is. Only what is allocated is committed.
type rooms struct {
	ranges
	region *vm.Region
	off    int            // of the first room in the region, bytes
	base   unsafe.Pointer // of the first room
	unit   int            // bytes
	page   int            // bytes
	asked  bool           // for huge pages
	full   bool           // there was no mapping for a room, and none was freed since
}

// offset returns where a room begins in the region.
func (r *rooms) offset(unit uint32) int { return r.off + int(unit)*r.unit }

// at returns the address of a room. It is sound for units of the reserved range.
func (r *rooms) at(unit uint32) unsafe.Pointer { return unsafe.Add(r.base, int(unit)*r.unit) }

// unitsFor returns how many units so many pages fill.
func (r *rooms) unitsFor(pages int) uint32 { return uint32((pages*r.page + r.unit - 1) / r.unit) }

// askForHuge asks for huge pages once, for all rooms in one piece: for single rooms each would cost a mapping more. They
// come where an allocation is committed over the whole of one. It is a hint.
func (r *rooms) askForHuge() {
	if !r.asked {
		r.asked = true
		_ = r.region.Huge(r.off, int(r.end)*r.unit)
	}
}

// takeRoom takes a room for n pages, at a multiple of align bytes: where there are no addresses for a long one, one that
// just suffices.
func (h *Heap) takeRoom(n, align int) (at uint32, err error) {
	h.rooms.askForHuge()
	h.pages.begin()
	units := uint32(max(1, align/h.rooms.unit))
	try := func() {
		at, _, err = h.rooms.take(h.rooms.unitsFor(2*n), units)
		if err == errNoRange {
			at, _, err = h.rooms.take(h.rooms.unitsFor(n), units)
		}
	}
	try()
	for i := 0; err != nil && h.retry(err, h.rooms.page, i); i++ {
		try()
	}
	if err == errNoRange {
		err = h.full(n * h.rooms.page)
	}
	return at, err
}

// commitRoom commits pages of a room. Where memory is refused it gives back what nobody uses, and tries again.
func (h *Heap) commitRoom(at uint32, from, to int) error {
	off, n := h.rooms.offset(at)+from*h.rooms.page, (to-from)*h.rooms.page
	err := h.region.Commit(off, n)
	for try := 0; err != nil && h.retry(err, n, try); try++ {
		err = h.region.Commit(off, n)
	}
	return err
}

// newRoom makes an allocation of n pages in a room of its own. Where there is no room, or no mapping for one, it lies among
// the smaller ones, which cost no mappings.
func (h *Heap) newRoom(n, align int) (p unsafe.Pointer, dirty bool, err error) {
	var at uint32
	if h.rooms.full {
		err = vm.ErrMappings // asking again would take the system longer than everything else
	} else {
		at, err = h.takeRoom(n, align)
	}
	if err == nil {
		if err = h.commitRoom(at, 0, n); err == nil {
			e := h.rooms.entry(at)
			e.kind, e.pages = kindBlock, uint32(n)
			h.count(1, n*h.rooms.page)
			return h.rooms.at(at), false, nil
		}
		h.rooms.put(at, h.rooms.entry(at).units, true)
	}
	h.rooms.full = errors.Is(err, vm.ErrMappings)
	if h.rooms.full || errors.Is(err, vm.ErrCapacity) {
		return h.newBlock(uint32(n), uint32(max(1, align>>h.pages.shift)))
	}
	return nil, false, err
}

// endRoom frees the allocation in a room.
func (h *Heap) endRoom(at uint32, e *entry) {
	h.count(-1, -int(e.pages)*h.rooms.page)
	h.decommitRoom(at, 0, int(e.pages))
	h.rooms.full = false
	h.rooms.put(at, e.units, true)
}

// decommitRoom gives back the memory of pages of a room. Where the system refuses to decommit them they are zero for the
// next one who has the room.
func (h *Heap) decommitRoom(at uint32, from, to int) {
	off, n := h.rooms.offset(at)+from*h.rooms.page, (to-from)*h.rooms.page
	if h.region.Decommit(off, n) != nil && h.region.Discard(off, n) != nil {
		clear(unsafe.Slice((*byte)(unsafe.Add(h.rooms.at(at), from*h.rooms.page)), n))
	}
}
