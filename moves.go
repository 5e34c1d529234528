package vast

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/vastgo/vast/internal/generation"
)

// Moves holds the old and the new references of the entities that [Archetype.Pack], [World.Regroup] or
// clone.Merge has moved. The zero Moves holds no entities. Later changes of the world do not change Moves.
type Moves struct {
	first uint32 // number of the word (64 slots) that words[0] describes
	words []movedWord
	pairs []movedEntity // sorted by old slot
}

// movedWord holds the moved entities whose old slots lie in one word.
type movedWord struct {
	mask uint64 // the old slots
	at   uint32 // index of the word's first entity in Moves.pairs
}

type movedEntity struct{ old, new Entity }

// newMoves plans the moves of entities from slot from[i] to slot to[i]. World.move carries them out.
func (w *World) newMoves(from, to []uint32) Moves {
	if len(from) == 0 {
		return Moves{}
	}
	lo, hi := from[0], from[0]
	for _, slot := range from {
		lo, hi = min(lo, slot), max(hi, slot)
	}
	m := Moves{first: lo / 64, words: make([]movedWord, hi/64-lo/64+1), pairs: make([]movedEntity, len(from))}
	for _, slot := range from {
		m.words[slot/64-m.first].mask |= 1 << (slot % 64)
	}
	n := uint32(0)
	for i := range m.words {
		m.words[i].at = n
		n += uint32(bits.OnesCount64(m.words[i].mask))
	}
	sorted := slices.IsSorted(from)
	for i, slot := range from {
		p := &m.pairs[i]
		if !sorted {
			p = m.find(slot)
		}
		p.old = w.entityIn(slot)
		p.new = Entity{to[i], generation.Next(*w.generation(to[i]), w.mark)}
	}
	return m
}

// find returns the entity that was moved from a slot, or nil.
func (m *Moves) find(slot uint32) *movedEntity {
	if i := slot/64 - m.first; i < uint32(len(m.words)) {
		if w := &m.words[i]; w.mask>>(slot%64)&1 != 0 {
			return &m.pairs[w.at+uint32(bits.OnesCount64(w.mask&(1<<(slot%64)-1)))]
		}
	}
	return nil
}

// slot returns the new slot of the entity that was moved from the slot old, or old if there is none.
func (m *Moves) slot(old uint32) uint32 {
	if p := m.find(old); p != nil {
		return p.new.slot
	}
	return old
}

// Len returns the number of entities that were moved.
func (m Moves) Len() int { return len(m.pairs) }

// All yields the old and the new reference of each entity that was moved, in the order of the old slots.
func (m Moves) All() iter.Seq2[Entity, Entity] {
	return func(yield func(old, new Entity) bool) {
		for i := range m.pairs {
			if !yield(m.pairs[i].old, m.pairs[i].new) {
				return
			}
		}
	}
}

// Resolve returns the new reference of an entity whose old reference is e, or e if no such entity was moved.
// Complexity: constant.
func (m Moves) Resolve(e Entity) Entity {
	if p := m.find(e.slot); p != nil && p.old == e {
		return p.new
	}
	return e
}
