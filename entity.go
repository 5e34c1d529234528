package vast

import (
	"fmt"

	"github.com/vastgo/vast/internal/generation"
)

// Entity is a weak reference to an entity of a world. Once the entity is deleted, the reference is stale for
// ever, even if its slot is used again. An Entity is a plain value of 8 bytes without Go pointers: it may be
// stored in columns, sent, and compared with ==. The zero Entity refers to no entity.
//
// An Entity holds the number of a slot, the generation of the slot, and the mark of the world. If two worlds
// have different marks, the entities of one world are stale in the other world. There are only 255 marks, and
// each process begins with mark 1. Two worlds may therefore have the same mark. [Options].Mark sets the mark
// of a world.
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

// ID returns the entity as a number, for files and networks. [EntityOf] converts the number to the entity.
func (e Entity) ID() uint64 { return uint64(e.generation)<<32 | uint64(e.slot) }

// EntityOf returns the entity with the given [Entity.ID]. If the number is not the ID of a living entity, the
// result is a stale Entity.
func EntityOf(id uint64) Entity {
	return Entity{slot: uint32(id), generation: uint32(id >> 32)}
}

// String returns slot and generation, such as 17.3.
func (e Entity) String() string { return fmt.Sprintf("%d.%d", e.slot, e.Generation()) }
