package sched

import (
	"slices"

	"github.com/vastgo/vast"
)

// Reduce calls part for each batch of about n entities of the query, in parallel as [Context.Each] does.
// Reduce then combines the results from left to right: the first call of combine receives the results of the
// first two batches. The result is the same on any number of workers, including the rounding of
// floating-point numbers. If the query matches no entity, the result is the zero R.
//
// In the long run Reduce itself allocates nothing.
func Reduce[R any](c *Context, q vast.Query, n int, part func(c *Context, b vast.Batch) R,
	combine func(a, b R) R) R {
	d := c.cut(q, n)
	r := reductionOf[R](c)
	r.part = part
	r.results = slices.Grow(r.results, len(d.batches))[:len(d.batches)]
	defer func() {
		clear(r.results) // so that r keeps no values alive
		r.part, r.results = nil, r.results[:0]
	}()
	d.part = r.one
	d.run()
	var result R
	for i, v := range r.results {
		if i == 0 {
			result = v
		} else {
			result = combine(result, v)
		}
	}
	return result
}

// reduction is the state of a call of Reduce. The Context reuses it for the next call with the same R.
type reduction[R any] struct {
	part    func(*Context, vast.Batch) R // the argument of Reduce while Reduce runs
	one     func(*Context, vast.Batch)   // calls part for a batch and stores the result in results
	results []R
}

// reductionOf returns the context's reduction for results of type R.
func reductionOf[R any](c *Context) *reduction[R] {
	for _, kept := range c.results {
		if r, ok := kept.(*reduction[R]); ok {
			return r
		}
	}
	r := new(reduction[R])
	r.one = func(p *Context, b vast.Batch) {
		r.results[p.sequence-p.system.context.division.first] = r.part(p, b)
	}
	c.results = append(c.results, r)
	return r
}
