package heap

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// checkInvariants panics if the heap is inconsistent, in builds that check invariants. The caller holds the
// lock.
func (h *Heap) checkInvariants() {
	// A larger heap takes too long to check after each change.
	if invariants.Enabled && h.pages.top < 1<<10 && h.rooms.top < 1<<10 {
		h.check()
	}
}

// mustBeFree panics if memory was written between its release and this allocation.
func (h *Heap) mustBeFree(p unsafe.Pointer, n int) {
	invariants.MustBeFree(unsafe.Slice((*byte)(p), n),
		func() string { return fmt.Sprintf("heap: the memory at %p on %s", p, h.name) })
}

func (h *Heap) check() {
	var live, inUse, held, kept int
	listed := make([]int, len(classes)) // pools with free objects, by class
	free := make([]int, len(classes))   // free objects, by class
	h.pages.check(func(at uint32, e *entry) {
		switch e.kind {
		case kindKept:
			kept += int(e.units)
		case kindBlock:
			live++
			inUse += int(e.units) << h.pages.shift
			held += int(e.units) << h.pages.shift
		case kindPool:
			c := &classes[e.class]
			freeHere := 0
			for w, word := range h.words(at, c) {
				if word != 0 && w < int(e.first) {
					panic(fmt.Sprintf("heap: word %d of the pool at page %d has free objects, but the entry "+
						"says that word %d is the first", w, at, e.first))
				}
				freeHere += bits.OnesCount64(word)
			}
			if freeHere != int(e.free) || e.units != c.pages {
				panic(fmt.Sprintf("heap: the pool at page %d has %d pages, want %d; its entry counts %d "+
					"free objects, its bits count %d", at, e.units, c.pages, e.free, freeHere))
			}
			for i := uint32(1); i < e.units; i++ {
				if t := h.pages.entry(at + i); t.kind != kindTail || t.head != at {
					panic(fmt.Sprintf("heap: page %d of the pool at page %d has head %d", i, at, t.head))
				}
			}
			used := int(c.objects) - freeHere
			live += used
			inUse += used * int(c.size)
			held += int(c.pages) << h.pages.shift
			free[e.class] += freeHere
			if freeHere > 0 {
				listed[e.class]++
			}
		}
	})
	h.rooms.check(func(at uint32, e *entry) {
		if e.pages == 0 || int(e.pages)*h.rooms.page > int(e.units)*h.rooms.unit {
			panic(fmt.Sprintf("heap: the room at unit %d has %d units, but %d committed pages", at, e.units,
				e.pages))
		}
		live++
		inUse += int(e.pages) * h.rooms.page
		held += int(e.pages) * h.rooms.page
	})
	if live != h.live || inUse != h.inUse || held != h.held || kept != h.pages.pagesKept {
		panic(fmt.Sprintf("heap: the counters are %d allocations, %d bytes in use, %d bytes held and %d "+
			"pages kept; want %d, %d, %d and %d",
			h.live, h.inUse, h.held, h.pages.pagesKept, live, inUse, held, kept))
	}
	for number := range h.supplies {
		s := &h.supplies[number]
		for i, prev := s.first, uint32(0); i != 0; listed[number]-- {
			e := h.pages.entry(i - 1)
			if e.kind != kindPool || int(e.class) != number || e.free == 0 || e.prev != prev {
				panic(fmt.Sprintf("heap: page %d is in the list of pools of class %d with free objects, but "+
					"it does not begin such a pool, or it is linked wrongly", i-1, number))
			}
			i, prev = e.next, i
		}
		if listed[number] != 0 || s.free != free[number] || s.promised > s.free {
			panic(fmt.Sprintf("heap: class %d counts %d free and %d promised objects, but %d objects are "+
				"free, and its list lacks %d pools", number, s.free, s.promised, free[number],
				listed[number]))
		}
	}
	meta := h.pages.meta.Committed() + h.rooms.meta.Committed()
	if have, least := h.region.Committed(), meta+held+kept<<h.pages.shift; have < least {
		panic(fmt.Sprintf("heap: %d bytes are committed, want at least %d", have, least))
	}
}
