package probe

import (
	"iter"

	"github.com/vastgo/vast"
)

// Extent is a range of consecutive slots that one archetype owns.
type Extent struct {
	First     int // first slot
	Slots     int // number of slots, a multiple of 64
	Entities  int // number of entities in these slots
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

// Archetypes returns the archetypes of a world in the order of their numbers, also those that own no slots.
func Archetypes(w *vast.World) []*vast.Archetype { return engine.Archetypes(w) }

// NumberOf returns the number of an archetype. A world numbers its archetypes in the order in which they were
// made, from 0 on.
func NumberOf(a *vast.Archetype) int { return engine.NumberOf(a) }

// ColumnsOf returns the columns that an archetype's entities are born with, in the order in which the columns
// were made.
func ColumnsOf(a *vast.Archetype) []vast.AnyColumn { return engine.ColumnsOf(a) }

// EntityAt returns the living entity in a slot, and whether there is one. The slot may be any number.
// Complexity: constant.
func EntityAt(w *vast.World, slot int) (vast.Entity, bool) { return engine.EntityAt(w, slot) }

// Occupied returns the number of entities in the slots [lo, hi) that have a component in col. If col is nil,
// it counts all entities in these slots. The range may exceed the slots of the world. Complexity: one step
// for each block of 4,096 slots in the range, and one step for each word of 64 slots in blocks that are
// partly occupied or lie partly in the range.
func Occupied(w *vast.World, col vast.AnyColumn, lo, hi int) int {
	return engine.Occupied(w, col, lo, hi)
}

// Presence returns the presence bits in col of the 64 slots from 64 × word on. Bit i is set if the entity in
// the i-th of these slots has a component in col. If col is nil, bit i is set if the slot holds an entity.
// Presence returns 0 for a word that the world does not have. Complexity: constant.
func Presence(w *vast.World, col vast.AnyColumn, word int) uint64 {
	return engine.Presence(w, col, word)
}

// Uses returns the generation of the entity in a slot, or of the last entity if the slot is free. The
// generation counts how often the slot was used. [vast.World.Trim] discards generations of slots that no
// archetype owns: Uses may then return 0. When an archetype owns such a slot again, the generation may be
// greater than the number of uses. Complexity: constant.
func Uses(w *vast.World, slot int) uint32 { return engine.Uses(w, slot) }
