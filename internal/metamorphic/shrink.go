package metamorphic

import "slices"

// maxForPairs is the length of the longest stream in which Shrink tries to leave out pairs of operations.
// The number of pairs is quadratic in the length.
const maxForPairs = 40

// Shrink makes a short failing stream from a failing stream. It leaves out operations in ever smaller groups,
// then in pairs, and lowers the numbers of the remaining operations. It repeats these steps until nothing
// changes, because lower numbers may make other operations unnecessary.
func Shrink(ops []Op, fails func([]Op) bool) []Op {
	ops = slices.Clone(ops)
	for again := true; again; {
		ops = leaveOut(ops, fails)
		again = len(ops) <= maxForPairs && leaveOutTwo(&ops, fails)
		again = lower(ops, fails) || again
	}
	return ops
}

// leaveOut leaves out groups of operations, from half of the stream down to single operations.
func leaveOut(ops []Op, fails func([]Op) bool) []Op {
	for size := max(1, len(ops)/2); ; {
		shorter, found := withoutGroup(ops, size, fails)
		switch {
		case found:
			ops = shorter
			size = max(1, min(size, len(ops)/2))
		case size == 1:
			return ops
		default:
			size /= 2
		}
	}
}

// withoutGroup leaves out the last group of the given size that the failure does not need. It returns false
// if there is no such group.
func withoutGroup(ops []Op, size int, fails func([]Op) bool) ([]Op, bool) {
	for end := len(ops); end > 0; end -= size {
		if shorter := slices.Concat(ops[:max(0, end-size)], ops[end:]); fails(shorter) {
			return shorter, true
		}
	}
	return ops, false
}

// leaveOutTwo leaves out a pair of operations. After leaveOut, only both operations of a pair together can be
// left out: for example, the second operation undoes the first.
func leaveOutTwo(ops *[]Op, fails func([]Op) bool) bool {
	for i := range *ops {
		for j := i + 1; j < len(*ops); j++ {
			if shorter := slices.Concat((*ops)[:i], (*ops)[i+1:j], (*ops)[j+1:]); fails(shorter) {
				*ops = shorter
				return true
			}
		}
	}
	return false
}

// lower lowers the numbers of the operations, in place. It reports whether a number has changed.
func lower(ops []Op, fails func([]Op) bool) (found bool) {
	for i := range ops {
		for _, n := range []*uint16{&ops[i].A, &ops[i].B, &ops[i].V} {
			old := *n
			smaller := func(v uint16) bool {
				*n = v
				return v < old && fails(ops)
			}
			if slices.ContainsFunc([]uint16{0, 1, 2, 3, 4, 5, 6, 7, old / 2}, smaller) {
				found = true
			} else {
				*n = old
			}
		}
	}
	return found
}
