package bulk

import (
	"fmt"

	"github.com/vastgo/vast/internal/generation"
)

// checkInvariants panics if the bookkeeping contradicts itself. No other goroutine may use the pool at the
// same time. Complexity: one step for each slot that has memory.
func (s *sharedSlots) checkInvariants() {
	fail := func(format string, args ...any) {
		panic("bulk: " + s.plan.name + ": broken invariant: " + fmt.Sprintf(format, args...))
	}
	room := uint(s.room.Load())
	if int(room) > s.plan.capacity || room > uint(s.elements.Committed()/s.plan.sizeElement) {
		fail("there is room for %d elements, but the capacity is %d and %d bytes are committed", room,
			s.plan.capacity, s.elements.Committed())
	}
	if s.announcements() != 0 {
		fail("slots are announced without a reader")
	}
	for i := uint(0); i < room; i += slotsPerWord {
		c := s.chunk(i)
		line, k := &c.lines[i/slotsPerLine%linesPerChunk], i/slotsPerWord%wordsPerLine
		w := c.word(i).Load()
		live, taken, ready := presenceOf(w), line.taken[k], line.ready[k]
		if line.owned.Load() != 0 {
			fail("the line of slot %d has an owner", i)
		}
		if live != 0 && i/slotsPerLine >= uint(s.frontier.Load()) {
			fail("slot %d is live, but only the first %d lines have ever had an owner", i, s.frontier.Load())
		}
		if reserved := line.reserved[k].Load(); reserved&ready != 0 || reserved&^s.usable(i) != 0 {
			fail("in the word of slot %d, slots %#x are ready and slots %#x are reserved", i, ready, reserved)
		}
		if ready&live != 0 || (ready|live)&^s.usable(i) != 0 {
			fail("in the word of slot %d, slots %#x are live, %#x are ready, and %#x have memory", i, live,
				ready, s.usable(i))
		}
		common := commonOf(w)
		if common != 0 && (live&^taken != 0 || ready&taken != 0 || !s.ours(common)) {
			fail("in the word of slot %d with generation %#x, slots %#x are live, %#x were taken, and %#x "+
				"are ready", i, common, live, taken, ready)
		}
		for b := range uint(slotsPerWord) {
			g, retired := common, line.retired[k].Load()>>b&1 != 0
			if g == 0 {
				own := c.own(i + b)
				if own == nil {
					if live != 0 {
						fail("slot %d has no generation", i+b)
					}
					break
				}
				g = own.Load()
				// A slot with a presence bit and no tag is parked: see Inserter.
				if tagged(g) && (live>>b&1 == 0 || !s.ours(g)) {
					fail("slot %d with presence bit %d has generation %#x", i+b, live>>b&1, g)
				}
			} else if taken>>b&1 == 0 {
				continue
			}
			if generation.Exhausted(g) != retired {
				fail("slot %d of generation %#x is retired: %t", i+b, g, retired)
			}
		}
	}
}

// ours reports whether a live slot may have generation g.
func (s *sharedSlots) ours(g uint32) bool {
	return generation.Count(g) != 0 && g == uint32(s.tag)|generation.Count(g)
}

// announcements returns the number of slots that readers announce (see readerCells). A slot that several
// readers announce counts several times.
func (s *sharedSlots) announcements() (n int) {
	for block := s.cells.Load(); block != nil; block = block.next.Load() {
		for i := range block.cells {
			if block.cells[i].slot.Load() != 0 {
				n++
			}
		}
	}
	return n
}
