package bitset

import (
	"iter"

	"github.com/vastgo/vast/vm"
)

// Gaps yields the maximal ranges [lo, hi) of clear slots below end, in ascending order. The argument end must
// be at most Len. The set must not change during the iteration. Complexity: one search of [Set.Next] and one
// of [Set.NextClear] for each range.
func (s *Set) Gaps(end uint) iter.Seq2[uint, uint] {
	return func(yield func(lo, hi uint) bool) {
		for lo := s.NextClear(0); lo < end; {
			hi := min(s.Next(lo), end)
			if !yield(lo, hi) {
				return
			}
			lo = s.NextClear(hi)
		}
	}
}

// Trim gives pages that contain no set slot back to the operating system. Their bits still read as zero. Trim
// also makes the summaries exact. A set on the Go heap gives nothing back. Complexity: that of [Set.Tighten]
// and [Set.Gaps], and one call of [vm.Seam.Discard] for each range of at least a page.
func (s *Set) Trim() error {
	s.Tighten()
	if s.onHeap {
		return nil
	}
	for lo, hi := range s.Gaps(s.usable * wordBits) {
		from, to := ceil(int(lo), wordBits)*bytesWord, int(hi/wordBits)*bytesWord
		if to-from < vm.PageSize() {
			continue
		}
		if err := s.seam.Discard(from, to-from); err != nil {
			return err
		}
	}
	return nil
}

// Resident returns how many bytes of the set are in physical memory. It returns 0 for a set on the Go heap.
// Complexity: as [vm.Seam.Resident].
func (s *Set) Resident() (int, error) {
	if s.onHeap {
		return 0, nil
	}
	return s.seam.Resident()
}

// Memory returns the memory of the set: the summaries of blocks lie below the seam, and the words lie above
// it. The summary of block i begins 16 × (i + 1) bytes below the seam. Memory returns nil for a set on the Go
// heap.
func (s *Set) Memory() *vm.Seam {
	if s.onHeap {
		return nil
	}
	return &s.seam
}
