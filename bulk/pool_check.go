package bulk

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/invariants"
)

// poison overwrites the removed element of slot i, to expose the use of old pointers.
func (p *Pool[T]) poison(i uint) {
	e := p.slot(i)
	invariants.Poison(unsafe.Slice((*byte)(unsafe.Pointer(e)), unsafe.Sizeof(*e)))
}

// mustBeFree panics if slot i was written after poison.
func (p *Pool[T]) mustBeFree(i uint) {
	e := p.slot(i)
	invariants.MustBeFree(unsafe.Slice((*byte)(unsafe.Pointer(e)), unsafe.Sizeof(*e)), func() string {
		return fmt.Sprintf("bulk: slot %d of %s", i, p.plan.name)
	})
}

// checkInvariants panics if the bookkeeping contradicts itself. The type generations explains slots apart and
// the common generation of a word. Complexity: one step for each slot that has memory.
func (p *Pool[T]) checkInvariants() {
	p.slots.checkInvariants()
	for w := range (p.room + wordBits - 1) / wordBits {
		live, c := p.live.Word(w), p.generations.common(w)
		if taken := uint64(1)<<c.fresh - 1; (live|c.apart)&^taken != 0 {
			p.broken("word %d has live slots %#x and slots apart %#x, but only its slots below %d were taken",
				w, live, c.apart, c.fresh)
		}
		if shared := *p.generations.ofWord(w); c.apart == 0 && shared != c.generation ||
			c.apart != 0 && shared != 0 {
			p.broken("word %d shares generation %#x, but its common generation is %#x and its slots apart "+
				"are %#x", w, shared, c.generation, c.apart)
		}
		for m := live; m != 0; m &= m - 1 {
			i := w*wordBits + uint(bits.TrailingZeros64(m))
			g := p.generations.of(i)
			if generation.Count(g) == 0 || g != uint32(p.generations.tag)|generation.Count(g) {
				p.broken("live slot %d has generation %#x", i, g)
			}
		}
		if got, want := p.retired[w], p.generations.exhausted(w); got != want {
			p.broken("the slots %#x of word %d are exhausted, but %#x are retired", want, w, got)
		}
	}
}
