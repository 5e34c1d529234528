package bulk

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// Grow commits memory for n insertions: the next n insertions of all goroutines together cannot fail.
// Add 127 to n for each [Inserter] that inserts afterwards: it may keep up to 127 free slots that other
// goroutines cannot take. Grow panics if n is negative. Complexity: one step for each 32 slots.
//
// Grow returns a [*vm.Error] wrapping [vm.ErrCapacity] (Options.Capacity), [vm.ErrLimit] (Options.MaxBytes or
// Options.Limit) or another error of [vm.Region.Commit]; then the pool is unchanged.
func (p *SharedPool[T]) Grow(n int) error {
	s := &p.sharedSlots
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on %s: a number of elements is zero or more", n, s.plan.name))
	}
	s.mustBeOpen()
	s.mu.Lock()
	defer s.mu.Unlock()
	room := int(s.room.Load())
	free := s.available()
	if n <= free {
		return nil
	}
	if n > s.plan.capacity-room+free {
		return s.plan.full(opGrow, n, room-free)
	}
	return s.makeRoom(opGrow, room+n-free)
}

// enlarge makes room for one more element. seen is the value of room that the caller has loaded. If another
// goroutine has made room since, enlarge does nothing.
func (s *sharedSlots) enlarge(seen uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustBeOpen()
	room := s.room.Load()
	if room > seen {
		return nil
	}
	if int(room) >= s.plan.capacity {
		return s.plan.full(opInsert, 1, s.plan.capacity)
	}
	return s.makeRoom(opInsert, int(room)+1)
}

// makeRoom commits memory for at least need slots, and for more slots ahead if possible. need is at most the
// capacity. The caller must hold mu.
func (s *sharedSlots) makeRoom(op operation, need int) error {
	committed := s.elements.Committed()
	ahead := min(max(need, (committed+s.plan.stepFrom(committed))/s.plan.sizeElement), s.plan.capacity)
	err := op.commitAhead(need, ahead, func(n int) error { return s.elements.grow(n * s.plan.sizeElement) })
	if err != nil {
		return err
	}
	before, after := uint(s.room.Load()), uint(min(s.elements.Committed()/s.plan.sizeElement,
		s.plan.capacity))
	if n := int((after + slotsPerChunk - 1) / slotsPerChunk); n > len(s.directory) {
		// Other goroutines may continue to use the shorter directory: it points to the same chunks.
		longer := append(make([]*sharedChunk, 0, n), s.directory...)
		for len(longer) < n {
			longer = append(longer, new(sharedChunk))
		}
		s.directory = longer
		atomic.StorePointer(&s.chunks, unsafe.Pointer(&longer[0]))
	}
	s.room.Store(uint64(after))
	s.offer.Store(offerUsually)
	// A line has slotsPerLine slots. The line at the old end of the memory has more usable slots now.
	if l := before / slotsPerLine; before%slotsPerLine != 0 && uint64(l) < s.frontier.Load() {
		s.list(s.chunk(before), l)
	}
	return nil
}

// available returns the number of slots with memory that any goroutine can take.
func (s *sharedSlots) available() (n int) {
	room := uint(s.room.Load())
	for i := uint(0); i < room; i += slotsPerWord {
		c := s.chunk(i)
		reserved := c.lines[i/slotsPerLine%linesPerChunk].reserved[i/slotsPerWord%wordsPerLine].Load()
		n += bits.OnesCount32(s.free(c, i) &^ reserved)
	}
	return n
}

func (s *sharedSlots) live() int {
	n := 0
	for i := uint(0); i < s.end(); i += slotsPerWord {
		n += bits.OnesCount32(s.chunk(i).live(i))
	}
	return n
}
