package bulk

import (
	"iter"
	"math/bits"
	"unsafe"
)

// All yields the live elements with their handles, in ascending order of slots. Other goroutines, and the
// loop's body, may insert and remove meanwhile. All yields each element that lives throughout the loop. An
// element that is inserted or removed meanwhile may be yielded or not. No element is yielded twice.
// [SharedPool] says how long the address may be used. Complexity: one step for each 32 slots that were ever
// taken, and one for each element.
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

// Runs yields the live elements in ascending order of slots, as maximal runs of neighbours. For each run it
// yields the first slot and a slice of the elements. No goroutine may insert or remove meanwhile, with one
// exception: the loop's body may remove elements of the run that was yielded to it. Removed elements stay in
// the slice. Complexity: one step for each 32 slots that were ever taken, and a few steps for each run.
func (p *SharedPool[T]) Runs() iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		p.mustBeOpen()
		lo, inside := uint(0), false
		for i := uint(0); i < p.end(); i += slotsPerWord {
			live := p.chunk(i).live(i)
			edges := live ^ live<<1 // where a run begins or ends
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

// end returns a slot number above those of all live slots.
func (s *sharedSlots) end() uint {
	return uint(min(s.room.Load(), s.frontier.Load()*slotsPerLine))
}
