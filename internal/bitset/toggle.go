package bitset

import (
	"math/bits"
	"sync/atomic"
)

// While goroutines toggle slots, the summaries may be loose: summary.any may have bits of empty words, and
// summary.full may lack bits of full words. Toggling never clears a bit in summary.any, and never sets a bit
// in summary.full. It sets the bit in summary.any before it sets the first slot of the word, and clears the
// bit in summary.full before it clears a slot of the word. So a reader that skips empty words misses no set
// slot, and a reader that skips full words misses no clear slot.
//
// All searches and counts are right with loose summaries, but visit more words. If another method makes a
// word empty or full, or ends this state, it also makes the bits of the word in the summaries exact. Tighten
// makes all summaries exact.

// TurnOn sets the slots of mask in word i, which must be usable, and returns the word as it was before.
// Several goroutines may call TurnOn and [Set.TurnOff] at the same time, also for one word. Beside them, only
// [Set.Test], [Set.Next], [Set.NextClear] and [Set.Load64], and filters with the set in [Filter.WithParts],
// may read the set.
func (s *Set) TurnOn(i uint, mask uint64) (before uint64) {
	w := s.word(i)
	if before = atomic.LoadUint64(w); before&mask == mask {
		return before
	}
	b, bit := s.block(i/64), uint64(1)<<(i%64)
	if atomic.LoadUint64(&b.any)&bit == 0 {
		// The group comes first, so that the bit in the block implies the bit in the group.
		atomic.OrUint64(&s.group(i/64/64).any, 1<<(i/64%64))
		atomic.OrUint64(&b.any, bit)
	}
	before = atomic.OrUint64(w, mask)
	if before|mask == ones {
		s.loosen()
	}
	return before
}

// TurnOff clears the slots of mask in word i, which must be usable, and returns the word as it was before.
// The rules of [Set.TurnOn] hold.
func (s *Set) TurnOff(i uint, mask uint64) (before uint64) {
	w := s.word(i)
	if before = atomic.LoadUint64(w); before&mask == 0 {
		return before
	}
	b, bit := s.block(i/64), uint64(1)<<(i%64)
	if atomic.LoadUint64(&b.full)&bit != 0 {
		atomic.AndUint64(&s.group(i/64/64).full, ^(uint64(1) << (i / 64 % 64)))
		atomic.AndUint64(&b.full, ^bit)
	}
	before = atomic.AndUint64(w, ^mask)
	if before&^mask == 0 {
		s.loosen()
	}
	return before
}

// loosen notes that the summaries may be loose. Usually it only reads, so that goroutines share the cache
// line.
func (s *Set) loosen() {
	if !s.loose.Load() {
		s.loose.Store(true)
	}
}

// Load64 returns the 64 bits of word i, which must be usable. Unlike [Set.Word], Load64 may run while other
// goroutines mark or toggle slots.
func (s *Set) Load64(i uint) uint64 { return atomic.LoadUint64(s.word(i)) }

// Tighten makes all summaries exact after slots were toggled. Complexity: constant if no word became empty or
// full by toggling; otherwise one step for each word that is not empty according to the summaries.
func (s *Set) Tighten() {
	if !s.loose.Load() {
		return
	}
	s.loose.Store(false)
	for g := range s.groups {
		for any := s.groups[g].any; any != 0; any &= any - 1 {
			i := uint(g*64 + bits.TrailingZeros64(any))
			var exact summary
			for words := s.block(i).any; words != 0; words &= words - 1 {
				k := uint(bits.TrailingZeros64(words))
				value := *s.word(i*64 + k)
				exact = exact.with(k, value != 0, value == ones)
			}
			*s.block(i) = exact
			s.summarizeBlock(i, exact)
		}
	}
}
