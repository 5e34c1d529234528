package soak

import (
	"math/rand/v2"

	"github.com/vastgo/vast/bulk"
)

// lastingContainers uses a pool, lists and indices that stay open.
func lastingContainers(t *tally) churn {
	var (
		pool    *bulk.Pool[place]
		lists   *bulk.Lists[uint32]
		hash    *bulk.HashIndex[int32, int64]
		ordered *bulk.OrderedIndex[int32, int64]
		held    *holder
		owned   *owners
		p, q    *pairs
	)
	return churn{name: "lasting containers", round: func(r *rand.Rand) {
		if pool == nil {
			pool, lists = mustReturn(bulk.NewPool[place](bulk.Options{})),
				mustReturn(bulk.NewLists[uint32](bulk.Options{}))
			hash, ordered = mustReturn(bulk.NewHashIndex[int32, int64](bulk.Options{})),
				mustReturn(bulk.NewOrderedIndex[int32, int64](bulk.Options{}))
			held, owned, p, q = newHolder(pool, 5000), newOwners(lists), newPairs(hash), newPairs(ordered)
		}
		held.use(r, 5000)
		owned.use(r, 2000)
		p.use(r, 5000)
		q.use(r, 5000)
		compareOrder(ordered, q.count)
		t.operations.Add(17_000)
	}, close: func() {
		mustSucceed(pool.Close())
		mustSucceed(lists.Close())
		mustSucceed(hash.Close())
		mustSucceed(ordered.Close())
	}}
}
