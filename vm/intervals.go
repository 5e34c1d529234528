package vm

import (
	"fmt"
	"slices"

	"github.com/vastgo/vast/internal/invariants"
)

// interval is the range [lo, hi) of offsets.
type interval struct{ lo, hi int }

// intervals is a set of offsets, stored as sorted ranges with gaps between them. add joins adjacent ranges,
// because each range of committed pages costs a mapping.
type intervals struct {
	of    []interval
	bytes int // sum of the lengths of the ranges
}

// first returns the index of the first range that ends after off.
func (s *intervals) first(off int) int {
	lo, hi := 0, len(s.of)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); s.of[mid].hi <= off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// gaps appends the parts of [lo, hi) outside the set to out, in order. If hi ≤ lo, it appends nothing.
func (s *intervals) gaps(lo, hi int, out []interval) []interval {
	for i := s.first(lo); i < len(s.of) && s.of[i].lo < hi; i++ {
		if s.of[i].lo > lo {
			out = append(out, interval{lo, s.of[i].lo})
		}
		lo = s.of[i].hi
	}
	if lo < hi {
		out = append(out, interval{lo, hi})
	}
	return out
}

// covered returns the parts of [lo, hi) inside the set, in order. It returns nil if hi ≤ lo: a range that
// lies within one page and is rounded inward can have such bounds.
func (s *intervals) covered(lo, hi int) []interval {
	if lo >= hi {
		return nil
	}
	var out []interval
	for i := s.first(lo); i < len(s.of) && s.of[i].lo < hi; i++ {
		out = append(out, interval{max(lo, s.of[i].lo), min(hi, s.of[i].hi)})
	}
	return out
}

// contains reports whether all of [lo, hi) is in the set.
func (s *intervals) contains(lo, hi int) bool {
	i := s.first(lo)
	return lo >= hi || i < len(s.of) && s.of[i].lo <= lo && hi <= s.of[i].hi
}

// meets reports whether the set contains lo-1, hi, or an offset between them.
func (s *intervals) meets(lo, hi int) bool {
	i := s.first(lo - 1)
	return i < len(s.of) && s.of[i].lo <= hi
}

// overlaps reports whether a part of [lo, hi) is in the set.
func (s *intervals) overlaps(lo, hi int) bool {
	i := s.first(lo)
	return i < len(s.of) && s.of[i].lo < hi
}

func (s *intervals) add(lo, hi int) {
	if lo >= hi {
		return
	}
	i := s.first(lo - 1) // includes a range that ends at lo
	j := i
	for j < len(s.of) && s.of[j].lo <= hi {
		lo, hi = min(lo, s.of[j].lo), max(hi, s.of[j].hi)
		s.bytes -= s.of[j].hi - s.of[j].lo
		j++
	}
	s.of = slices.Replace(s.of, i, j, interval{lo, hi})
	s.bytes += hi - lo
	s.checkInvariants()
}

func (s *intervals) remove(lo, hi int) {
	if lo >= hi {
		return
	}
	i := s.first(lo)
	j := i
	var keep []interval
	for j < len(s.of) && s.of[j].lo < hi {
		iv := s.of[j]
		s.bytes -= min(hi, iv.hi) - max(lo, iv.lo)
		if iv.lo < lo {
			keep = append(keep, interval{iv.lo, lo})
		}
		if iv.hi > hi {
			keep = append(keep, interval{hi, iv.hi})
		}
		j++
	}
	s.of = slices.Replace(s.of, i, j, keep...)
	s.checkInvariants()
}

// checkInvariants panics if two ranges are out of order, adjacent or overlapping, or if bytes is wrong.
func (s *intervals) checkInvariants() {
	if !invariants.Enabled || len(s.of) > 4096 {
		return // checking many ranges after each change takes too long
	}
	bytes := 0
	for i, iv := range s.of {
		if iv.lo >= iv.hi || i > 0 && s.of[i-1].hi >= iv.lo {
			panic(fmt.Sprintf("vm: intervals out of order at %d: %v", i, s.of))
		}
		bytes += iv.hi - iv.lo
	}
	if bytes != s.bytes {
		panic(fmt.Sprintf("vm: intervals of %d bytes are counted as %d", bytes, s.bytes))
	}
}
