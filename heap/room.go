package heap

import (
	"errors"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// rooms are ranges of addresses for large allocations. A new room is usually at least twice as long as its
// allocation, so that the allocation can grow in place. Only the pages of the allocation are committed.
type rooms struct {
	ranges
	region *vm.Region
	off    int            // offset of the first room in the region, bytes
	base   unsafe.Pointer // address of the first room
	unit   int            // bytes of a unit
	page   int            // bytes of a page

	askedHuge  bool // askForHuge was called
	noMappings bool // mappings ran out, and no room was freed since
}

func (r *rooms) offset(unit uint32) int { return r.off + int(unit)*r.unit }

// at returns the address of a room. The unit must lie in the reserved range.
func (r *rooms) at(unit uint32) unsafe.Pointer { return unsafe.Add(r.base, int(unit)*r.unit) }

func (r *rooms) unitsFor(pages int) uint32 { return uint32((pages*r.page + r.unit - 1) / r.unit) }

// askForHuge requests huge pages for all rooms together, because separate requests would cost a mapping for
// each room. The request is a hint: the system may use huge pages where an allocation covers them.
func (r *rooms) askForHuge() {
	if !r.askedHuge {
		r.askedHuge = true
		_ = r.region.Huge(r.off, int(r.end)*r.unit)
	}
}

// takeRoom takes a room for 2n pages, or for n pages if the addresses do not suffice for 2n. The address is a
// multiple of align.
func (h *Heap) takeRoom(n, align int) (at uint32, err error) {
	h.rooms.askForHuge()
	h.pages.begin()
	alignUnits := uint32(max(1, align/h.rooms.unit))
	try := func() {
		at, _, err = h.rooms.take(h.rooms.unitsFor(2*n), alignUnits)
		if err == errNoRange {
			at, _, err = h.rooms.take(h.rooms.unitsFor(n), alignUnits)
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

// commitRoom commits the pages [from, to) of a room. If memory is refused, it gives back unused memory and
// tries again.
func (h *Heap) commitRoom(at uint32, from, to int) error {
	off, n := h.rooms.offset(at)+from*h.rooms.page, (to-from)*h.rooms.page
	err := h.region.Commit(off, n)
	for try := 0; err != nil && h.retry(err, n, try); try++ {
		err = h.region.Commit(off, n)
	}
	return err
}

// newRoom allocates n pages in a new room. If no addresses or no mappings are left for a room, it allocates a
// block, which needs no mapping.
func (h *Heap) newRoom(n, align int) (p unsafe.Pointer, dirty bool, err error) {
	var at uint32
	if h.rooms.noMappings {
		err = vm.ErrMappings // a commit would fail, and would take longer than the rest of newRoom
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
	h.rooms.noMappings = errors.Is(err, vm.ErrMappings)
	if h.rooms.noMappings || errors.Is(err, vm.ErrCapacity) {
		return h.newBlock(uint32(n), uint32(max(1, align>>h.pages.shift)))
	}
	return nil, false, err
}

func (h *Heap) endRoom(at uint32, e *entry) {
	h.count(-1, -int(e.pages)*h.rooms.page)
	h.decommitRoom(at, 0, int(e.pages))
	h.rooms.noMappings = false
	h.rooms.put(at, e.units, true)
}

// decommitRoom gives back the memory of the pages [from, to) of a room. If the system refuses to decommit the
// pages, decommitRoom makes them zero for the next allocation in the room.
func (h *Heap) decommitRoom(at uint32, from, to int) {
	off, n := h.rooms.offset(at)+from*h.rooms.page, (to-from)*h.rooms.page
	if h.region.Decommit(off, n) != nil && h.region.Discard(off, n) != nil {
		clear(unsafe.Slice((*byte)(unsafe.Add(h.rooms.at(at), from*h.rooms.page)), n))
	}
}
