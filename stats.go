package vast

import "errors"

// Stats describe a world at one moment. Sizes are in bytes.
type Stats struct {
	Name       string
	Entities   int
	Slots      int    // owned by archetypes
	Changes    uint64 // structural changes so far: each entity made or deleted, each component added or removed
	Reserved   int    // addresses
	Committed  int    // may be touched
	Columns    []ColumnStats
	Archetypes []ArchetypeStats
}

// ColumnStats describe one column.
type ColumnStats struct {
	Name      string
	Type      string // of an element; empty for a tag
	Size      int    // of one element
	Entities  int
	Reserved  int // elements only, as far as they lie at base + slot × size
	Committed int // elements and presence bits
}

// ArchetypeStats describe one archetype.
type ArchetypeStats struct {
	Columns  []string
	Entities int // alive and born with it
	Slots    int // owned
	Extents  int
}

// Stats returns the world's statistics. Complexity: the number of columns, archetypes and extents.
func (w *World) Stats() Stats {
	s := Stats{Name: w.options.Name, Entities: w.Len(), Changes: w.changes}
	for _, r := range w.memory.regions {
		if !w.closed {
			s.Reserved += r.Size()
			s.Committed += r.Committed()
		}
	}
	for _, c := range w.columns {
		cs := ColumnStats{Name: c.name, Entities: c.len()}
		if c.typ != nil {
			cs.Type, cs.Size = c.typ.String(), int(c.typ.Size())
		}
		if !w.closed {
			cs.Reserved, cs.Committed = c.span.Size(), c.span.Committed()+c.set.Committed()
		}
		s.Columns = append(s.Columns, cs)
	}
	for _, a := range w.archetypes {
		as := ArchetypeStats{Entities: a.Len(), Slots: int(a.words) * 64, Extents: len(a.extents)}
		for _, c := range a.columns {
			as.Columns = append(as.Columns, c.name)
		}
		s.Slots += as.Slots
		s.Archetypes = append(s.Archetypes, as)
	}
	return s
}

// Changes returns the number of structural changes so far, as [Stats] has it. Complexity: constant.
func (w *World) Changes() uint64 { return w.changes }

// Resident returns how many bytes of the world are in memory. It asks the operating system: one call for each 64 Ki
// committed pages.
func (w *World) Resident() (int, error) {
	if w.closed {
		return 0, nil
	}
	total := 0
	var errs []error
	for _, r := range w.memory.regions {
		n, err := r.Resident()
		total += n
		errs = append(errs, err)
	}
	return total, errors.Join(errs...)
}
