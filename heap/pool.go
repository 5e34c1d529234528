package heap

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// A pool is a run of pages divided into objects of one class. Bits behind the entry of the first page mark
// the free objects. The entries of the other pages hold the number of the first page. A pool whose objects
// are all free is freed, with two exceptions: the only pool of its class with free objects, which stays until
// the heap is trimmed, and a pool whose objects Grow has promised. The callers of the functions below hold
// the heap's lock.

// supply counts the free objects of a class, and lists the class's pools that have free objects.
type supply struct {
	first    uint32 // 1 + first page of the first pool in the list, 0 for an empty list
	free     int    // number of free objects
	promised int    // number of free objects that Grow has promised to later allocations
}

// words returns the bits of a pool's free objects. The conversion is sound: each entry is followed by a bit
// for every grain of a page, and a pool of several pages has fewer objects than a page has grains.
func (h *Heap) words(pool uint32, c *class) []uint64 {
	first := (*uint64)(unsafe.Add(unsafe.Pointer(h.pages.entry(pool)), bytesEntry))
	return unsafe.Slice(first, (c.objects+63)/64)
}

func (h *Heap) newPool(number int) error {
	c := &classes[number]
	at, dirty, err := h.run(c.pages, 1)
	if err != nil {
		return err
	}
	for i := uint32(1); i < c.pages; i++ {
		tail := h.pages.entry(at + i)
		tail.kind, tail.head = kindTail, at
	}
	e := h.pages.entry(at)
	e.kind, e.class, e.units = kindPool, uint8(number), c.pages
	e.free, e.first, e.fresh = uint16(c.objects), 0, 0
	if dirty {
		e.fresh = e.free
	}
	words := h.words(at, c)
	for i := range words {
		words[i] = ^uint64(0)
	}
	if rest := c.objects % 64; rest != 0 {
		words[len(words)-1] = 1<<rest - 1
	}
	h.listPool(number, at, e)
	h.supplies[number].free += int(c.objects)
	h.held += int(c.pages) << h.pages.shift
	return nil
}

func (h *Heap) listPool(number int, pool uint32, e *entry) {
	s := &h.supplies[number]
	e.prev, e.next = 0, s.first
	if s.first != 0 {
		h.pages.entry(s.first - 1).prev = pool + 1
	}
	s.first = pool + 1
}

func (h *Heap) unlistPool(number int, e *entry) {
	if e.prev != 0 {
		h.pages.entry(e.prev - 1).next = e.next
	} else {
		h.supplies[number].first = e.next
	}
	if e.next != 0 {
		h.pages.entry(e.next - 1).prev = e.prev
	}
}

// takeObject allocates the lowest free object of the first pool in a class's list. If dirty is false, the
// object is zero.
func (h *Heap) takeObject(number int) (p unsafe.Pointer, dirty bool, err error) {
	s := &h.supplies[number]
	if s.first == 0 {
		if err := h.newPool(number); err != nil {
			return nil, false, err
		}
	}
	c := &classes[number]
	pool := s.first - 1
	e := h.pages.entry(pool)
	words := h.words(pool, c)
	w := int(e.first)
	for words[w] == 0 {
		w++
	}
	i := uint32(w*64 + bits.TrailingZeros64(words[w]))
	words[w] &= words[w] - 1
	e.first = uint16(w)
	if e.free--; e.free == 0 {
		h.unlistPool(number, e)
	}
	s.free--
	s.promised = max(0, s.promised-1)
	h.live++
	h.inUse += int(c.size)
	if i >= uint32(e.fresh) {
		e.fresh = uint16(i + 1)
	} else {
		dirty = true
	}
	return unsafe.Add(h.pages.at(pool), int(i*c.size)), dirty, nil
}

// object returns the number of the object that begins at p in a pool, or a text that says why no live object
// begins there.
func (h *Heap) object(pool uint32, e *entry, p unsafe.Pointer) (i uint32, wrong string) {
	c := &classes[e.class]
	off := uint32(uintptr(p) - uintptr(h.pages.at(pool)))
	i = c.index(off)
	switch {
	case i >= c.objects:
		return 0, misuseOutside
	case off != i*c.size:
		return 0, fmt.Sprintf(misuseInside, off-i*c.size, c.size)
	case h.words(pool, c)[i/64]>>(i%64)&1 != 0:
		return 0, misuseFreed
	}
	return i, ""
}

func (h *Heap) putObject(pool uint32, e *entry, i uint32) {
	number := int(e.class)
	c, s := &classes[number], &h.supplies[number]
	if invariants.Enabled {
		invariants.Poison(unsafe.Slice((*byte)(unsafe.Add(h.pages.at(pool), int(i*c.size))), c.size))
	}
	h.words(pool, c)[i/64] |= 1 << (i % 64)
	e.first = min(e.first, uint16(i/64))
	if e.free++; e.free == 1 {
		h.listPool(number, pool, e)
	}
	s.free++
	h.live--
	h.inUse -= int(c.size)
	// The only pool with free objects stays, so that freeing and allocating an object in turn does not free
	// and make a pool each time.
	if uint32(e.free) == c.objects && s.first != 0 && (s.first != pool+1 || e.next != 0) {
		h.endPool(number, pool, e)
	}
}

// endPool frees a pool without live objects. It does nothing if the other pools of the class have fewer free
// objects than Grow has promised.
func (h *Heap) endPool(number int, pool uint32, e *entry) {
	c, s := &classes[number], &h.supplies[number]
	if s.free-int(c.objects) < s.promised {
		return
	}
	h.unlistPool(number, e)
	s.free -= int(c.objects)
	h.held -= int(c.pages) << h.pages.shift
	h.pages.free(pool, c.pages)
}

// endEmptyPools frees all pools without live objects, except pools whose objects Grow has promised.
func (h *Heap) endEmptyPools() {
	for number := range h.supplies {
		c := &classes[number]
		for next := h.supplies[number].first; next != 0; {
			pool := next - 1
			e := h.pages.entry(pool)
			next = e.next
			if uint32(e.free) == c.objects {
				h.endPool(number, pool, e)
			}
		}
	}
}
