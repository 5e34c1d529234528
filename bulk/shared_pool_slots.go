package bulk

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// sharedSlots is the part of a [SharedPool] that does not depend on the type of its elements. File
// shared_pool_words.go explains words, lines and chunks.
type sharedSlots struct {
	// The fields up to poison seldom change, so that the cache lines that look-ups read stay valid.
	room   atomic.Uint64  // number of slots that have memory
	chunks unsafe.Pointer // &directory[0], for atomic loads
	tag    generation.Mark
	offer  atomic.Uint32               // offerUsually or offerTight
	cells  atomic.Pointer[readerCells] // announcements
	ended  error                       // the panic after Close
	poison func(uint)                  // overwrites a free slot; nil without the build tag invariants

	_        [bytesLine]byte
	frontier atomic.Uint64 // the first line that never had an owner

	_       [bytesLine]byte
	summary []atomic.Uint64 // a bit for each chunk that may have listed lines

	mu        sync.Mutex // held while the room grows
	directory []*sharedChunk
	elements  denseSpan
	region    *vm.Region
	plan      plan
}

const (
	// A word gives slots while it has at most offerUsually elements. A fuller word has too few free slots:
	// finding the word costs as much as several insertions. A removal that leaves exactly offerUsually
	// elements in a word puts the word's line on the list: see sharedSlots.list.
	offerUsually = slotsPerWord * 3 / 4
	// With offerTight, all words give their free slots, and each removal lists its line. offer becomes
	// offerTight when no more memory can be committed.
	offerTight = slotsPerWord
)

// chunk returns the chunk of slot i. The caller must have loaded a value of room above i before: makeRoom
// stores the longer directory first, and the larger room afterwards.
func (s *sharedSlots) chunk(i uint) *sharedChunk {
	first := atomic.LoadPointer(&s.chunks)
	return *(**sharedChunk)(unsafe.Add(first, i/slotsPerChunk*uint(unsafe.Sizeof(first))))
}

// taking is the result of trying to take a slot.
type taking int

const (
	tookSlot taking = iota
	lineBusy        // another goroutine owns the line
	lineFull        // the line has no slot to take
)

// take takes a free slot of a line. If take succeeds, the caller owns the line and must call release.
func (s *sharedSlots) take(l uint) (uint, taking) {
	_, line, i, result := s.own(l)
	if result != tookSlot {
		return 0, result
	}
	k := i / slotsPerWord % wordsPerLine
	ready := line.ready[k]
	line.ready[k] = ready & (ready - 1)
	line.taken[k] |= ready & -ready
	return i + uint(bits.TrailingZeros32(ready)), tookSlot
}

// reserve takes the free slots of a line's next word. It returns the word's first slot and the taken slots.
// If the word has no common generation, the taken slots are parked: the caller owns them until it publishes
// or unparks them. Otherwise they are reserved: the caller owns them until it calls unreserve.
func (s *sharedSlots) reserve(l uint) (i uint, slots uint32, parked bool, result taking) {
	c, line, i, result := s.own(l)
	if result != tookSlot {
		return 0, 0, false, result
	}
	k, w := i/slotsPerWord%wordsPerLine, c.word(i)
	slots = line.ready[k]
	line.ready[k] = 0
	line.taken[k] |= slots
	if parked = commonOf(w.Load()) == 0; parked {
		w.Or(uint64(slots))
	} else {
		line.reserved[k].Or(slots)
	}
	c.release(i)
	return i, slots, parked, tookSlot
}

// park takes the free slots of the word that begins with slot i. It takes none if the word has a common
// generation, or if another goroutine owns the line. The caller owns the slots until it publishes or unparks
// them.
func (s *sharedSlots) park(c *sharedChunk, i uint) (slots uint32) {
	line, k, w := &c.lines[i/slotsPerLine%linesPerChunk], i/slotsPerWord%wordsPerLine, c.word(i)
	if !line.owned.CompareAndSwap(0, 1) {
		return 0
	}
	if (line.ready[k] != 0 || s.prepare(c, line, i)) && commonOf(w.Load()) == 0 {
		slots = line.ready[k]
		line.ready[k] = 0
		line.taken[k] |= slots
		w.Or(uint64(slots))
	}
	c.release(i)
	return slots
}

// unreserve ends a reservation. Slots that were not published are free again.
func (c *sharedChunk) unreserve(i uint, slots uint32) {
	c.lines[i/slotsPerLine%linesPerChunk].reserved[i/slotsPerWord%wordsPerLine].And(^slots)
}

// own makes the caller the owner of line l. It returns the chunk of the line, the line, and the first slot of
// the line's next word with ready slots.
func (s *sharedSlots) own(l uint) (*sharedChunk, *sharedLine, uint, taking) {
	if uint64(l)*slotsPerLine >= s.room.Load() {
		return nil, nil, 0, lineFull // only after Close
	}
	c := s.chunk(l * slotsPerLine)
	line := &c.lines[l%linesPerChunk]
	if !line.owned.CompareAndSwap(0, 1) {
		return nil, nil, 0, lineBusy
	}
	for range wordsPerLine {
		k := line.next
		i := l*slotsPerLine + uint(k)*slotsPerWord
		if line.ready[k] != 0 || s.prepare(c, line, i) {
			return c, line, i, tookSlot
		}
		line.next = (k + 1) % wordsPerLine
	}
	line.owned.Store(0)
	return nil, nil, 0, lineFull
}

func (c *sharedChunk) release(i uint) { c.lines[i/slotsPerLine%linesPerChunk].owned.Store(0) }

// prepare makes free slots of the word that begins with slot i ready, and reports whether it made any ready.
// No reader copies from a ready slot: prepare has seen no announcement after the removal, and a reader that
// announces the slot later finds the element removed.
//
//go:noinline
func (s *sharedSlots) prepare(c *sharedChunk, line *sharedLine, i uint) bool {
	k, w := i/slotsPerWord%wordsPerLine, c.word(i)
	reserved := line.reserved[k].Load()
	free := s.free(c, i) &^ reserved
	if free != 0 {
		free &^= s.announced(i)
	}
	few := bits.OnesCount32(free) < slotsPerWord-offerUsually && s.usable(i) == 1<<slotsPerWord-1
	if free == 0 || few && s.offer.Load() != offerTight {
		return false
	}
	if presenceOf(w.Load()) == 0 && reserved == 0 {
		c.renew(line, i, s.tag)
	}
	if common := commonOf(w.Load()); common != 0 {
		fresh := free &^ line.taken[k]
		switch {
		case fresh != 0:
			free = fresh
		case generation.Exhausted(common):
			// The slots were reserved and not filled, and their generation has no next count.
			line.retired[k].Or(free)
			return false
		default:
			c.separate(line, i)
		}
	}
	if invariants.Enabled {
		for m := free; m != 0; m &= m - 1 {
			s.poison(i + uint(bits.TrailingZeros32(m)))
		}
	}
	line.ready[k] = free
	return true
}

// free looks at the word that begins with slot i. It returns the slots of this word that have memory, hold no
// element and are not retired. Inserters may have reserved some of them.
func (s *sharedSlots) free(c *sharedChunk, i uint) uint32 {
	retired := c.lines[i/slotsPerLine%linesPerChunk].retired[i/slotsPerWord%wordsPerLine].Load()
	return ^presenceOf(c.word(i).Load()) & s.usable(i) &^ retired
}

// usable returns the slots that have memory, in the word that begins with slot i.
func (s *sharedSlots) usable(i uint) uint32 {
	room := s.room.Load()
	return uint32(uint64(1)<<min(room-min(uint64(i), room), slotsPerWord) - 1)
}

// removed lists the line of slot i after a removal that leaves no element in the word, or exactly s.offer
// elements. With offerTight, it lists the line after each removal. left has the word's presence bits after
// the removal.
func (s *sharedSlots) removed(c *sharedChunk, i uint, left uint32) {
	n, offer := uint32(bits.OnesCount32(left)), s.offer.Load()
	if n == offer || n == 0 || offer == offerTight {
		s.list(c, i/slotsPerLine)
	}
}

// list marks line l, which lies in chunk c, as a line with free slots.
//
// A listed line has a bit in its chunk, and the chunk has a bit in the summary. A goroutine that lists a line
// first sets the line's bit and then reads the chunk's bit. A goroutine that clears the chunk's bit reads the
// lines' bits afterwards. So at least one of the two goroutines sets the chunk's bit again.
func (s *sharedSlots) list(c *sharedChunk, l uint) {
	if bit := uint64(1) << (l % linesPerChunk); c.listed.Load()&bit == 0 {
		c.listed.Or(bit)
	}
	s.mark(l / linesPerChunk)
}

func (s *sharedSlots) mark(chunk uint) {
	if w, bit := &s.summary[chunk/64], uint64(1)<<(chunk%64); w.Load()&bit == 0 {
		w.Or(bit)
	}
}

// adopt takes the lowest listed line off the list and reports whether there was one. Only one goroutine gets
// the line.
func (s *sharedSlots) adopt() (uint, bool) {
	for g := range s.summary {
		for m := s.summary[g].Load(); m != 0; m &= m - 1 {
			chunk := uint(g*64 + bits.TrailingZeros64(m))
			c := s.chunk(chunk * slotsPerChunk)
			for listed := c.listed.Load(); listed != 0; listed = c.listed.Load() {
				bit := listed & -listed
				if c.listed.And(^bit)&bit != 0 {
					return chunk*linesPerChunk + uint(bits.TrailingZeros64(bit)), true
				}
			}
			s.summary[g].And(^(m & -m))
			if c.listed.Load() != 0 {
				s.mark(chunk)
			}
		}
	}
	return 0, false
}

// advance takes the first line that never had an owner. It returns false if that line has no memory.
func (s *sharedSlots) advance() (uint, bool) {
	for {
		l := s.frontier.Load()
		if l*slotsPerLine >= s.room.Load() {
			return 0, false
		}
		if s.frontier.CompareAndSwap(l, l+1) {
			return uint(l), true
		}
	}
}

// search returns a line from which slots may be taken. If there is no such line, search makes room, or
// returns the error.
//
//go:noinline
func (s *sharedSlots) search() (uint, error) {
	for {
		s.mustBeOpen()
		room := s.room.Load()
		if l, ok := s.adopt(); ok {
			return l, nil
		}
		if l, ok := s.advance(); ok {
			return l, nil
		}
		err := s.enlarge(room)
		if err == nil {
			continue
		}
		if !s.listHoles() {
			return 0, err
		}
		// Let other goroutines run: one may own the listed lines, or readers may have announced free slots.
		runtime.Gosched()
	}
}

// listHoles lists all lines with free slots and reports whether there is one. From then on every removal
// lists its line, until memory is committed or the pool is cleared.
func (s *sharedSlots) listHoles() (found bool) {
	s.offer.Store(offerTight)
	for l := range s.frontier.Load() {
		i := uint(l) * slotsPerLine
		c := s.chunk(i)
		line := &c.lines[l%linesPerChunk]
		for k := range uint(wordsPerLine) {
			if s.free(c, i+k*slotsPerWord)&^line.reserved[k].Load() != 0 {
				s.list(c, uint(l))
				found = true
				break
			}
		}
	}
	return found
}

func (s *sharedSlots) mustBeOpen() {
	if s.ended != nil {
		panic(s.ended)
	}
}
