package bitset

// These methods test the groups. Match, candidates and whole do not, because they would become too large to
// inline. A set of a group may have fewer usable words than the required sets. Its missing words count as
// empty.

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
// one set of each group. The mask full has the words that are full in at least one set of each group. It
// lacks a word that is full in the union of a group, but in none of its sets.
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
