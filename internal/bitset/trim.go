package bitset

import (
	"iter"

	"github.com/vastgo/vast/vm"
)

// Gaps yields the maximal ranges [lo, hi) of clear slots below end, in ascending order. The number end must
// not be larger than Len. The set must not change during the iteration. Complexity: as [Set.Next] for each
// range.
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

// Trim gives pages whose words have no set slots back to the operating system. The words stay usable: their
// bits still read as zero. Complexity: as [Set.Gaps], and a system call for each range that contains a page.
func (s *Set) Trim() error {
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

// Resident returns how many bytes of the set are in physical memory. Complexity: as [vm.Seam.Resident].
func (s *Set) Resident() (int, error) {
	if s.onHeap {
		return 0, nil
	}
	return s.seam.Resident()
}

// Memory returns the memory of the set: the summaries of blocks below the seam, and the words above it. The
// summary of block i begins 16 × (i + 1) bytes below the seam. Memory returns nil for a set on the Go heap.
func (s *Set) Memory() *vm.Seam {
	if s.onHeap {
		return nil
	}
	return &s.seam
}
