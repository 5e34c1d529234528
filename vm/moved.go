package vm

import "slices"

// pieces are the sorted ranges of pages that were moved to their address or come from a file. Pieces may be
// adjacent but do not overlap. An end of a piece is a border between two mappings if the pages on both sides
// of it are committed.
//
// The kernel gives each page of a mapping a number: its address at the first touch, or its offset in the
// file. The kernel joins neighbouring mappings only if the numbers of the second follow those of the first.
type pieces []interval

// first returns the index of the first piece that ends after off.
func (s pieces) first(off int) int {
	i, _ := slices.BinarySearchFunc(s, off, func(iv interval, off int) int {
		if iv.hi <= off {
			return -1
		}
		return 1
	})
	return i
}

// meets reports whether a part of [lo, hi) lies in a piece.
func (s pieces) meets(lo, hi int) bool {
	i := s.first(lo)
	return i < len(s) && s[i].lo < hi
}

// add adds a piece that overlaps no other piece.
func (s *pieces) add(lo, hi int) { *s = slices.Insert(*s, s.first(lo), interval{lo, hi}) }

// remove removes [lo, hi) from the pieces.
func (s *pieces) remove(lo, hi int) {
	i := s.first(lo)
	j := i
	var keep []interval
	for ; j < len(*s) && (*s)[j].lo < hi; j++ {
		iv := (*s)[j]
		if iv.lo < lo {
			keep = append(keep, interval{iv.lo, lo})
		}
		if iv.hi > hi {
			keep = append(keep, interval{hi, iv.hi})
		}
	}
	*s = slices.Replace(*s, i, j, keep...)
}

// rebordered calls change, which changes the pages in [lo, hi), and updates the number of borders.
func (m *mapping) rebordered(lo, hi int, change func()) {
	if len(m.moved) == 0 {
		change()
		return
	}
	m.borders -= m.bordersIn(lo, hi)
	change()
	m.borders += m.bordersIn(lo, hi)
}

// bordersIn counts the ends of pieces in [lo, hi] that lie between committed pages.
func (m *mapping) bordersIn(lo, hi int) int {
	n, last := 0, -1
	at := func(off int) {
		if off >= lo && off <= hi && off != last && m.committed.contains(off-1, off+1) {
			n, last = n+1, off
		}
	}
	for i := m.moved.first(lo - 1); i < len(m.moved) && m.moved[i].lo <= hi; i++ {
		at(m.moved[i].lo)
		at(m.moved[i].hi)
	}
	return n
}
