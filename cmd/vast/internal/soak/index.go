package soak

import (
	"math/rand/v2"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/vm"
)

// pairs holds an index and its model: a Go map with the same pairs.
type pairs struct {
	index bulk.Index[int32, int64]
	model map[int32]map[int64]bool
	count int
}

func newPairs(x bulk.Index[int32, int64]) *pairs {
	return &pairs{index: x, model: map[int32]map[int64]bool{}}
}

func (p *pairs) use(r *rand.Rand, steps int) {
	for range steps {
		k, v := r.Int32N(500), r.Int64N(8)
		has := p.model[k][v]
		if r.IntN(2) == 0 {
			must(p.index.Add(k, v) != has, "Add(%d, %d) returned %v", k, v, has)
			if !has {
				if p.model[k] == nil {
					p.model[k] = map[int64]bool{}
				}
				p.model[k][v] = true
				p.count++
			}
		} else {
			must(p.index.Remove(k, v) == has, "Remove(%d, %d) returned %v", k, v, !has)
			if has {
				delete(p.model[k], v)
				p.count--
			}
		}
	}
	must(p.index.Len() == p.count, "%d pairs, not %d", p.index.Len(), p.count)
	for k, vs := range p.model {
		n := 0
		for v := range p.index.Values(k) {
			must(vs[v], "the index has the pair %d, %d, which the model does not have", k, v)
			n++
		}
		must(n == len(vs), "the key %d has %d values, not %d", k, n, len(vs))
	}
}

// compareOrder checks that an ordered index yields count pairs, in the order of their keys.
func compareOrder(x *bulk.OrderedIndex[int32, int64], count int) {
	last, n := int32(-1), 0
	for k := range x.All() {
		must(k >= last, "the key %d comes after the key %d", k, last)
		last = k
		n++
	}
	must(n == count, "%d pairs in order, not %d", n, count)
}

// indices makes, uses and closes indices, and a pool with attached indices.
func indices(t *tally) churn {
	return churn{name: "indices", round: func(r *rand.Rand) {
		o := bulk.Options{Capacity: 10_000, Pages: vm.Pages(r.IntN(4))}
		hash := mustReturn(bulk.NewHashIndex[int32, int64](o))
		ordered := mustReturn(bulk.NewOrderedIndex[int32, int64](o))
		newPairs(hash).use(r, 5000)
		p := newPairs(ordered)
		p.use(r, 5000)
		compareOrder(ordered, p.count)
		hash.Clear()
		mustSucceed(hash.Trim())
		mustSucceed(hash.Close())
		mustSucceed(ordered.Close())

		pool := mustReturn(bulk.NewPool[place](o))
		byX := mustReturn(bulk.NewHashIndex[int64, bulk.Handle[place]](o))
		byY := mustReturn(bulk.NewOrderedIndex[int64, bulk.Handle[place]](o))
		x := bulk.NewIndexed(pool)
		mustSucceed(bulk.Attach(x, byX, func(p *place) int64 { return p.X }))
		mustSucceed(bulk.Attach(x, byY, func(p *place) int64 { return p.Y }))
		for i := range int64(2000) {
			h, _ := x.Insert(place{i, -i})
			if i%3 == 0 {
				must(x.Remove(h), "Remove does not find %v", h)
			} else {
				must(x.Update(h, func(p *place) { p.X, p.Y = p.X+10_000, p.Y-10_000 }),
					"Update does not find %v", h)
			}
		}
		must(byX.Len() == pool.Len() && byY.Len() == pool.Len(),
			"the indices of X and Y have %d and %d pairs for %d elements", byX.Len(), byY.Len(), pool.Len())
		for h, p := range pool.All() {
			must(byX.Has(p.X, h) && byY.Has(p.Y, h), "X or Y of %v is not in its index", *p)
		}
		mustSucceed(byX.Close())
		mustSucceed(byY.Close())
		mustSucceed(pool.Close())
		t.operations.Add(12_000)
	}}
}
