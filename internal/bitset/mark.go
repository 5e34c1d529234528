package bitset

import "sync/atomic"

// Several goroutines may mark slots at once, also in one word, as long as no goroutine clears bits meanwhile.
// A word or a block becomes not empty, or full, in exactly one atomic Or. The goroutine that called this Or
// updates the summary above. So the summaries are correct when all calls have returned.

// Mark sets the slots of mask in word i, which must be usable. Several goroutines may call Mark and
// [Set.MarkRange] at once, but no other method meanwhile. If the slots are already set, Mark writes nothing.
func (s *Set) Mark(i uint, mask uint64) {
	w := s.word(i)
	if atomic.LoadUint64(w)&mask == mask {
		return
	}
	before := atomic.OrUint64(w, mask)
	after := before | mask
	bit := uint64(1) << (i % 64)
	var any, full uint64
	if before == 0 {
		any = bit
	}
	if after == ones && before != ones {
		full = bit
	}
	if any|full != 0 {
		s.markBlock(i/64, any, full)
	}
}

// MarkRange is [Set.Mark] for the slots [lo, hi). Complexity: one step for each word, and one for each block
// that is already full.
func (s *Set) MarkRange(lo, hi uint) {
	for lo < hi {
		i := lo / wordBits
		if lo%BlockBits == 0 && hi-lo >= BlockBits {
			if atomic.LoadUint64(&s.block(i/64).full) != ones {
				for w := i; w < i+64; w++ {
					if p := s.word(w); atomic.LoadUint64(p) != ones {
						atomic.OrUint64(p, ones)
					}
				}
				s.markBlock(i/64, ones, ones)
			}
			lo += BlockBits
			continue
		}
		end := min(hi, (i+1)*wordBits)
		s.Mark(i, ones<<(lo%wordBits)&(ones>>(-end%wordBits)))
		lo = end
	}
}

// markBlock adds the words any and the words full to the summary of block i. It also updates the group.
func (s *Set) markBlock(i uint, any, full uint64) {
	b, g := s.block(i), s.group(i/64)
	bit := uint64(1) << (i % 64)
	if any != 0 && atomic.OrUint64(&b.any, any) == 0 {
		atomic.OrUint64(&g.any, bit)
	}
	if full != 0 {
		if before := atomic.OrUint64(&b.full, full); before != ones && before|full == ones {
			atomic.OrUint64(&g.full, bit)
		}
	}
}
