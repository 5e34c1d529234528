package sched

import (
	"slices"

	"github.com/vastgo/vast"
)

// Reduce calls part for each part of the query's entities, as [Context.Each] does, and combines the results
// in the order of the batches, beginning with the results of the first two batches. The result is the same on
// any number of workers, to the last bit of a floating-point number. If the query matches no entity, the
// result is the zero R. n is the number of entities in a part.
//
// In the long run Reduce itself allocates nothing. The two functions may allocate.
func Reduce[R any](c *Context, q vast.Query, n int, part func(c *Context, b vast.Batch) R,
	combine func(a, b R) R) R {
	j := c.cut(q, n)
	r := reductionOf[R](c)
	r.part = part
	r.results = slices.Grow(r.results, len(j.batches))[:len(j.batches)]
	defer func() {
		clear(r.results) // so that r keeps no values alive
		r.part, r.results = nil, r.results[:0]
	}()
	j.part = r.one
	j.run()
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

// reduction is the state of one Reduce, reused by the next one.
type reduction[R any] struct {
	part    func(*Context, vast.Batch) R // the argument of Reduce
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
		r.results[p.sequence-p.system.context.job.first] = r.part(p, b)
	}
	c.results = append(c.results, r)
	return r
}
