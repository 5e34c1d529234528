package bulk

import (
	"fmt"
	"math/bits"

	"github.com/vastgo/vast/internal/invariants"
)

// Grow makes the next n insertions unable to fail, by committing memory for them. It panics when n is negative.
//
// It returns an [*vm.Error] wrapping [vm.ErrCapacity] (Options.Capacity), [vm.ErrLimit] (Options.MaxBytes or
// Options.Limit) or another limit as [vm.Region.Commit] does; then the pool is as it was.
func (p *Pool[T]) Grow(n int) error {
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on %s: a number of elements is zero or more", n, p.plan.name))
	}
	return p.makeRoom(opGrow, n)
}

// makeRoom commits memory until n slots are free.
func (p *Pool[T]) makeRoom(op string, n int) error {
	p.mustBeOpen()
	inUse := p.len + p.retiredHoles()
	if n <= int(p.room)-inUse {
		return nil
	}
	if n > p.plan.capacity-inUse {
		return p.plan.full(op, n, inUse)
	}
	need := inUse + n
	committed := p.elements.Committed()
	ahead := min(max(need, (committed+p.plan.stepFrom(committed))/p.plan.sizeElement), p.plan.capacity)
	err := p.commit(ahead)
	if err != nil && need < ahead && settlesForLess(op, err) {
		err = p.commit(need)
	}
	if err == nil && invariants.Enabled {
		p.checkInvariants()
	}
	return err
}

// commit makes at least the first n slots usable, or changes nothing.
func (p *Pool[T]) commit(n int) error {
	elements, generations := p.elements.Committed(), p.generations.committed()
	err := p.elements.grow(n * p.plan.sizeElement)
	if err == nil {
		err = p.generations.grow(n)
	}
	if err == nil {
		err = p.live.Grow(n)
	}
	if err != nil {
		p.elements.shrinkTo(elements)
		p.generations.shrinkTo(generations)
		return err
	}
	p.room = uint(min(p.elements.Committed()/p.plan.sizeElement, p.generations.room(), p.live.Len(), p.plan.capacity))
	p.words = p.live.Words()
	return nil
}

// search moves the hint to the lowest word with a free slot and returns that slot. Where there is none it makes room, or
// panics and changes nothing.
//
//go:noinline
func (p *Pool[T]) search() uint {
	p.mustBeOpen()
	for from := p.hint; ; {
		w := p.live.NextClear(from*wordBits) / wordBits
		if w*wordBits < p.room {
			m := ^p.live.Word(w) &^ p.retired[w]
			if m == 0 {
				from = w + 1
				continue
			}
			if i := w*wordBits + uint(bits.TrailingZeros64(m)); i < p.room {
				p.hint, p.skip = w, p.retired[w]
				return i
			}
		}
		if err := p.makeRoom(opInsert, 1); err != nil {
			panic(err)
		}
	}
}

// lower moves the hint down to word w, where a slot became free.
//
//go:noinline
func (p *Pool[T]) lower(w uint) { p.hint, p.skip = w, p.retired[w] }

// retire takes slot i, which is being taken for the last time, out of those that may be taken.
//
//go:noinline
func (p *Pool[T]) retire(i uint) {
	if p.retired == nil {
		p.retired = make(map[uint]uint64)
	}
	p.retired[i/wordBits] |= 1 << (i % wordBits)
	p.skip = p.retired[p.hint]
}

// retiredHoles returns the number of slots that hold no element and never will again.
func (p *Pool[T]) retiredHoles() int {
	n := 0
	for w, m := range p.retired {
		n += bits.OnesCount64(m &^ p.live.Word(w))
	}
	return n
}
