package sched

import (
	"slices"

	"github.com/vastgo/vast"
)

// Reduce calls part for each part of the query's entities, as [Context.Each] does, and combines what it returns in the
// order of the batches, beginning with the first two: the result is the same, to the last bit of a floating-point number,
// whatever the number of workers. Without entities it is the zero R. n is the number of entities in a part.
//
// In the long run it allocates nothing, as far as function literals do not.
func Reduce[R any](c *Context, q vast.Query, n int, part func(c *Context, b vast.Batch) R, combine func(a, b R) R) R {
	j := c.cut(q, n)
	r := reductionOf[R](c)
	r.part = part
	r.results = slices.Grow(r.results, len(j.batches))[:len(j.batches)]
	defer func() {
		clear(r.results) // lest they keep alive what they point to
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

// reduction is what one Reduce needs, kept for the next one.
type reduction[R any] struct {
	part    func(*Context, vast.Batch) R
	one     func(*Context, vast.Batch)
	results []R
}

// reductionOf returns the context's reduction to an R.
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
