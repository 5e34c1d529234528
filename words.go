package vast

import "iter"

// Words yields the matching entities 64 slots at a time, in ascending order: the index of a word, and a mask whose bit i
// stands for slot 64 × word + i. Words without matches are left out. It is for those who combine matches with bits of
// their own; the rules of [Query.Runs] hold.
func (q Query) Words() iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		var k walk
		k.start(q.q)
		for {
			word, mask := k.nextWord()
			if mask == 0 || !yield(int(word), mask) {
				return
			}
			k.check()
		}
	}
}
