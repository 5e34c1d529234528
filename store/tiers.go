package store

import "slices"

// A chain of files grows by a delta at each checkpoint. If the chain has too many deltas, the checkpoint
// merges the newest deltas and the copied changes into one delta. The older files do not change. If the chain
// has too many bytes, the checkpoint merges all deltas, or all files.

// newerShare decides which deltas are merged: a delta is merged with all newer deltas if the newer deltas
// together have at least newerShare times the bytes of this delta. The oldest delta of such a merge is at
// most a fifth of the merged delta, if the deltas hold different data. Each of n deltas is then written about
// log₅ n times. Merges that begin with index maxDeltas only to limit the number of deltas are not so cheap.
//
// A delta that is left unmerged has more than a quarter of the bytes of all newer deltas together. So the
// bytes of the newest deltas together grow by more than a quarter with each such delta, and few deltas are
// left.
const newerShare = 4

// mergeFrom returns the index of the first file of the last chain to merge with the copy. It returns a
// negative number for no merge, and 0 if the chain has too many bytes: then Store.merge chooses between all
// files and all deltas.
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
	total += maxPaddingOf(int64(s.stage.size())) + maxPaddingOf(int64(s.stage.full))
	if float64(total) > (1+s.share)*float64(s.stage.full) {
		return 0
	}
	return tier(sizes, s.maxDeltas)
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

// tier returns the index of the first file to merge. The merge leaves at most maxDeltas deltas. sizes are
// the bytes of the files of a chain, oldest first: a complete file, and then deltas. tier returns a negative
// number if the chain has at most maxDeltas deltas already.
func tier(sizes []int64, maxDeltas int) int {
	if len(sizes)-1 <= maxDeltas {
		return -1
	}
	first, newer := maxDeltas, int64(0)
	for i := len(sizes) - 1; i > 0; i-- {
		if sizes[i] <= newer/newerShare {
			first = min(first, i)
		}
		newer += sizes[i]
	}
	return first
}

// leavesRoom reports whether a merge of all deltas into one delta would leave at least half of
// checkpoints.share for further deltas. bytes is the size of the merged delta. If the world has not grown
// since the first file, such a merge removes at least as many bytes as it writes.
func (s *Store) leavesRoom(bytes int64) bool {
	return float64(s.chainSizes()[0]+bytes) <= (1+s.share/2)*float64(s.stage.full)
}
