package bitset

import "unsafe"

// NewOnHeap returns a set on the Go heap. It suits small sets, for which a page would be too much memory.
// [Set.Grow] cannot fail, but it moves the words. The result of [Set.Words] and every [Filter] with this set
// then become invalid. The garbage collector frees the memory of the set.
func NewOnHeap() *Set { return &Set{onHeap: true} }

// growHeap makes at least the first n slots usable, and at least doubles the number of usable slots.
func (s *Set) growHeap(n int) {
	oldBlocks := int(s.usable) / 64
	blocks := max(ceil(n, BlockBits), 2*oldBlocks)
	const summaryWords = BlockBytes / bytesWord
	memory := make([]uint64, blocks*(summaryWords+64))
	words := unsafe.Pointer(&memory[blocks*summaryWords])
	if oldBlocks > 0 {
		copy(memory[(blocks-oldBlocks)*summaryWords:],
			unsafe.Slice((*uint64)(unsafe.Add(s.words, -oldBlocks*BlockBytes)), oldBlocks*(summaryWords+64)))
	}
	s.words, s.blocks = words, unsafe.Add(words, -BlockBytes)
	s.usable = uint(blocks) * 64
	s.addGroups()
}

// addGroups adds the missing summaries of groups.
func (s *Set) addGroups() {
	if missing := ceil(int(s.usable), groupBits/wordBits) - len(s.groups); missing > 0 {
		if s.groups == nil {
			s.groups = s.first[:0] // no allocation for the first group
		}
		s.groups = append(s.groups, make([]summary, missing)...)
	}
}
