package bulk

import (
	"fmt"

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

func (p *Pool[T]) makeRoom(op string, n int) error {
	p.mustBeOpen()
	room := p.room
	err := p.slots.makeRoom(&p.plan, p.elements.Committed(), op, n, p.commit)
	if invariants.Enabled && p.room != room {
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
	p.measure()
	return nil
}

// measure brings up to date for how many slots there is memory.
func (p *Pool[T]) measure() {
	p.room = uint(min(p.elements.Committed()/p.plan.sizeElement, p.generations.room(), p.live.Len(), p.plan.capacity))
	p.words = p.live.Words()
}

// search returns the lowest free slot. Where there is none it makes room, or panics and changes nothing.
//
//go:noinline
func (p *Pool[T]) search() uint {
	p.mustBeOpen()
	for {
		if i, ok := p.lowest(); ok {
			return i
		}
		if err := p.makeRoom(opInsert, 1); err != nil {
			panic(err)
		}
	}
}
