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

// sharedSlots is a [SharedPool] without its elements: the words, the lines that wait for an owner, and the
// room.
type sharedSlots struct {
	// Look-ups read some of the fields up to poison. All of these fields seldom change, so that their cache
	// lines stay valid.
	room   atomic.Uint64  // slots that have memory
	chunks unsafe.Pointer // the first entry of directory; the method chunk reads it
	tag    generation.Mark
	offer  atomic.Uint32 // a line is listed when a removal leaves this many elements in one of its words
	cells  atomic.Pointer[readerCells]
	ended  error      // the panic after Close
	poison func(uint) // overwrites a slot without an element; nil without the build tag invariants

	_        [bytesLine]byte
	frontier atomic.Uint64 // the number of the first line that has never had an owner

	_       [bytesLine]byte
	summary []atomic.Uint64 // a bit for each chunk that may have listed lines

	mu        sync.Mutex // held while the room grows
	directory []*sharedChunk
	elements  denseSpan
	region    *vm.Region
	plan      plan
}

const (
	// With offerUsually, a line is listed when a removal leaves this number of elements in one of its words,
	// and slots are taken only from words with at most this number of elements. Finding a word costs as much
	// as several insertions, so a word should give several slots.
	offerUsually = slotsPerWord * 3 / 4
	// With offerTight, each removal lists its line, and each free slot can be taken. offer becomes offerTight
	// when only holes are left.
	offerTight = slotsPerWord
)

// chunk returns the chunk of slot i. The caller must have loaded a value of room above i before. makeRoom
// stores the pointer to a longer array before it stores the larger room, and the longer array points to the
// same chunks.
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
	_, line, i, came := s.own(l)
	if came != tookSlot {
		return 0, came
	}
	k := i / slotsPerWord % wordsPerLine
	ready := line.ready[k]
	line.ready[k] = ready & (ready - 1)
	line.taken[k] |= ready & -ready
	return i + uint(bits.TrailingZeros32(ready)), tookSlot
}

// reserve takes all slots of a line's next word that can be taken, and returns the word's first slot and the
// taken slots. If the word's slots have generations of their own, the taken slots are parked: the caller owns
// them until it publishes or unparks them. Otherwise the caller owns them until it calls unreserve.
func (s *sharedSlots) reserve(l uint) (i uint, slots uint32, parked bool, came taking) {
	c, line, i, came := s.own(l)
	if came != tookSlot {
		return 0, 0, false, came
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

// park takes all slots of the word from slot i on that can be taken. park takes no slots if the word keeps a
// common generation, or if another goroutine owns the line. The caller owns the slots until it publishes or
// unparks them.
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

// own makes the caller the owner of a line. It returns the line's chunk, the line, and the first slot of the
// line's next word with ready slots.
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

// release gives up the line of slot i.
func (c *sharedChunk) release(i uint) { c.lines[i/slotsPerLine%linesPerChunk].owned.Store(0) }

// prepare finds the slots of the word from slot i on that can be taken, and reports whether there are any.
// These slots stay ready until an owner of the line takes them: prepare saw no announcement after the
// removals, and a reader that announces a slot later finds its element removed.
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
			// These slots were reserved and not filled, and their generation has no next count.
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

// free returns the slots of the word from slot i on that have memory, hold no element and are not retired.
// Inserters may have reserved some of them.
func (s *sharedSlots) free(c *sharedChunk, i uint) uint32 {
	retired := c.lines[i/slotsPerLine%linesPerChunk].retired[i/slotsPerWord%wordsPerLine].Load()
	return ^presenceOf(c.word(i).Load()) & s.usable(i) &^ retired
}

// usable returns the slots of the word from slot i on that have memory.
func (s *sharedSlots) usable(i uint) uint32 {
	room := s.room.Load()
	return uint32(uint64(1)<<min(room-min(uint64(i), room), slotsPerWord) - 1)
}

// removed lists the line of slot i if a removal has made enough slots of the word free. left has the presence
// bits of the slot's word after the removal.
func (s *sharedSlots) removed(c *sharedChunk, i uint, left uint32) {
	n, offer := uint32(bits.OnesCount32(left)), s.offer.Load()
	if n == offer || n == 0 || offer == offerTight {
		s.list(c, i/slotsPerLine)
	}
}

// list marks line l of chunk c as a line with free slots.
//
// Listing and adopting set and clear bits at two levels. A goroutine that clears a bit of the summary checks
// afterwards whether a line was listed meanwhile. A goroutine that lists a line checks the summary
// afterwards. So one of these two goroutines sets the bit again.
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

// adopt takes the lowest line off the list and reports whether there was one. Only one goroutine gets each
// line.
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

// advance takes the next line that never had an owner and reports whether it has memory.
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
		// Another goroutine may own the listed lines for a moment, or a reader may announce their slots.
		runtime.Gosched()
	}
}

// listHoles lists all lines with slots that can be taken and reports whether there is one. Every later
// removal lists its line, until memory is committed or the pool is cleared.
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
