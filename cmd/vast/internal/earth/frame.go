package earth

import "github.com/vastgo/vast/cmd/vast/earth/atlas"

// The smallest window with room for a map and its figures.
const (
	minColumns = 20
	minRows    = 6
)

// layout divides a window: the map above, the status lines below.
type layout struct {
	columns, rows int
	mapRows       int // rows of the map; 0: the window is too small
	notes         notes
}

func newLayout(columns, rows int, n notes) layout {
	l := layout{columns: columns, rows: rows, notes: n}
	if columns >= minColumns && rows >= minRows {
		l.mapRows = rows - len(linesFor(rows, n))
	}
	return l
}

func (l layout) snapshot() *snapshot { return newSnapshot(l.columns, l.mapRows) }

// compose paints the whole window. s must have the size of a snapshot of l.
func (l layout) compose(s *snapshot, f figures, noColor bool) atlas.Grid {
	g := atlas.NewGrid(l.columns, l.rows)
	g.NoColor = noColor
	if l.mapRows == 0 {
		g.Print(0, 0, "too small", bright)
		return g
	}
	g.Paste(0, 0, s.atlas.Draw(s.density, s.infected, atlas.Style{NoColor: noColor}))
	lines := statusLines(f, l.notes)
	for i, line := range linesFor(l.rows, l.notes) {
		printLine(g, 1, l.mapRows+i, l.columns-2, lines[line])
	}
	return g
}
