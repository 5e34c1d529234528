package vast

import "math/bits"

// Stats describe a world at one moment. Sizes are in bytes.
type Stats struct {
	Name     string
	Entities int
	Slots    int // slots that archetypes own
	// Changes counts the structural changes so far, such as each entity made, deleted or moved, each
	// component added or removed, each link made or removed, and each tracker made or closed.
	Changes    uint64
	Reserved   int // size of the reserved address space
	Committed  int // committed memory of the world
	Columns    []ColumnStats
	Archetypes []ArchetypeStats
}

// ColumnStats describe one column.
type ColumnStats struct {
	Name      string
	Type      string // type of an element; empty for a tag
	Size      int    // size of one element
	Entities  int    // number of entities that have the component
	Slots     int    // slots that a query for the column visits: all 64-slot words with a component
	Reserved  int    // address space of the elements
	Committed int    // memory of elements and presence bits, without elements on the Go heap
}

// Density returns the share of entities among the slots that a query for the column visits, from 0 to 1. It
// is 1 if the query visits no slots.
func (s ColumnStats) Density() float64 { return share(s.Entities, s.Slots) }

// ArchetypeStats describe one archetype.
type ArchetypeStats struct {
	Columns  []string
	Entities int // number of living entities in the slots of the archetype
	Slots    int // number of slots that the archetype owns
	Extents  int // number of runs of slots that the archetype owns
	Runs     int // number of runs of neighbouring slots that hold an entity
}

// Fill returns the share of the archetype's slots that hold an entity, from 0 to 1. It is 1 if the archetype
// owns no slots.
func (s ArchetypeStats) Fill() float64 { return share(s.Entities, s.Slots) }

// runs returns the number of runs of neighbouring slots that hold an entity.
func (a *Archetype) runs() (n int) {
	last, end := uint64(0), uint32(0) // last is 1 if the last slot before the word `end` holds an entity
	for _, x := range a.extents {
		if x.word != end {
			last = 0
		}
		end = x.word + x.words
		for word := x.word; word < end; word++ {
			live := a.world.live.Word(uint(word))
			n += bits.OnesCount64(live &^ (live<<1 | last))
			last = live >> 63
		}
	}
	return n
}

func share(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// PackPays estimates whether [Archetype.Pack] saves time in a program that afterwards makes the given number
// of walks with [Query.Slots] over all entities of the archetype. Holes between the entities slow down these
// walks. Walks with [Query.Runs] gain more by packing. The estimate ignores the size of components and the
// number of references. It takes the cost of packing from BenchmarkPack, and assumes that a walk takes 0.25
// ns for each hole.
func (s ArchetypeStats) PackPays(walks int) bool {
	if s.Runs <= s.Extents {
		return false
	}
	holes := min(float64(s.Runs)/float64(s.Entities), 0.99) // estimated share of holes among the slots
	pack, walk := 20+70*holes, holes/(1-holes)/4            // nanoseconds for each entity
	return float64(walks)*walk > pack
}

// Stats returns the world's statistics. Complexity: that of [Column.Len] for each column, and one step for
// each 64 slots that archetypes own. Stats makes no system calls. For the number of bytes in memory, call
// [World.Resident] or [World.ResidentStats].
func (w *World) Stats() Stats {
	s := Stats{Name: w.options.Name, Entities: w.Len(), Changes: w.changes}
	for _, r := range w.memory.regions {
		if !w.closed {
			s.Reserved += r.Size()
			s.Committed += r.Committed()
		}
	}
	for _, c := range w.columns {
		if c.store != nil && !w.closed {
			// The elements of stores lie outside the world's regions.
			reserved, committed, _ := c.store.memory()
			s.Reserved, s.Committed = s.Reserved+reserved, s.Committed+committed
		}
		s.Columns = append(s.Columns, c.stats())
	}
	for _, a := range w.archetypes {
		as := ArchetypeStats{Entities: a.Len(), Slots: int(a.words) * 64, Extents: len(a.extents)}
		for _, c := range a.columns {
			as.Columns = append(as.Columns, c.name)
		}
		as.Runs = a.runs()
		s.Slots += as.Slots
		s.Archetypes = append(s.Archetypes, as)
	}
	return s
}

func (c *column) stats() ColumnStats {
	s := ColumnStats{Name: c.name, Entities: c.len()}
	if c.typ != nil {
		s.Type, s.Size = c.typ.String(), int(c.typ.Size())
	}
	if !c.world.closed {
		s.Slots = c.set.OccupiedWords() * 64
		s.Reserved, s.Committed = c.span.Size(), c.span.Committed()+c.set.Committed()
		if c.store != nil {
			reserved, committed, _ := c.store.memory()
			s.Reserved, s.Committed = s.Reserved+reserved, s.Committed+committed
		}
	}
	return s
}

// Changes returns the number of structural changes so far, as in [Stats]. Complexity: constant.
func (w *World) Changes() uint64 { return w.changes }
