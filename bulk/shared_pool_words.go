package bulk

import (
	"math/bits"
	"sync/atomic"

	"github.com/vastgo/vast/internal/generation"
)

// The words of a shared pool hold the presence bits and the common generations of the slots. The words lie on
// Go's heap in every build, because the race detector sees atomic operations only on Go's heap.
//
// The low half of a word has a presence bit for each of 32 slots. The high half has the common generation of
// these slots. If each slot has a generation of its own, the high half is 0, and the slots are called apart.
// With a common generation, one load tests a handle, and one compare-and-swap removes an element.
//
// The high 8 bits of a generation are its tag: the mark of the pool, or 0 for no tag.
//
// A slot is taken at most once with the same common generation. If a slot must be taken again while other
// slots of its word have live elements, each slot of the word gets a generation of its own. When the word has
// no elements, its slots can get a common generation again, which is greater than all their earlier
// generations. Hence:
//
//   - The common generation and the presence bits of a word together identify its elements. A
//     compare-and-swap of a word always expects a common generation. So it never changes the word for a later
//     element in the same slot.
//   - A slot never gets the generation of an earlier element again. [sharedChunk.holds] relies on this.
//
// If the slots are apart, a slot is live while its own generation has a tag. To remove the element, a
// goroutine first removes the tag from the generation; only one goroutine can succeed. Then it clears the
// presence bit. In the reverse order, another goroutine could take the slot too early. An [Inserter] that
// removes an element may leave the presence bit set: then the slot is parked, and only that inserter takes
// the slot.
//
// A line is eight words on one cache line. A line has at most one owner, and only the owner takes free slots
// of the line.

const (
	slotsPerWord  = 32
	wordsPerLine  = 8
	slotsPerLine  = wordsPerLine * slotsPerWord
	linesPerChunk = 64
	slotsPerChunk = linesPerChunk * slotsPerLine
	wordsPerChunk = linesPerChunk * wordsPerLine
)

// sharedChunk holds 512 words with their lines. The pool allocates whole chunks.
type sharedChunk struct {
	// apart has the slots' own generations, for words without a common generation. Such a generation has a
	// tag while its slot is live. apart is nil until the first word needs it.
	apart  atomic.Pointer[[slotsPerChunk]atomic.Uint32]
	_      [2*bytesLine - 8]byte
	listed atomic.Uint64 // a bit for each line with free slots that waits for an owner
	_      [2*bytesLine - 8]byte
	lines  [linesPerChunk]sharedLine
	words  [wordsPerChunk]atomic.Uint64
}

// sharedLine is the state for taking slots of a line. Each array has one mask of slots for each word of the
// line. The padding puts the fields of neighbouring lines on different cache lines.
type sharedLine struct {
	// owned is 1 while a goroutine owns the line. Only the owner uses next, ready and taken.
	owned    atomic.Uint32
	next     uint32                      // index of the word from which slots are taken
	ready    [wordsPerLine]uint32        // slots that can be taken
	taken    [wordsPerLine]uint32        // slots that were taken since the word got its common generation
	retired  [wordsPerLine]atomic.Uint32 // slots whose generation has the greatest count
	reserved [wordsPerLine]atomic.Uint32 // slots that inserters have reserved
	_        [3*bytesLine - 8 - 4*4*wordsPerLine]byte
}

func presenceOf(w uint64) uint32 { return uint32(w) }

func commonOf(w uint64) uint32 { return uint32(w >> 32) }

func sharedWord(common, presence uint32) uint64 { return uint64(common)<<32 | uint64(presence) }

func (c *sharedChunk) word(i uint) *atomic.Uint64 { return &c.words[i/slotsPerWord%wordsPerChunk] }

// own returns the address of slot i's own generation, or nil if the chunk has no own generations.
func (c *sharedChunk) own(i uint) *atomic.Uint32 {
	if all := c.apart.Load(); all != nil {
		return &all[i%slotsPerChunk]
	}
	return nil
}

// live returns a mask of the live slots of the word that begins with slot i. Other goroutines may change the
// pool during the call. The result has each element that lives throughout the call.
func (c *sharedChunk) live(i uint) uint32 {
	w := c.word(i).Load()
	live := presenceOf(w)
	if commonOf(w) != 0 {
		return live
	}
	for m := live; m != 0; m &= m - 1 {
		if s := uint(bits.TrailingZeros32(m)); !tagged(c.own(i + s).Load()) {
			live &^= 1 << s // parked, or being inserted or removed
		}
	}
	return live
}

// retire notes that slot i is taken for the last time. The caller must call retire before any goroutine can
// remove the element.
func (c *sharedChunk) retire(i uint) {
	c.lines[i/slotsPerLine%linesPerChunk].retired[i/slotsPerWord%wordsPerLine].Or(1 << (i % slotsPerWord))
}

func tagged(g uint32) bool { return g > generation.MaxCount }

// holds reports whether the element of the handle (i, g) is live. c is the chunk of slot i. Other goroutines
// may change the pool during the call.
//
// The handle exists, so the slot's generation is g or a later one. A common generation is loaded together
// with the presence bit. An own generation is loaded after the word has shown that the slots are apart. So
// the own generation is g or a later one, and equals g only while the element lives.
func (c *sharedChunk) holds(i uint, g uint32) bool {
	w := c.word(i).Load()
	if commonOf(w) == g {
		return w>>(i%slotsPerWord)&1 != 0 && tagged(g)
	}
	return commonOf(w) == 0 && c.holdsApart(i, g)
}

// holdsApart does the same as holds, for a word without a common generation.
func (c *sharedChunk) holdsApart(i uint, g uint32) bool {
	own := c.own(i)
	return own != nil && own.Load() == g && tagged(g)
}

// remove removes the element of the handle (i, g) from the words, and reports whether the element was live.
// left has the presence bits of the word after the removal. Other goroutines may change the pool during the
// call.
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
	return presenceOf(w.Load()), true
}

// publish makes slot i live and returns its generation. The caller must have taken the slot and written the
// element. That write happens before the loads of each goroutine that finds the element live.
func (c *sharedChunk) publish(i uint, tag generation.Mark) uint32 {
	w, bit := c.word(i), uint64(1)<<(i%slotsPerWord)
	for {
		before := w.Load()
		g := commonOf(before)
		if g == 0 {
			// Set the bit first: as soon as the generation has a tag, another goroutine may remove the
			// element and clear the bit.
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

// renew gives the slots of the word that begins with slot i a common generation, greater than all generations
// that they had. No slot of the word may be live or reserved. The caller must own the line.
//
// renew does nothing in three cases: a slot can still be taken with the old common generation, a slot would
// skip too many counts, or there is no greater count.
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

// separate gives each slot of the word that begins with slot i a generation of its own. The caller must own
// the line. Other goroutines may remove elements and publish reserved slots during the call.
func (c *sharedChunk) separate(line *sharedLine, i uint) {
	own := c.apart.Load()
	if own == nil {
		// The owner of another line may store an array first.
		c.apart.CompareAndSwap(nil, new([slotsPerChunk]atomic.Uint32))
		own = c.apart.Load()
	}
	k, w := i/slotsPerWord%wordsPerLine, c.word(i)
	for before := w.Load(); ; before = w.Load() {
		g := commonOf(before)
		for s := range uint(slotsPerWord) {
			stored := generation.Count(g)
			if line.taken[k]>>s&1 == 0 {
				stored-- // the slot gets g when it is taken next
			}
			if before>>s&1 != 0 {
				stored = g
			}
			own[(i+s)%slotsPerChunk].Store(stored)
		}
		if w.CompareAndSwap(before, sharedWord(0, presenceOf(before))) {
			return
		}
	}
}
