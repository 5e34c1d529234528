package store

import "slices"

// A checkpoint adds a delta to a chain of files. If the chain has too many deltas, the checkpoint merges the
// newest deltas and the copied changes into one delta. The older files do not change. If the chain has too
// many bytes, the checkpoint merges all deltas, or all files.

// newerShare is the ratio by which a merge chooses its oldest delta: the oldest one for which all newer
// deltas together have at least newerShare times its bytes. If the deltas hold different data, each of n
// deltas is written about log₅ n times. A merge that must begin earlier, to leave at most maxDeltas deltas,
// writes more.
//
// After a merge, each delta that was not merged has more than a quarter of the bytes of all newer deltas
// together. So the sum grows by more than a quarter with each such delta, and few deltas stay.
const newerShare = 4

// mergeFrom returns the index of the first file of the last chain to merge with the copied changes, or a
// negative number for no merge. If the chain has too many bytes, mergeFrom returns 0, and Store.merge chooses
// between all files and all deltas.
func (s *Store) mergeFrom(w *writing) int {
	if w.base == 0 {
		return -1
	}
	sizes, total := s.chainSizes(), int64(0)
	sizes = append(sizes, int64(s.stage.size()))
	for _, n := range sizes {
		total += n
	}
	// The next delta and the file that would replace the chain have padding.
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

// tier returns the index of the first file to merge, or a negative number if the chain has at most maxDeltas
// deltas. After the merge, the chain has at most maxDeltas deltas. sizes are the bytes of the files of the
// chain, oldest first: a complete file, its deltas, and the delta that the checkpoint adds.
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

// leavesRoom reports whether a merge of all deltas into one delta leaves at least half of checkpoints.share
// for further deltas. bytes is the size of the merged delta.
func (s *Store) leavesRoom(bytes int64) bool {
	return float64(s.chainSizes()[0]+bytes) <= (1+s.share/2)*float64(s.stage.full)
}
