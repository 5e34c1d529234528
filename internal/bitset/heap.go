package bitset

import "unsafe"

// NewOnHeap returns a set on the Go heap, for small sets that must not take pages of their own. [Set.Grow]
// cannot fail, but it moves the words. This invalidates the result of [Set.Words] and every [Filter] with
// this set. The garbage collector frees the memory with the set.
func NewOnHeap() *Set { return &Set{onHeap: true} }

// growHeap makes at least the first n slots usable, and at least doubles their number.
func (s *Set) growHeap(n int) {
	before := int(s.usable) / 64 // blocks
	blocks := max(ceil(n, BlockBits), 2*before)
	const summaryWords = BlockBytes / bytesWord
	memory := make([]uint64, blocks*(summaryWords+64))
	words := unsafe.Pointer(&memory[blocks*summaryWords])
	if before > 0 {
		copy(memory[(blocks-before)*summaryWords:],
			unsafe.Slice((*uint64)(unsafe.Add(s.words, -before*BlockBytes)), before*(summaryWords+64)))
	}
	s.words, s.blocks = words, unsafe.Add(words, -BlockBytes)
	s.usable = uint(blocks) * 64
	s.addGroups()
}

// addGroups adds the summaries of groups that the usable blocks need.
func (s *Set) addGroups() {
	if missing := ceil(int(s.usable), groupBits/wordBits) - len(s.groups); missing > 0 {
		if s.groups == nil {
			s.groups = s.first[:0] // no allocation for the first group
		}
		s.groups = append(s.groups, make([]summary, missing)...)
	}
}
