// Package outside lets package guard keep some elements of a bulk.Pool in memory outside of the pool.
package outside

// Store keeps elements outside of a pool. The slots of their handles have no memory in the pool.
type Store[Handle, T any] interface {
	// Get returns the element of h, or nil if the store has no such element.
	Get(h Handle) *T
	// Remove removes the element of h. It reports whether the store had the element.
	Remove(h Handle) bool
}

// Keep connects pool, a *bulk.Pool[T], with store, a Store[bulk.Handle[T], T]. After this call, the pool asks
// the store for an element if the slot of its handle has no memory in the pool. Keep returns the first slot
// that the store may use: the capacity of the pool. The store does not slow down look-ups of elements in the
// pool. Package bulk sets Keep.
var Keep func(pool, store any) (first int)
