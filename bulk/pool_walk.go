package bulk

import (
	"iter"
	"math/bits"
	"unsafe"
)

// Runs yields the live elements in ascending order of slots, as maximal runs of neighbours: the first slot of
// each run, and a slice of the run's elements. If most runs are long, Runs is the fastest way to visit all
// elements; otherwise use [Pool.All].
//
// The body may remove elements of the run that it gets; the slice still contains them. If the body removes
// other elements, or inserts elements, use [Pool.All]: Runs may yield removed elements and miss new ones.
//
// Complexity: a few steps for each run. One step passes 64 free slots, and in a long gap 4,096 or 262,144.
func (p *Pool[T]) Runs() iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		w, m := uint(0), uint64(0)
		if p.room > 0 {
			m = *p.word(0)
		}
		for {
			// The addition carries through the lowest run of m, so the lowest bit of carried is the run's
			// end. carried is 0 if the run reaches the end of the word, or if m has no run.
			carried := m + m&-m
			lo := w*wordBits + uint(bits.TrailingZeros64(m))
			hi := w*wordBits + uint(bits.TrailingZeros64(carried))
			m &= carried
			if carried == 0 {
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

// nextRun returns the first run [lo, hi) that begins at slot i or behind it. word is the word of slot hi, and
// behind has the live slots of this word behind the run. If there is no run, lo and hi are equal.
func (p *Pool[T]) nextRun(i uint) (lo, hi, word uint, behind uint64) {
	p.mustBeOpen()
	if lo = p.live.Next(i); lo >= p.room {
		return 0, 0, 0, 0
	}
	if hi = p.live.NextClear(lo); hi < p.room {
		behind = *p.word(hi / wordBits) >> (hi % wordBits) << (hi % wordBits)
	}
	return lo, hi, hi / wordBits, behind
}

// All yields the live elements with their handles, in ascending order of slots. The body may remove elements;
// removed elements are not yielded any more. Elements that the body inserts may be yielded or not. All is
// faster than [Pool.Runs] if most runs have one element, and slower if runs are long.
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

// next returns i if the word that begins with slot i has a live slot. Otherwise it returns the next live
// slot, or a slot beyond the room if no live slot follows.
func (p *Pool[T]) next(i uint) uint {
	p.mustBeOpen()
	if i < p.room && *p.word(i / wordBits) != 0 {
		return i
	}
	return p.live.Next(i)
}
