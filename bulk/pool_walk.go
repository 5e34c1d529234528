package bulk

import (
	"iter"
	"math/bits"
	"unsafe"
)

// Runs yields the live elements in ascending order of slots, as maximal runs of neighbours: it yields the
// first slot of each run, and a slice of the run's elements. Runs is the fastest way to visit many elements:
// a loop over the slice costs as much as over any other slice.
//
// The body may remove elements of the run that it gets; the slice still contains the removed elements. The
// body should neither remove other elements nor insert any: Runs may miss these changes, so a later run may
// hold a removed element. [Pool.All] allows all of these changes.
//
// Complexity: a few steps for each run; holes are passed 64 at a time, and 4,096 or 262,144 at a time in long
// gaps.
func (p *Pool[T]) Runs() iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		w, m := uint(0), uint64(0)
		if p.room > 0 {
			m = *p.word(0)
		}
		for {
			// The addition carries through the run: the lowest bit of after is the run's end. after is zero
			// if the run reaches the end of the word, or if the word has no more runs.
			after := m + m&-m
			lo := w*wordBits + uint(bits.TrailingZeros64(m))
			hi := w*wordBits + uint(bits.TrailingZeros64(after))
			m &= after
			if after == 0 {
				if lo, hi, w, m = p.nextRun(lo); lo == hi {
					return
				}
			}
			if !yield(int(lo), unsafe.Slice(p.slot(lo), hi-lo)) {
				return
			}
			if p.ended != nil {
				panic(p.ended)
			}
		}
	}
}

// nextRun returns the first run at or after a slot, the word where the run ends, and the live slots of that
// word behind the run. lo is hi if there is no run.
func (p *Pool[T]) nextRun(from uint) (lo, hi, last uint, behind uint64) {
	p.mustBeOpen()
	if lo = p.live.Next(from); lo >= p.room {
		return 0, 0, 0, 0
	}
	if hi = p.live.NextClear(lo); hi < p.room {
		behind = *p.word(hi / wordBits) >> (hi % wordBits) << (hi % wordBits)
	}
	return lo, hi, hi / wordBits, behind
}

// All yields the live elements with their handles, in ascending order of slots. The body may remove elements;
// removed elements are not yielded any more. Elements that the body inserts may be yielded or not. All is
// faster than [Pool.Runs] if most elements have holes on both sides, and slower if most elements have
// elements on both sides.
func (p *Pool[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		for i := p.next(0); i < p.room; i = p.next(i) {
			w := i / wordBits
			for m := *p.word(w); m != 0; m &= *p.word(w) {
				i = w*wordBits + uint(bits.TrailingZeros64(m))
				if !yield(Handle[T]{uint32(i), p.generations.of(i)}, p.slot(i)) {
					return
				}
				if p.ended != nil {
					panic(p.ended)
				}
				m &= m - 1
			}
			i = (w + 1) * wordBits
		}
	}
}

// next returns i, which must be the first slot of a word, if the word has a live slot. Otherwise it returns
// the next live slot, or a slot beyond the room if no live slot follows.
func (p *Pool[T]) next(i uint) uint {
	p.mustBeOpen()
	if i < p.room && *p.word(i / wordBits) != 0 {
		return i
	}
	return p.live.Next(i)
}
