package bulk

import "github.com/vastgo/vast/internal/outside"

func init() {
	outside.Keep = func(pool, store any) (first int) {
		return pool.(interface{ keepOutside(store any) int }).keepOutside(store)
	}
}

// keepOutside implements [outside.Keep].
func (p *Pool[T]) keepOutside(store any) (first int) {
	p.outside = store.(outside.Store[Handle[T], T])
	return p.plan.capacity
}

// getOutside returns the element of a handle whose slot has no memory in the pool, or nil.
//
//go:noinline
func (p *Pool[T]) getOutside(h Handle[T]) *T {
	p.mustBeOpen()
	if p.outside == nil {
		return nil
	}
	return p.outside.Get(h)
}

// removeOutside removes the element of a handle whose slot has no memory in the pool, and reports whether
// there was an element.
//
//go:noinline
func (p *Pool[T]) removeOutside(h Handle[T]) bool {
	p.mustBeOpen()
	return p.outside != nil && p.outside.Remove(h)
}
