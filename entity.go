package vast

import (
	"fmt"

	"github.com/vastgo/vast/internal/generation"
)

// Entity is a weak reference to an entity of a world. Once the entity is deleted, the reference is stale for
// ever, even if its slot is used again. An Entity is a plain value of 8 bytes without Go pointers: it may be
// stored in columns, sent, and compared with ==. The zero Entity refers to nothing.
//
// An Entity holds the number of the slot, the generation of the slot, and a mark of the world, so that an
// entity of another world is stale in this world. Worlds share 255 marks, and each process hands them out
// anew, so do not rely on marks to tell worlds apart. [Options].Mark chooses the mark of a world.
type Entity struct {
	slot       uint32
	generation uint32
}

// Slot returns the number of the entity's slot in its world, which is its index in every column.
func (e Entity) Slot() uint32 { return e.slot }

// Generation returns a number that grows with each use of the slot: 1 for the first entity in a slot, 2 for
// the second. After [World.Trim] a slot may skip numbers.
func (e Entity) Generation() uint32 { return generation.Count(e.generation) }

// IsZero reports whether e is the zero Entity.
func (e Entity) IsZero() bool { return e == Entity{} }

// ID returns the entity as one number, for files and networks; [EntityOf] turns the number back.
func (e Entity) ID() uint64 { return uint64(e.generation)<<32 | uint64(e.slot) }

// EntityOf returns the entity with the given [Entity.ID]. Any number is safe: if it is not the ID of a living
// entity, the result is stale.
func EntityOf(id uint64) Entity {
	return Entity{slot: uint32(id), generation: uint32(id >> 32)}
}

// String returns slot and generation, such as 17.3.
func (e Entity) String() string { return fmt.Sprintf("%d.%d", e.slot, e.Generation()) }
