// Package outside lets package guard keep some elements of a bulk.Pool in memory outside of the pool.
package outside

// Store keeps elements under handles whose slots the pool does not have.
type Store[Handle, T any] interface {
	// Get returns the element of h, or nil if the element was removed or h was never given out.
	Get(h Handle) *T
	// Remove removes the element of h and reports whether there was one.
	Remove(h Handle) bool
}

// Keep connects pool, a *bulk.Pool[T], with store, a Store[bulk.Handle[T], T]. After this call, the pool
// passes handles to the store if their slots have no memory in the pool. Keep returns the pool's capacity,
// which is the first slot that the store may use. The store does not slow down look-ups of the pool's own
// elements. Package bulk sets Keep.
var Keep func(pool, store any) (first int)
