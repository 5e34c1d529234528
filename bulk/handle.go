package bulk

// Handle refers to an element of a [Pool] and knows when the element is gone. It is 8 bytes, comparable, and holds no
// Go pointer, so it may be stored outside Go's heap. The zero Handle refers to nothing.
//
// A handle is good in the pool that made it. Another pool finds it stale, except by chance: a slot must have been taken
// equally often there, and both pools must have been made a multiple of 255 pools apart.
type Handle[T any] struct {
	slot       uint32
	generation uint32
}

// Slot returns the number of the element's slot, its index in the pool's memory.
func (h Handle[T]) Slot() uint32 { return h.slot }

// Generation returns the generation of the slot: how often it was taken in the low 24 bits, the pool's tag in the high 8.
func (h Handle[T]) Generation() uint32 { return h.generation }

// IsZero reports whether h is the zero Handle.
func (h Handle[T]) IsZero() bool { return h == Handle[T]{} }
