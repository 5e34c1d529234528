package vast

import "iter"

// Extent is a run of slots that one archetype owns, for tools that show memory.
type Extent struct {
	First     int // slot
	Slots     int // a multiple of 64
	Entities  int // that live in them
	Archetype *Archetype
}

// Extents yields the runs of slots that archetypes own, in the order of slots, from the one on that reaches
// beyond slot from. When the structure of the world was changed, the next step panics. Complexity: a few
// steps for each extent, and for each range of slots that nobody owns.
func (w *World) Extents(from int) iter.Seq[Extent] {
	return func(yield func(Extent) bool) {
		if w.closed || w.live == nil {
			return
		}
		before := w.changes
		for word := uint(max(from, 0) / 64); word < uint(w.frontier); {
			if word = w.vacant.NextClear(word); word >= uint(w.frontier) {
				return
			}
			x := w.extents[w.owner(uint32(word)).extent]
			if !yield(Extent{int(x.first()), int(x.words) * 64, int(x.used - x.worn), x.archetype}) {
				return
			}
			w.unchanged(before, "extents were walked over")
			word = uint(x.word + x.words)
		}
	}
}

// Number returns the archetype's number: a world counts its archetypes from 0 on, in the order of their making.
func (a *Archetype) Number() int { return int(a.id) }

// Columns returns the columns that the archetype's entities are born with, in the order of their making, for tools.
func (a *Archetype) Columns() []AnyColumn {
	cols := make([]AnyColumn, len(a.columns))
	for i, c := range a.columns {
		cols[i] = columnOfAnyType{c}
	}
	return cols
}

// Occupied returns how many of the slots [lo, hi) hold an entity with a component in col, or any entity where col is nil.
// Slots beyond those in use are allowed. Complexity: one step for each 4,096 slots that are all occupied or all not, and for
// each 64 of the others.
func (w *World) Occupied(col AnyColumn, lo, hi int) int {
	s := w.live
	if col != nil {
		s = columnOf("Occupied", col).set
	}
	if w.closed || s == nil {
		return 0
	}
	return s.CountRange(uint(max(lo, 0)), uint(max(hi, 0)))
}

// Presence returns which of the 64 slots of a word, from 64 × word on, hold an entity with a component in col, or any entity
// where col is nil: bit i stands for the i-th of them.
func (w *World) Presence(col AnyColumn, word int) uint64 {
	s := w.live
	if col != nil {
		s = columnOf("Presence", col).set
	}
	if w.closed || s == nil || word < 0 || word >= s.Len()/64 {
		return 0
	}
	return s.Word(uint(word))
}

// Uses returns how often a slot was used: the generation that its entity has, or that the last one had. After [World.Trim]
// it may be 0 for slots that nobody owns.
func (w *World) Uses(slot int) uint32 {
	if slot < 0 || slot >= int(w.size) {
		return 0
	}
	return Entity{generation: *w.generation(uint32(slot))}.Generation()
}
