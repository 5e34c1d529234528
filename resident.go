package vast

// ResidentStats counts the bytes of a world that are in memory: those of the columns and of the control
// arrays. Elements of a [HeapColumn], the links of a [Relation], the marks of a [Tracker] and the bits of
// groups (see package group) do not count.
type ResidentStats struct {
	Columns []int // elements and presence bits of each column, in the order of [Stats].Columns
	Control int   // control arrays: generations, owners of words, live bits
}

// Total returns the sum of Control and all Columns.
func (s ResidentStats) Total() int {
	n := s.Control
	for _, c := range s.Columns {
		n += c
	}
	return n
}

// Resident returns how many bytes of the world are in memory, the sum of [World.ResidentStats].
func (w *World) Resident() (int, error) {
	s, err := w.ResidentStats()
	return s.Total(), err
}

// ResidentStats returns how many bytes of the world are in memory. It usually makes one system call for each
// 16 Ki committed pages (1 Ki on Windows), and at least one for each array of a column. These calls take too
// long for every frame; [World.Stats] makes no system calls. If a call fails, ResidentStats returns the error
// and the bytes counted so far. A closed world has nothing in memory.
func (w *World) ResidentStats() (ResidentStats, error) {
	var s ResidentStats
	if w.closed || w.live == nil {
		return s, nil
	}
	for _, c := range w.columns {
		n, err := c.resident()
		s.Columns = append(s.Columns, n)
		if err != nil {
			return s, err
		}
	}
	for _, part := range [...]interface{ Resident() (int, error) }{&w.control, w.live} {
		n, err := part.Resident()
		s.Control += n
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// resident returns the bytes of a column's elements and presence bits that are in memory.
func (c *column) resident() (int, error) {
	total, err := c.set.Resident()
	if err == nil && c.base != nil {
		n, e := c.span.Resident()
		total, err = total+n, e
	}
	if c.store != nil && err == nil {
		n, e := c.store.resident()
		total, err = total+n, e
	}
	return total, err
}
