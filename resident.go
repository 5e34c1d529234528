package vast

import (
	"cmp"

	"github.com/vastgo/vast/internal/probing"
)

// ResidentStats counts the bytes of a world that are in memory. Elements of a [HeapColumn] and recorded
// [Commands] do not count.
type ResidentStats struct {
	Columns []int // all arrays that belong to each column, in the order of [Stats].Columns
	Control int   // arrays that belong to no column, such as generations, owners of words and live bits
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
	s.Columns = make([]int, len(w.columns))
	var failed error
	add := func(to *int, n int, err error) {
		*to += n
		failed = cmp.Or(failed, err)
	}
	probes{}.Parts(w, func(col AnyColumn, p probing.Part) {
		to := &s.Control
		if col != nil {
			to = &s.Columns[col.column().id]
		}
		var n int
		var err error
		switch {
		case failed != nil || p.Below: // the other part of the Seam counts both
		case p.Span != nil:
			n, err = p.Span.Resident()
		case p.Seam != nil:
			n, err = p.Seam.Resident()
		case p.Set != nil:
			n, err = p.Set.Resident()
		}
		add(to, n, err)
	})
	for i, c := range w.columns {
		if c.store != nil && failed == nil {
			n, err := c.store.resident()
			add(&s.Columns[i], n, err)
		}
	}
	return s, failed
}
