package bitset

import "fmt"

// CheckInvariants panics if a summary contradicts the level below it. Loose summaries (see [Set.TurnOn]) may
// have more bits in summary.any, and fewer bits in summary.full, than exact summaries. Complexity: one step
// for each word. CheckInvariants is for tests and for builds with the tag invariants.
func (s *Set) CheckInvariants() {
	blocks := (s.usable + 63) / 64
	for b := range blocks {
		var want summary
		for i := uint(0); i < 64 && b*64+i < s.usable; i++ {
			want = want.with(i, *s.word(b*64 + i) != 0, *s.word(b*64 + i) == ones)
		}
		if got := *s.block(b); !s.fits(got, want) {
			panic(fmt.Sprintf("bitset: the summary of block %d is %x, but must be %x for its words", b, got,
				want))
		}
	}
	for g := range (blocks + 63) / 64 {
		var want summary
		for i := uint(0); i < 64 && g*64+i < blocks; i++ {
			want = want.with(i, s.block(g*64+i).any != 0, s.block(g*64+i).full == ones)
		}
		if got := *s.group(g); !s.fits(got, want) {
			panic(fmt.Sprintf("bitset: the summary of group %d is %x, but must be %x for its blocks", g, got,
				want))
		}
	}
}

// fits reports whether a summary may have the value got if an exact summary would have the value want.
func (s *Set) fits(got, want summary) bool {
	if s.loose.Load() {
		return want.any&^got.any == 0 && got.full&^want.full == 0
	}
	return got == want
}

// with sets bit i of s.any if any is true, and bit i of s.full if full is true. It returns the result.
func (s summary) with(i uint, any, full bool) summary {
	if any {
		s.any |= 1 << i
	}
	if full {
		s.full |= 1 << i
	}
	return s
}
