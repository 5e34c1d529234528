package vast

import "slices"

// committedSizes holds the sizes of columns and of the control arrays before a growth. If the growth fails,
// shrink gives the new memory back, because the limit counts this memory, and others may share the limit.
type committedSizes struct {
	size         uint32
	gens         int               // bytes above the seam of w.control
	owners       int               // bytes below the seam of w.control
	live, vacant int               // bits
	columns      []columnCommitted // a part of World.sizes
}

type columnCommitted struct {
	slots uint32
	bits  int
	bytes int
	notes notesCommitted
	undo  func() // undoes the growth of the column's store; nil if there is nothing to undo
}

// committed returns the current sizes of the given columns, of the tags of all Disabled, and of the control
// arrays. The caller must pass each result to forget, the latest result first.
func (w *World) committed(columns []*column) committedSizes {
	m := committedSizes{size: w.size, gens: w.control.Above(), owners: w.control.Below(), live: w.live.Len(),
		vacant: w.vacant.Len()}
	at := len(w.sizes)
	if at == 0 {
		w.sizes = slices.Grow(w.sizes, 3*len(columns)) // usually room for three nested growths
	}
	for _, c := range w.withDisabled(columns) {
		one := columnCommitted{slots: c.slots, bits: c.set.Len(), bytes: c.span.Committed(),
			notes: c.notesCommitted()}
		if c.store != nil {
			one.undo = c.store.mark()
		}
		w.sizes = append(w.sizes, one)
	}
	m.columns = w.sizes[at:]
	return m
}

// forget frees the part of World.sizes that m uses.
func (w *World) forget(m committedSizes) {
	clear(m.columns)
	w.sizes = w.sizes[:len(w.sizes)-len(m.columns)]
}

// try calls f, which makes room in columns and control arrays. If f fails, try gives back the memory that f
// committed.
func (w *World) try(columns []*column, f func() error) error {
	before := w.committed(columns)
	defer w.forget(before)
	err := f()
	if err != nil {
		w.shrink(columns, before)
	}
	return err
}

// shrink gives back the memory beyond the sizes in m. No entity may have a slot in that memory. Memory that
// cannot be given back stays committed, and the next growth uses it.
func (w *World) shrink(columns []*column, m committedSizes) {
	for i, c := range w.withDisabled(columns) {
		was := m.columns[i]
		c.slots = was.slots
		c.set.Shrink(was.bits)
		_ = c.span.DecommitTo(was.bytes)
		c.shrinkMarks(was.notes)
		if was.undo != nil {
			was.undo()
		}
	}
	w.size = m.size
	w.live.Shrink(m.live)
	w.vacant.Shrink(m.vacant)
	_ = w.control.DecommitTo(m.owners, m.gens)
}

// commit makes the words [0, end) usable in the control arrays and in a's columns. If commit fails, it has
// changed nothing.
func (w *World) commit(a *Archetype, end uint32) error {
	enough := end*64 <= w.size
	for _, c := range a.columns {
		enough = enough && end*64 <= c.slots
	}
	if enough {
		return nil
	}
	return w.try(a.columns, func() error {
		err := w.reach(end * 64)
		for i := 0; i < len(a.columns) && err == nil; i++ {
			err = a.columns[i].grow(end * 64)
		}
		return err
	})
}
