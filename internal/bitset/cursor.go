package bitset

import "math/bits"

// Filter chooses the slots that are set in all of some sets and in none of others. It is a value that can be kept and
// used again; the sets may grow and change between uses.
type Filter struct {
	a, b  *Set   // the first two sets to be in; the same one twice where there is only one
	and   []*Set // the further ones
	minus []*Set // those not to be in
}

// NewFilter returns the filter of the slots that are in every set of and, of which there is at least one, and in no set
// of minus. It keeps the slices.
func NewFilter(and, minus []*Set) Filter {
	f := Filter{a: and[0], b: and[0], minus: minus}
	if len(and) > 1 {
		f.b, f.and = and[1], and[2:]
	}
	return f
}

// Match returns the slots of word i that the filter chooses. The word must be usable in every set to be in.
func (f *Filter) Match(i uint) uint64 {
	m := *f.a.word(i) & *f.b.word(i)
	if len(f.and)+len(f.minus) != 0 {
		m = f.matchMore(i, m)
	}
	return m
}

func (f *Filter) matchMore(i uint, m uint64) uint64 {
	for _, s := range f.and {
		m &= *s.word(i)
	}
	for _, s := range f.minus {
		if i < s.usable {
			m &^= *s.word(i)
		}
	}
	return m
}

// words returns how many words can match.
func (f *Filter) words() uint {
	n := min(f.a.usable, f.b.usable)
	for _, s := range f.and {
		n = min(n, s.usable)
	}
	return n
}

// candidates returns which words of block b may match, by the summaries.
func (f *Filter) candidates(b uint) uint64 {
	m := f.a.block(b).any & f.b.block(b).any
	for _, s := range f.and {
		m &= s.block(b).any
	}
	for _, s := range f.minus {
		if b*64 < s.usable {
			m &^= s.block(b).full
		}
	}
	return m
}

// nextBlock returns the first block at or after b, below end, in which something may match, or end.
func (f *Filter) nextBlock(b, end uint) uint {
	for b < end {
		m := f.a.group(b/64).any & f.b.group(b/64).any
		for _, s := range f.and {
			m &= s.group(b / 64).any
		}
		if m >>= b % 64; m != 0 {
			return min(b+uint(bits.TrailingZeros64(m)), end)
		}
		b = (b/64 + 1) * 64
	}
	return end
}

// whole reports whether every slot of block b matches, by the summaries.
func (f *Filter) whole(b uint) bool {
	m := f.a.block(b).full & f.b.block(b).full
	for _, s := range f.and {
		m &= s.block(b).full
	}
	if m != ones {
		return false
	}
	for _, s := range f.minus {
		if b*64 < s.usable && s.block(b).any != 0 {
			return false
		}
	}
	return true
}

// Cursor walks over the runs of slots that a filter chooses, in ascending order. The sets must not change meanwhile.
type Cursor struct {
	f     *Filter
	bits  uint64 // the current word's matches that were not yielded yet
	rest  uint64 // the words of the current block that come after the current one and may match
	word  uint   // the current word
	block uint   // the next block to look at
	end   uint   // words that can match
}

// Start sets the cursor before the first run. The filter must outlive the walk.
func (c *Cursor) Start(f *Filter) {
	*c = Cursor{f: f, end: f.words()}
}

// StartAt sets the cursor to walk only the words [lo, hi).
func (c *Cursor) StartAt(f *Filter, lo, hi uint) {
	*c = Cursor{f: f, end: min(hi, f.words()), block: lo/64 + 1, word: lo &^ 63}
	if lo < c.end {
		c.rest = c.inside(f.candidates(lo/64), lo/64) & (ones << (lo % 64))
	}
}

// inside takes the words beyond the end out of the candidates of block b.
func (c *Cursor) inside(m uint64, b uint) uint64 {
	if left := c.end - b*64; left < 64 {
		m &= 1<<left - 1
	}
	return m
}

// Next returns the next maximal run [lo, hi). Adjacent words come out as one run. Complexity: a few steps for a run, one
// for each 4,096 slots inside a dense run, one for each 262,144 empty slots between runs.
func (c *Cursor) Next() (lo, hi uint, ok bool) {
	m := c.bits
	for m == 0 {
		if c.rest == 0 && !c.nextBlock() {
			return 0, 0, false
		}
		c.word = c.word&^63 | uint(bits.TrailingZeros64(c.rest))
		c.rest &= c.rest - 1
		m = c.f.Match(c.word)
	}
	first := uint(bits.TrailingZeros64(m))
	after := first + uint(bits.TrailingZeros64(^(m >> first)))
	lo = c.word * wordBits
	if after < wordBits {
		c.bits = m &^ (1<<after - 1)
		return lo + first, lo + after, true
	}
	return lo + first, c.extend(), true
}

// nextBlock moves on to the next block with candidates and reports whether there is one.
func (c *Cursor) nextBlock() bool {
	blocks := (c.end + 63) / 64
	for b := c.block; ; b++ {
		if b = c.f.nextBlock(b, blocks); b >= blocks {
			c.block = b
			return false
		}
		if m := c.inside(c.f.candidates(b), b); m != 0 {
			c.block, c.word, c.rest = b+1, b*64, m
			return true
		}
	}
}

// extend follows a run that reaches the end of the current word and returns where it ends.
func (c *Cursor) extend() (hi uint) {
	w := c.word + 1
	for w < c.end {
		if w%64 == 0 && w+64 <= c.end && c.f.whole(w/64) {
			w += 64
			continue
		}
		m := c.f.Match(w)
		if m != ones {
			after := uint(bits.TrailingZeros64(^m))
			c.word, c.block = w, w/64+1
			c.bits = m &^ (1<<after - 1)
			c.rest = c.inside(c.f.candidates(w/64), w/64) & (ones << (w % 64) << 1)
			return w*wordBits + after
		}
		w++
	}
	c.bits, c.rest, c.block = 0, 0, (c.end+63)/64
	return w * wordBits
}
