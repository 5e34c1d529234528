package bitset

import "unsafe"

// NewOnHeap returns a set on the Go heap, for small sets that must not take pages of their own. [Set.Grow]
// cannot fail, but moves the words, and so invalidates the result of [Set.Words] and every [Filter] with this
// set. The garbage collector frees the memory with the set.
func NewOnHeap() *Set { return &Set{onHeap: true} }

// growHeap makes at least the first n slots usable, and at least doubles their number.
func (s *Set) growHeap(n int) {
	before := int(s.usable) / 64 // blocks
	blocks := max(ceil(n, BlockBits), 2*before)
	const pair = BlockBytes / bytesWord
	memory := make([]uint64, blocks*(pair+64))
	words := unsafe.Pointer(&memory[blocks*pair])
	if before > 0 {
		copy(memory[(blocks-before)*pair:], unsafe.Slice((*uint64)(unsafe.Add(s.words, -before*BlockBytes)),
			before*(pair+64)))
	}
	s.words, s.blocks = words, unsafe.Add(words, -BlockBytes)
	s.usable = uint(blocks) * 64
	s.addGroups()
}

// addGroups makes a group for each 64 usable blocks.
func (s *Set) addGroups() {
	if missing := ceil(int(s.usable), groupBits/wordBits) - len(s.groups); missing > 0 {
		if s.groups == nil {
			s.groups = s.first[:0] // no allocation for the first group
		}
		s.groups = append(s.groups, make([]summary, missing)...)
	}
}
