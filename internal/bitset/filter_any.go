package bitset

// The tests of groups have methods of their own, because Match, candidates and whole would be too large to
// inline with these tests. The cursor calls the methods if there are groups. Sets of a group may be shorter
// than required sets: beyond its usable words a set is empty.

// matchAny returns the slots of word i that are in at least one set of each group.
//
//go:noinline
func (f *Filter) matchAny(i uint) uint64 {
	m := ones
	for _, group := range f.any {
		var in uint64
		for _, s := range group {
			if i < s.usable {
				in |= *s.word(i)
			}
		}
		m &= in
	}
	return m
}

// blockAny returns which words of block b may match in each group, and which match in all their slots. The
// second result lacks words that several sets of a group fill together.
//
//go:noinline
func (f *Filter) blockAny(b uint) (any, full uint64) {
	any, full = ones, ones
	for _, group := range f.any {
		var in summary
		for _, s := range group {
			if b*64 < s.usable {
				in.any |= s.block(b).any
				in.full |= s.block(b).full
			}
		}
		any &= in.any
		full &= in.full
	}
	return any, full
}

// All returns the slots of word i that the filter chooses, with regard to groups. It returns none beyond the
// words that can match.
func (f *Filter) All(i uint) uint64 {
	if i >= f.words() {
		return 0
	}
	m := f.Match(i)
	if f.grouped {
		m &= f.matchAny(i)
	}
	return m
}
