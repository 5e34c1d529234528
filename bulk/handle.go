package bulk

import "github.com/vastgo/vast/internal/generation"

// Handle refers to an element of a [Pool], [Dense] or [SharedPool] and detects that the element was removed.
// A handle is 8 bytes, comparable, and holds no Go pointer, so it may be stored outside Go's heap. The zero
// Handle refers to nothing.
//
// A handle is valid in the container that made it. Another container accepts the handle only if both
// containers have the same tag, and the slot has the same count in both. There are 255 tags, given to
// containers in turn.
type Handle[T any] struct {
	slot       uint32
	generation uint32 // the count, and the container's tag, which package generation calls a mark
}

// Slot returns the number of the element's slot. In a Pool or SharedPool, the number is the element's index
// in memory. In a Dense, the number is the index of the element's entry in the table between handles and
// elements.
func (h Handle[T]) Slot() uint32 { return h.slot }

// Generation returns the count that the slot had when the handle was made. The count starts at 1 and grows
// each time the slot is taken: by 1, or sometimes by up to 8 in a [Pool] or [SharedPool].
func (h Handle[T]) Generation() uint32 { return generation.Count(h.generation) }

// ID returns the handle as one number, for files and networks. [HandleOf] returns the handle of an ID.
func (h Handle[T]) ID() uint64 { return uint64(h.generation)<<32 | uint64(h.slot) }

// HandleOf returns the handle with the given [Handle.ID]. The ID may come from a handle with another element
// type: the result has the same slot and generation. A number that is not the ID of a live element's handle
// gives a stale handle.
func HandleOf[T any](id uint64) Handle[T] {
	return Handle[T]{slot: uint32(id), generation: uint32(id >> 32)}
}

// IsZero reports whether h is the zero Handle.
func (h Handle[T]) IsZero() bool { return h == Handle[T]{} }
