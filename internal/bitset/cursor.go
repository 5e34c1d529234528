package bitset

import "math/bits"

// Cursor iterates over the runs of slots that a filter chooses, in ascending order. During a walk, the caller
// may clear slots that the cursor has passed, and goroutines may toggle slots of the sets of
// [Filter.WithParts]. The filter's sets must not change in another way.
type Cursor struct {
	// Lo and Hi are the current run, [Lo, Hi), after Next returned true.
	Lo, Hi uint

	f     *Filter
	bits  uint64 // mask of the current word's slots that match and come after the last run
	rest  uint64 // mask of the current block's words that may match and come after the current word
	word  uint   // number of the current word
	block uint   // number of the next block
	end   uint   // number of the first word after the walk
}

// Start puts the cursor before the first run. The walk covers the words below end. The cursor must be zero.
// The filter must outlive the walk.
func (c *Cursor) Start(f *Filter, end uint) {
	c.f = f
	if c.end = min(end, f.words()); c.end > 0 {
		// Start reads the first block without calls of nextBlock and candidates, because a small world has
		// only this block. Start ignores the groups and the parts, because Next and NextWord test them for
		// each word.
		m := (*summary)(f.aBlocks).any & (*summary)(f.bBlocks).any
		if f.more {
			m = f.candidatesMore(0, m)
		}
		c.block, c.rest = 1, c.inside(m, 0)
	}
}

// StartAt is Start for the words [lo, end).
func (c *Cursor) StartAt(f *Filter, lo, end uint) {
	c.f, c.end = f, min(end, f.words())
	c.block = lo/64 + 1
	if lo < c.end {
		c.word = lo &^ 63
		c.rest = c.inside(f.candidates(lo/64), lo/64) & (ones << (lo % 64))
	}
}

// End returns the number of the first word after the walk.
func (c *Cursor) End() uint { return c.end }

// inside returns m, a mask of words of block b, without the words from c.end on.
func (c *Cursor) inside(m uint64, b uint) uint64 {
	if left := c.end - b*64; left < 64 {
		m &= 1<<left - 1
	}
	return m
}

// Next moves to the next maximal run and reports whether there is one. A run may span several words.
// Complexity: a few steps for each run, one step for each word or block that may match according to the
// summaries but does not, one step for each 4,096 slots inside a dense run, and one step for each 262,144
// empty slots between runs.
func (c *Cursor) Next() bool {
	m := c.bits
	for m == 0 {
		if c.rest == 0 {
			if c.block*64 >= c.end || !c.nextBlock() {
				return false
			}
		}
		c.word = c.word&^63 | uint(bits.TrailingZeros64(c.rest))
		c.rest &= c.rest - 1
		m = c.f.Match(c.word)
		if c.f.grouped {
			m &= c.f.further(c.word)
		}
	}
	first := uint(bits.TrailingZeros64(m))
	// The addition carries through the run. The lowest set bit of the sum is the run's end. The sum is zero
	// if the run reaches the end of the word.
	after := m + 1<<first
	c.Lo = c.word*wordBits + first
	if after == 0 {
		c.extend()
		return true
	}
	c.Hi = c.word*wordBits + uint(bits.TrailingZeros64(after))
	c.bits = m & after
	return true
}

// NextWord moves to the next word with matches and returns it with the mask of its matches. The mask is zero
// if there is no such word. A walk uses NextWord or [Cursor.Next], not both. Complexity: one step for each
// word that may match according to the summaries.
func (c *Cursor) NextWord() (word uint, mask uint64) {
	for {
		if c.rest == 0 {
			if c.block*64 >= c.end || !c.nextBlock() {
				return 0, 0
			}
		}
		c.word = c.word&^63 | uint(bits.TrailingZeros64(c.rest))
		c.rest &= c.rest - 1
		mask = c.f.Match(c.word)
		if c.f.grouped {
			mask &= c.f.further(c.word)
		}
		if mask != 0 {
			return c.word, mask
		}
	}
}

// nextBlock moves to the next block with candidates and reports whether there is one.
func (c *Cursor) nextBlock() bool {
	blocks := (c.end + 63) / 64
	b := c.block
	for b < blocks {
		if m := c.inside(c.f.candidates(b), b); m != 0 {
			if c.f.grouped {
				any, _ := c.f.blockAny(b)
				m &= any
				if c.f.parts != nil {
					m &= c.f.parts.candidates(b)
				}
			}
			if m != 0 {
				c.block, c.word, c.rest = b+1, b*64, m
				return true
			}
		}
		b = c.f.nextBlock(b+1, blocks)
	}
	c.block = b
	return false
}

// extend follows a run beyond the end of the current word to the run's end.
func (c *Cursor) extend() {
	for w := c.word + 1; w < c.end; {
		b := w / 64
		whole := c.f.whole(b)
		if c.f.grouped {
			_, full := c.f.blockAny(b)
			whole &= full
			if c.f.parts != nil {
				whole &= c.f.parts.whole(b)
			}
		}
		w += uint(bits.TrailingZeros64(^(whole >> (w % 64))))
		if w/64 != b {
			continue // the run reaches the end of the block: continue with the next block
		}
		if w >= c.end {
			break
		}
		m := c.f.Match(w)
		if c.f.grouped {
			m &= c.f.further(w)
			if m == ones {
				w++ // a full word that is not in the masks of blockAny and parts.whole
				continue
			}
		}
		after := uint(bits.TrailingZeros64(^m))
		c.word, c.block = w, b+1
		c.bits = m &^ (1<<after - 1)
		c.rest = c.inside(c.f.candidates(b), b) & (ones << (w % 64) << 1)
		c.Hi = w*wordBits + after
		return
	}
	c.bits, c.rest, c.block = 0, 0, (c.end+63)/64
	c.Hi = c.end * wordBits
}
