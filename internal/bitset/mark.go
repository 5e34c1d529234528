package bitset

import "sync/atomic"

// While goroutines mark slots, no goroutine clears slots. Therefore at most one atomic Or sets the first bits
// of an empty word or block, and at most one makes the word or block full. The goroutine that calls such an
// Or updates the summary above. The summaries are correct after all calls have returned.

// Mark sets the slots of mask in word i, which must be usable. Several goroutines may call Mark and
// [Set.MarkRange] at the same time, also for one word. They must not call other methods at the same time,
// except [Set.Load64]. If the slots are already set, Mark writes nothing.
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

// MarkRange is [Set.Mark] for the slots [lo, hi). Complexity: one step for each block that lies whole in the
// range and is already full, and one step for each other word of the range.
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

// markBlock adds the masks any and full to the summary of block i, and updates the summary of the group.
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
