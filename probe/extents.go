package probe

import (
	"iter"

	"github.com/vastgo/vast"
)

// Extent is a range of consecutive slots that one archetype owns.
type Extent struct {
	First     int // first slot
	Slots     int // a multiple of 64
	Entities  int // entities in these slots
	Archetype *vast.Archetype
}

// Extents yields the extents of a world in the order of slots. It begins with the extent that holds the given
// slot, or with the next extent if no extent holds the slot. If the structure of the world changes in the
// loop, the next step panics. Complexity: a few steps for each extent and for each gap between extents.
func Extents(w *vast.World, slot int) iter.Seq[Extent] {
	return func(yield func(Extent) bool) {
		engine.Extents(w, slot, func(first, slots, entities int, a *vast.Archetype) bool {
			return yield(Extent{first, slots, entities, a})
		})
	}
}

// NumberOf returns the number of an archetype. A world numbers its archetypes in the order in which they were
// made, from 0 on.
func NumberOf(a *vast.Archetype) int { return engine.NumberOf(a) }

// ColumnsOf returns the columns that an archetype's entities are born with, in the order in which the columns
// were made.
func ColumnsOf(a *vast.Archetype) []vast.AnyColumn { return engine.ColumnsOf(a) }

// EntityAt returns the living entity in a slot, and whether there is one. Any number is a valid slot.
// Complexity: constant.
func EntityAt(w *vast.World, slot int) (vast.Entity, bool) { return engine.EntityAt(w, slot) }

// Occupied returns how many of the slots [lo, hi) hold an entity that has a component in col, or any entity
// if col is nil. The range may exceed the slots in use. Complexity: one step for each 4,096 slots that are
// all occupied or all empty, and one step for each 64-slot word of the other slots.
func Occupied(w *vast.World, col vast.AnyColumn, lo, hi int) int {
	return engine.Occupied(w, col, lo, hi)
}

// Presence returns the presence bits of a word, the lowest bit for the first slot of the word. A bit is set
// if the slot holds an entity that has a component in col, or any entity if col is nil. Presence returns 0
// for a word that the world does not have. Complexity: constant.
func Presence(w *vast.World, col vast.AnyColumn, word int) uint64 {
	return engine.Presence(w, col, word)
}

// Uses returns the generation of a slot's entity, or of its last entity if the slot is free. This is how
// often the slot was used, or more: [vast.World.Trim] may raise it when an archetype takes the slot again.
// After Trim the result may be 0 for a slot that no archetype owns. Complexity: constant.
func Uses(w *vast.World, slot int) uint32 { return engine.Uses(w, slot) }
