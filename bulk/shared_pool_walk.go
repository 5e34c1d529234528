package bulk

import (
	"iter"
	"math/bits"
	"unsafe"
)

// All yields each live element once, with its handle, in ascending order of slots. During the loop, the
// loop's body and other goroutines may insert and remove elements; All may miss an element that is inserted
// or removed during the loop. [SharedPool] says how long the address of an element may be used.
//
// Complexity: one step for each 32 slots that were ever taken, and one step for each element.
func (p *SharedPool[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		p.mustBeOpen()
		for i := uint(0); i < p.end(); i += slotsPerWord {
			c := p.chunk(i)
			w := c.word(i).Load()
			for m := presenceOf(w); m != 0; m &= m - 1 {
				at := i + uint(bits.TrailingZeros32(m))
				g := commonOf(w)
				if g == 0 {
					g = c.own(at).Load()
				}
				// The body may have removed the element, or another goroutine may be changing the slot.
				if !c.holds(at, g) {
					continue
				}
				if !yield(Handle[T]{uint32(at), g}, p.slot(at)) {
					return
				}
				p.mustBeOpen()
			}
		}
	}
}

// Runs yields each run of live elements: the number of the run's first slot, and a slice of the run's
// elements. The runs come in ascending order of slots. During the loop, no goroutine may insert or remove
// elements. Exception: the loop's body may remove elements of the current run. The slice keeps the removed
// elements.
//
// Complexity: one step for each 32 slots that were ever taken, and a few steps for each run.
func (p *SharedPool[T]) Runs() iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		p.mustBeOpen()
		lo, inside := uint(0), false
		for i := uint(0); i < p.end(); i += slotsPerWord {
			live := p.chunk(i).live(i)
			edges := live ^ live<<1 // bits where a run begins or ends
			if inside {
				edges ^= 1
			}
			for ; edges != 0; edges &= edges - 1 {
				at := i + uint(bits.TrailingZeros32(edges))
				if inside = !inside; inside {
					lo = at
					continue
				}
				if !yield(int(lo), unsafe.Slice(p.slot(lo), at-lo)) {
					return
				}
				p.mustBeOpen()
			}
		}
		if inside && yield(int(lo), unsafe.Slice(p.slot(lo), p.end()-lo)) {
			p.mustBeOpen()
		}
	}
}

// end returns a number that is greater than the number of every live slot.
func (s *sharedSlots) end() uint {
	return uint(min(s.room.Load(), s.frontier.Load()*slotsPerLine))
}
