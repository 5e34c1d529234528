// Package outside is what packages bulk and guard know of each other.
package outside

// Store keeps elements of a pool that do not lie in its memory, under handles that the pool does not give out.
type Store[Handle, T any] interface {
	// Get returns the element of h, or nil where it is gone or h was never given out.
	Get(h Handle) *T
	// Remove takes the element of h out and reports whether there was one.
	Remove(h Handle) bool
}
