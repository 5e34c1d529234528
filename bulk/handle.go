package bulk

// Handle refers to an element of a [Pool] or [Dense] and knows when the element is gone. It is 8 bytes, comparable, and holds no
// Go pointer, so it may be stored outside Go's heap. The zero Handle refers to nothing.
//
// A handle is good in the container that made it. Another one finds it stale, except by chance: the slot must have the same
// count there, and the containers must have been made a multiple of 255 apart.
type Handle[T any] struct {
	slot       uint32
	generation uint32
}

// Slot returns the number of the element's slot: in a Pool its index in memory, in a Dense that of its entry in the table
// between handles and elements.
func (h Handle[T]) Slot() uint32 { return h.slot }

// Generation returns the generation of the slot: in the low 24 bits a count that grows whenever the slot is taken, in the
// high 8 the tag of the container.
func (h Handle[T]) Generation() uint32 { return h.generation }

// IsZero reports whether h is the zero Handle.
func (h Handle[T]) IsZero() bool { return h == Handle[T]{} }
