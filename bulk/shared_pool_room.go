package bulk

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// Grow makes the next n insertions of all goroutines together unable to fail, by committing memory for them.
// If little other room is left, each [Inserter] takes one slot at a time, as Insert does, until it is certain
// that n insertions were made or there is more room. It panics when n is negative. Complexity: one step for
// each 32 slots.
//
// It returns an [*vm.Error] wrapping [vm.ErrCapacity] (Options.Capacity), [vm.ErrLimit] (Options.MaxBytes or
// Options.Limit) or another error of [vm.Region.Commit]; then the pool is unchanged.
func (p *SharedPool[T]) Grow(n int) error {
	s := &p.sharedSlots
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on %s: a number of elements is zero or more", n, s.plan.name))
	}
	s.mustBeOpen()
	s.mu.Lock()
	defer s.mu.Unlock()
	if n == 0 {
		return nil
	}
	next, before := new(sharedPromise), s.promise.Load()
	owed := int64(n)
	if before != nil {
		owed = max(owed, before.left.Load())
	}
	next.left.Store(owed)
	s.promise.Store(next) // without permits until the free slots are counted
	free, err := s.growFor(n)
	if err != nil {
		s.promise.Store(before)
		return err
	}
	next.permits.Add(max(0, (int64(free)-owed)/mostKept))
	return nil
}

// growFor makes room until n slots are free and returns the number of free slots. mu must be held.
func (s *sharedSlots) growFor(n int) (int, error) {
	room := int(s.room.Load())
	free := s.available()
	if n <= free {
		return free, nil
	}
	if n > s.plan.capacity-room+free {
		return free, s.plan.full(opGrow, n, room-free)
	}
	err := s.makeRoom(opGrow, room+n-free)
	return free + int(s.room.Load()) - room, err
}

// enlarge makes room for one more element, unless another goroutine has done so since the caller loaded seen
// from room.
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
	if err := s.makeRoom(opInsert, int(room)+1); err != nil {
		return err
	}
	if p := s.promise.Load(); p != nil {
		p.permits.Add(int64(s.room.Load()-room) / mostKept)
	}
	return nil
}

// makeRoom commits memory for need slots, which the capacity allows, and for more ahead. mu must be held.
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
		// Goroutines that hold the shorter array may go on using it: both arrays point to the same chunks.
		longer := append(make([]*sharedChunk, 0, n), s.directory...)
		for len(longer) < n {
			longer = append(longer, new(sharedChunk))
		}
		s.directory = longer
		atomic.StorePointer(&s.chunks, unsafe.Pointer(&longer[0]))
	}
	s.room.Store(uint64(after))
	s.offer.Store(offerUsually)
	// A line that the end of the room cut off has more slots now.
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

// live returns the number of elements.
func (s *sharedSlots) live() int {
	n := 0
	for i := uint(0); i < s.end(); i += slotsPerWord {
		n += bits.OnesCount32(s.chunk(i).live(i))
	}
	return n
}
