package metamorphic

import "slices"

// mostPairs is up to how many operations any two are tried to be left out together, for that takes the square of them.
const mostPairs = 40

// Shrink returns a short stream that fails, made from one that does: operations are left out in ever smaller groups, then any
// two of them, and the numbers of those that are left are made smaller, which may let others go, until nothing can be left out
// and no number made smaller any more.
func Shrink(ops []Op, fails func([]Op) bool) []Op {
	ops = slices.Clone(ops)
	for again := true; again; {
		ops = leaveOut(ops, fails)
		again = len(ops) <= mostPairs && leaveOutTwo(&ops, fails)
		again = lower(ops, fails) || again
	}
	return ops
}

// leaveOut leaves out groups of operations, halves first, single ones at last.
func leaveOut(ops []Op, fails func([]Op) bool) []Op {
	for size := max(1, len(ops)/2); ; {
		shorter, found := without(ops, size, fails)
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

// without leaves out one group of so many operations.
func without(ops []Op, size int, fails func([]Op) bool) ([]Op, bool) {
	for end := len(ops); end > 0; end -= size {
		if shorter := slices.Concat(ops[:max(0, end-size)], ops[end:]); fails(shorter) {
			return shorter, true
		}
	}
	return ops, false
}

// leaveOutTwo leaves out two operations that are not neighbours, of which each alone cannot go: one may undo the other, or
// both together leave the choice of entities as it is.
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

// lower makes the operations' numbers smaller, in place.
func lower(ops []Op, fails func([]Op) bool) (found bool) {
	for i := range ops {
		for _, n := range []*uint16{&ops[i].A, &ops[i].B, &ops[i].V} {
			was := *n
			smaller := func(v uint16) bool {
				*n = v
				return v < was && fails(ops)
			}
			if slices.ContainsFunc([]uint16{0, 1, 2, 3, 4, 5, 6, 7, was / 2}, smaller) {
				found = true
			} else {
				*n = was
			}
		}
	}
	return found
}
