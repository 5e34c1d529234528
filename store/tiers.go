package store

import "slices"

// A chain of files grows by a delta at each checkpoint. If it has too many deltas, the newest ones are
// merged with the copy that is being written into one delta, so that the chain is short and the older files
// stay as they are. If it has too many bytes, all deltas are merged, or all files.

// newerShare decides which deltas are merged: a delta is merged with all newer ones if these together have at
// least newerShare times its bytes. Then it is at most a fifth of the merged delta, so each of n deltas is
// written about log₅ n times. A delta that is not merged has more than a quarter of the bytes of all newer
// ones together, so few such deltas are left.
const newerShare = 4

// mergeFrom returns the index of the first file of the last chain that is merged with the copy: 0 for all
// files, or a negative number for none.
func (s *Store) mergeFrom(w *writing) int {
	if w.base == 0 {
		return -1
	}
	sizes, total := s.chainSizes(), int64(0)
	sizes = append(sizes, int64(s.stage.size()))
	for _, n := range sizes {
		total += n
	}
	// The next delta has padding, and so has the file that would replace the chain.
	total += mostPaddingOf(int64(s.stage.size())) + mostPaddingOf(int64(s.stage.full))
	if float64(total) > (1+s.share)*float64(s.stage.full) {
		return 0
	}
	return tier(sizes, s.mostDeltas)
}

// chainSizes returns the bytes of the files of the last chain, oldest first.
func (s *Store) chainSizes() (sizes []int64) {
	for i, next := len(s.kept)-1, s.kept[len(s.kept)-1].number; i >= 0 && next != 0; i-- {
		if one := &s.kept[i]; one.number == next {
			sizes = append(sizes, one.bytes)
			next = one.base
		}
	}
	slices.Reverse(sizes)
	return sizes
}

// tier returns the index of the first file that is merged, so that at most mostDeltas deltas are left. sizes
// are the bytes of the files of a chain, oldest first: one that holds everything, and deltas. tier returns a
// negative number if there are not too many deltas.
func tier(sizes []int64, mostDeltas int) int {
	if len(sizes)-1 <= mostDeltas {
		return -1
	}
	from, newer := mostDeltas, int64(0)
	for i := len(sizes) - 1; i > 0; i-- {
		if sizes[i] <= newer/newerShare {
			from = min(from, i)
		}
		newer += sizes[i]
	}
	return from
}

// leavesRoom reports whether half of the share of the deltas would be free if all deltas were merged into one
// with the given bytes. Then such a merge removes at least as many bytes as it writes.
func (s *Store) leavesRoom(bytes int64) bool {
	return float64(s.chainSizes()[0]+bytes) <= (1+s.share/2)*float64(s.stage.full)
}
