package bulk

import (
	"math/bits"
	"sync/atomic"

	"github.com/vastgo/vast/internal/generation"
)

// The words of a shared pool hold the presence bits and the generations of its slots. The words lie on Go's
// heap in every build, because they synchronize goroutines, and the race detector sees atomic operations only
// on Go's heap.
//
// A word holds two things that must change together. Its low half has a presence bit for each of 32 slots.
// Its high half has the common generation of these slots, or 0 if each slot has its own. With a common
// generation, one load is enough to test a handle, and one compare-and-swap removes its element. The tag of a
// generation is the mark of the pool in its high 8 bits.
//
// While the generation is common, each slot is taken at most once. If a slot must be taken again while others
// of its word live, each slot of the word gets a generation of its own: the slots are apart. When all
// elements of the word are removed, the slots get a common generation again, greater than all generations
// that they had. Hence:
//
//   - Whenever a word has the same common generation and the same presence bits, it has the same elements. So
//     a compare-and-swap, which always expects a common generation, never hits another element.
//   - A slot's generation never falls. Suppose that a reader first sees in the word that the slots are apart,
//     and then finds its handle's generation as the slot's own generation. Then the element was live, no
//     matter whether a writer changes the word or the slot's own generation first: see holds.
//
// If the slots are apart, the tag of a slot's own generation decides whether the slot is live. A goroutine
// that removes the element first removes this tag; only one goroutine can succeed. The goroutine clears the
// presence bit afterwards, so that no other goroutine takes the slot too early. An [Inserter] leaves the bit
// set: then the slot is parked, and only that inserter takes the slot.
//
// A line is eight words on one cache line. Only the owner of a line takes its slots, and a line has one owner
// at a time.

const (
	slotsPerWord  = 32
	wordsPerLine  = 8
	slotsPerLine  = wordsPerLine * slotsPerWord
	linesPerChunk = 64
	slotsPerChunk = linesPerChunk * slotsPerLine
	wordsPerChunk = linesPerChunk * wordsPerLine
)

// sharedChunk is the unit of allocation.
type sharedChunk struct {
	// apart has the generations of slots whose words have no common generation. The generation of a slot that
	// is not live has no tag. apart is nil until the first word needs it.
	apart  atomic.Pointer[[slotsPerChunk]atomic.Uint32]
	_      [2*bytesLine - 8]byte
	listed atomic.Uint64 // the lines with free slots that wait for an owner
	_      [2*bytesLine - 8]byte
	lines  [linesPerChunk]sharedLine
	words  [wordsPerChunk]atomic.Uint64
}

// sharedLine is the state for taking slots of a line. Its arrays have an entry for each word of the line. A
// sharedLine is larger than two cache lines, so that owners of neighbouring lines do not disturb each other.
type sharedLine struct {
	// owned is 1 while a goroutine owns the line. Then only that goroutine uses next, ready and taken.
	owned    atomic.Uint32
	next     uint32                      // the word from which slots are taken
	ready    [wordsPerLine]uint32        // slots that can be taken
	taken    [wordsPerLine]uint32        // slots that were taken since the word got its common generation
	retired  [wordsPerLine]atomic.Uint32 // slots whose generations have no next count
	reserved [wordsPerLine]atomic.Uint32 // slots that inserters have reserved
	_        [3*bytesLine - 8 - 4*4*wordsPerLine]byte
}

// presenceOf and commonOf return the halves of a word.

func presenceOf(w uint64) uint32 { return uint32(w) }

func commonOf(w uint64) uint32 { return uint32(w >> 32) }

func sharedWord(common, presence uint32) uint64 { return uint64(common)<<32 | uint64(presence) }

// word returns the word of slot i.
func (c *sharedChunk) word(i uint) *atomic.Uint64 { return &c.words[i/slotsPerWord%wordsPerChunk] }

// own returns the address of slot i's own generation, or nil if no slot of the chunk has one.
func (c *sharedChunk) own(i uint) *atomic.Uint32 {
	if all := c.apart.Load(); all != nil {
		return &all[i%slotsPerChunk]
	}
	return nil
}

// live returns the slots of the word from slot i on that hold elements. It may run while other goroutines
// change the pool: it returns the slot of each element that lives throughout the call.
func (c *sharedChunk) live(i uint) uint32 {
	w := c.word(i).Load()
	live := presenceOf(w)
	if commonOf(w) != 0 {
		return live
	}
	for m := live; m != 0; m &= m - 1 {
		if s := uint(bits.TrailingZeros32(m)); !tagged(c.own(i + s).Load()) {
			live &^= 1 << s // parked, or between two states
		}
	}
	return live
}

// retire notes that slot i is taken for the last time. The caller must call retire before the element can be
// removed.
func (c *sharedChunk) retire(i uint) {
	c.lines[i/slotsPerLine%linesPerChunk].retired[i/slotsPerWord%wordsPerLine].Or(1 << (i % slotsPerWord))
}

// tagged reports whether a generation has a tag. The generations of live slots and of a pool's handles have a
// tag.
func tagged(g uint32) bool { return g > generation.MaxCount }

// holds reports whether the element of the handle (i, g) is live. c is the chunk of slot i. holds may run
// while other goroutines change the pool.
//
// The handle exists, so the slot has generation g or a later one. The common generation is read together with
// the presence bit. A slot's own generation is read after the word has shown that the slots are apart. So the
// own generation is g or later, and equals g only while the element lives.
func (c *sharedChunk) holds(i uint, g uint32) bool {
	w := c.word(i).Load()
	if commonOf(w) == g {
		return w>>(i%slotsPerWord)&1 != 0 && tagged(g)
	}
	return commonOf(w) == 0 && c.holdsApart(i, g)
}

// holdsApart is holds for a word whose slots have no common generation.
func (c *sharedChunk) holdsApart(i uint, g uint32) bool {
	own := c.own(i)
	return own != nil && own.Load() == g && tagged(g)
}

// remove removes the element of the handle (i, g) from the words. It returns the presence bits of the word
// after the removal, and whether there was an element. It may run while other goroutines change the pool.
func (c *sharedChunk) remove(i uint, g uint32) (left uint32, ok bool) {
	if !tagged(g) {
		return 0, false
	}
	w, bit := c.word(i), uint64(1)<<(i%slotsPerWord)
	before := w.Load()
	for commonOf(before) == g {
		if before&bit == 0 {
			return 0, false
		}
		if w.CompareAndSwap(before, before&^bit) {
			return presenceOf(before &^ bit), true
		}
		before = w.Load()
	}
	if commonOf(before) != 0 {
		return 0, false
	}
	own := c.own(i)
	if own == nil || !own.CompareAndSwap(g, generation.Count(g)) {
		return 0, false
	}
	w.And(^bit)
	return presenceOf(w.Load()), true // without bits that other goroutines have cleared since
}

// publish makes slot i live and returns its generation. The caller has taken the slot and must have written
// the element. The atomic operations of publish order that write before the loads of goroutines that find the
// element live.
func (c *sharedChunk) publish(i uint, tag generation.Mark) uint32 {
	w, bit := c.word(i), uint64(1)<<(i%slotsPerWord)
	for {
		before := w.Load()
		g := commonOf(before)
		if g == 0 {
			// The bit comes first: once the generation has a tag, another goroutine may remove the element
			// and clear the bit.
			own := c.own(i)
			g = generation.Next(own.Load(), tag)
			if generation.Exhausted(g) {
				c.retire(i)
			}
			w.Or(bit)
			own.Store(g)
			return g
		}
		if generation.Exhausted(g) {
			c.retire(i)
		}
		if w.CompareAndSwap(before, before|bit) {
			return g
		}
	}
}

// renew gives the slots of the word from slot i on a common generation that is greater than all generations
// that they had. No slot of the word may be live or reserved. renew does nothing if some slots can still be
// taken with the old common generation, if a slot would skip many counts, or if there is no next count. The
// caller must own the line.
func (c *sharedChunk) renew(line *sharedLine, i uint, tag generation.Mark) {
	k, w := i/slotsPerWord%wordsPerLine, c.word(i)
	last := commonOf(w.Load())
	if last != 0 {
		if line.taken[k] != 1<<slotsPerWord-1 {
			return
		}
	} else if own := c.apart.Load(); own != nil {
		first := uint32(generation.MaxCount)
		for s := range uint(slotsPerWord) {
			count := own[(i+s)%slotsPerChunk].Load()
			first, last = min(first, count), max(last, count)
		}
		if last-first >= maxSkipped {
			return
		}
	}
	if generation.Exhausted(last) {
		return
	}
	line.taken[k] = 0
	w.Store(sharedWord(generation.Next(last, tag), 0))
}

// separate gives each slot of the word from slot i on a generation of its own. The caller must own the line.
// Other goroutines may remove elements and publish reserved slots meanwhile.
func (c *sharedChunk) separate(line *sharedLine, i uint) {
	own := c.apart.Load()
	if own == nil {
		// Another owner may do the same for its line.
		c.apart.CompareAndSwap(nil, new([slotsPerChunk]atomic.Uint32))
		own = c.apart.Load()
	}
	k, w := i/slotsPerWord%wordsPerLine, c.word(i)
	for before := w.Load(); ; before = w.Load() {
		g := commonOf(before)
		for s := range uint(slotsPerWord) {
			count := generation.Count(g)
			if line.taken[k]>>s&1 == 0 {
				count-- // the slot gets g when it is taken next
			}
			if before>>s&1 != 0 {
				count = g
			}
			own[(i+s)%slotsPerChunk].Store(count)
		}
		if w.CompareAndSwap(before, sharedWord(0, presenceOf(before))) {
			return
		}
	}
}
