package bitset

import (
	"math/bits"
	"unsafe"
)

// Filter chooses the slots that are in every required set, in no excluded set, and in at least one set of
// each group of alternatives. Its sets may grow and change between uses of the filter, except that the growth
// of a set of [NewOnHeap] makes the filter invalid. Slots of the sets of [Filter.WithParts] may be toggled at
// any time: see [Set.TurnOn].
type Filter struct {
	// a and b are the first two required sets. If there is only one required set, a and b are this set. The
	// addresses of their words and block summaries are copied, so that Match, candidates and whole do not
	// read *a and *b.
	aWords, bWords   unsafe.Pointer
	aBlocks, bBlocks unsafe.Pointer
	more             bool // whether required or excluded is not empty
	grouped          bool // whether groups is not empty or parts is not nil
	a, b             *Set
	required         []*Set // the other required sets
	excluded         []*Set
	groups           [][]*Set
	parts            *parts // further conditions, or nil
}

// NewFilter returns the filter of the slots that are in every required set, in no excluded set, and in at
// least one set of each group. There must be at least one required set. The filter keeps the slices.
func NewFilter(required, excluded []*Set, groups ...[]*Set) Filter {
	f := Filter{a: required[0], b: required[0], excluded: excluded, groups: groups}
	if len(required) > 1 {
		f.b, f.required = required[1], required[2:]
	}
	f.aWords, f.bWords = f.a.words, f.b.words
	f.aBlocks, f.bBlocks = f.a.blocks, f.b.blocks
	f.more, f.grouped = len(f.required)+len(f.excluded) > 0, len(groups) > 0
	return f
}

// Match returns the slots of word i that are in every required set and in no excluded set. Match ignores the
// groups and the conditions of [Filter.WithParts]. The word must be usable in every required set.
func (f *Filter) Match(i uint) uint64 {
	m := *(*uint64)(unsafe.Add(f.aWords, i*bytesWord)) & *(*uint64)(unsafe.Add(f.bWords, i*bytesWord))
	if f.more {
		m = f.matchMore(i, m)
	}
	return m
}

func (f *Filter) matchMore(i uint, m uint64) uint64 {
	for _, s := range f.required {
		m &= *s.word(i)
	}
	for _, s := range f.excluded {
		if i < s.usable {
			m &^= *s.word(i)
		}
	}
	return m
}

// words returns the number of words that are usable in every required set.
func (f *Filter) words() uint {
	n := min(f.a.usable, f.b.usable)
	for _, s := range f.required {
		n = min(n, s.usable)
	}
	return n
}

// candidates returns a mask of the words of block b that may match according to the summaries. candidates
// ignores the groups and the parts.
func (f *Filter) candidates(b uint) uint64 {
	m := (*summary)(unsafe.Add(f.aBlocks, -int(b)*BlockBytes)).any & (*summary)(unsafe.Add(f.bBlocks,
		-int(b)*BlockBytes)).any
	if f.more {
		m = f.candidatesMore(b, m)
	}
	return m
}

func (f *Filter) candidatesMore(b uint, m uint64) uint64 {
	for _, s := range f.required {
		m &= s.block(b).any
	}
	for _, s := range f.excluded {
		if b*64 < s.usable {
			m &^= s.block(b).full
		}
	}
	return m
}

// nextBlock returns the first block in [b, end) that may match, or end if there is none.
func (f *Filter) nextBlock(b, end uint) uint {
	for b < end {
		m := f.a.group(b/64).any & f.b.group(b/64).any
		for _, s := range f.required {
			m &= s.group(b / 64).any
		}
		if m >>= b % 64; m != 0 {
			return min(b+uint(bits.TrailingZeros64(m)), end)
		}
		b = (b/64 + 1) * 64
	}
	return end
}

// whole returns a mask of the words of block b. A word is in the mask if all of its slots match. whole
// ignores the groups and the parts.
func (f *Filter) whole(b uint) uint64 {
	m := (*summary)(unsafe.Add(f.aBlocks, -int(b)*BlockBytes)).full & (*summary)(unsafe.Add(f.bBlocks,
		-int(b)*BlockBytes)).full
	if f.more {
		m = f.wholeMore(b, m)
	}
	return m
}

func (f *Filter) wholeMore(b uint, m uint64) uint64 {
	for _, s := range f.required {
		m &= s.block(b).full
	}
	for _, s := range f.excluded {
		if b*64 < s.usable {
			m &^= s.block(b).any
		}
	}
	return m
}

// Count returns the number of slots in [lo, hi) that the filter chooses. Complexity: one step for each block
// of 4,096 slots that may have matches, one for each word that may match in part, and one for each 262,144
// slots without matches.
func (f *Filter) Count(lo, hi uint) int {
	hi = min(hi, f.words()*wordBits)
	if lo >= hi {
		return 0
	}
	n := 0
	first, last := lo/wordBits, (hi-1)/wordBits
	for b := first / 64; b <= last/64; {
		m, any, full := ones, ones, ones
		if b == first/64 {
			m <<= first % 64
		}
		if b == last/64 {
			m &= ones >> (63 - last%64)
		}
		if f.grouped {
			any, full = f.blockAny(b)
			if f.parts != nil {
				any, full = any&f.parts.candidates(b), full&f.parts.whole(b)
			}
		}
		whole := f.whole(b) & full & m
		if whole == ones {
			n += BlockBits
			b++
			continue
		}
		if m &= any & f.candidates(b); m == 0 {
			b = f.nextBlock(b+1, last/64+1)
			continue
		}
		n += bits.OnesCount64(whole) * wordBits
		for m &^= whole; m != 0; m &= m - 1 {
			w := b*64 + uint(bits.TrailingZeros64(m))
			in := f.Match(w)
			if f.grouped {
				in &= f.further(w)
			}
			n += bits.OnesCount64(in)
		}
		b++
	}
	// n includes all matches of the first and the last word. Subtract the matches outside of [lo, hi).
	if before := lo % wordBits; before != 0 {
		n -= bits.OnesCount64(f.All(first) & (1<<before - 1))
	}
	if after := hi % wordBits; after != 0 {
		n -= bits.OnesCount64(f.All(last) & (ones << after))
	}
	return max(n, 0) // slots of parts may have been toggled between the count and the subtraction
}
