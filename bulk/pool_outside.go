package bulk

import "github.com/vastgo/vast/internal/outside"

// KeepOutside has the pool ask s about handles that are beyond its capacity, whose slots begin at first: some elements may
// so lie elsewhere, and those in the pool cost nothing for it. It is for package guard.
func (p *Pool[T]) KeepOutside(s outside.Store[Handle[T], T]) (first int) {
	p.outside = s
	return p.plan.capacity
}

// getOutside returns the element of a handle without a slot in the pool, where something keeps it, or nil.
//
//go:noinline
func (p *Pool[T]) getOutside(h Handle[T]) *T {
	p.mustBeOpen()
	if p.outside == nil {
		return nil
	}
	return p.outside.Get(h)
}

// removeOutside is getOutside for Remove.
//
//go:noinline
func (p *Pool[T]) removeOutside(h Handle[T]) bool {
	p.mustBeOpen()
	return p.outside != nil && p.outside.Remove(h)
}
