package bulk

// Grow makes the next n insertions unable to fail, by committing memory for them. It panics if n is negative.
//
// It returns an [*vm.Error] wrapping [vm.ErrCapacity] (Options.Capacity), [vm.ErrLimit] (Options.MaxBytes or
// Options.Limit) or another error of [vm.Region.Commit]; then the pool is unchanged.
func (p *Pool[T]) Grow(n int) error { return p.slots.grow(p, n) }

// commit implements container.
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

// committed implements container.
func (p *Pool[T]) committed() int { return p.elements.Committed() }

// measure sets room to the number of slots that have memory.
func (p *Pool[T]) measure() {
	p.room = uint(min(p.elements.Committed()/p.plan.sizeElement, p.generations.room(), p.live.Len(),
		p.plan.capacity))
	p.findWords()
}
