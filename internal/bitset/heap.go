package bitset

import "unsafe"

// NewOnHeap returns a set in Go memory, for small sets that must not take pages of their own. Growing cannot
// fail, but moves the set, so neither [Set.Words] nor a [Filter] may be kept. The collector frees the memory
// with the set.
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
			s.groups = s.first[:0] // the first group takes no memory of its own
		}
		s.groups = append(s.groups, make([]summary, missing)...)
	}
}
