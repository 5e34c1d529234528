package bitset

// The methods in this file test the groups of alternatives of a Filter. The methods Match, candidates and
// whole ignore the groups, because otherwise they would be too large to inline. If a set of a group has fewer
// usable words than the required sets, the missing words of this set count as empty.

// matchAny returns the slots of word i that are in at least one set of each group.
//
//go:noinline
func (f *Filter) matchAny(i uint) uint64 {
	m := ones
	for _, group := range f.groups {
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

// blockAny returns two masks of words of block b. The mask any has the words that are not empty in at least
// one set of each group. The mask full has the words that are full in at least one set of each group. A word
// that is full only in the union of the sets of a group is not in the mask full.
//
//go:noinline
func (f *Filter) blockAny(b uint) (any, full uint64) {
	any, full = ones, ones
	for _, group := range f.groups {
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

// All returns the slots of word i that the filter chooses. Unlike Match, All tests the groups and the parts
// (see [Filter.WithParts]). All returns 0 if the word is unusable in one of the required sets.
func (f *Filter) All(i uint) uint64 {
	if i >= f.words() {
		return 0
	}
	m := f.Match(i)
	if f.grouped {
		m &= f.further(i)
	}
	return m
}
