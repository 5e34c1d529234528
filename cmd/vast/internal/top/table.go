package top

import "github.com/vastgo/vast/cmd/vast/internal/tty"

// table is a table with headings. The first column fills the width that the other columns leave. The last
// columns are left out if the first column would otherwise be narrower than its minimum.
type table struct {
	headings []string
	widths   []int // widths of the columns in cells; widths[0] is the minimum for the first column
	rows     [][]string
	none     string // text in place of the rows of an empty table
}

func systemsTable(s *state) table {
	t := table{
		headings: []string{"SYSTEM", "LOAD", "P50", "P99", "LAST", "WORST", "RUNS"},
		widths:   []int{12, 7, 9, 9, 9, 9, 12},
		none:     "no systems: the world has no schedule",
	}
	for _, c := range s.costs.Systems {
		t.rows = append(t.rows, []string{
			c.Name, percent(c.Load), seconds(c.P50), seconds(c.P99), seconds(c.Last), seconds(c.Worst),
			tty.Grouped(c.Runs),
		})
	}
	return t
}

func columnsTable(s *state) table {
	t := table{
		headings: []string{"COLUMN", "MEMORY", "ENTITIES", "DENSITY", "SIZE", "RESERVED"},
		widths:   []int{12, 10, 13, 9, 7, 10},
		none:     "no columns",
	}
	for _, c := range s.costs.Columns {
		density := "-"
		if c.Slots > 0 {
			density = percent(float64(c.Entities) / float64(c.Slots))
		}
		t.rows = append(t.rows, []string{
			c.Name, size(c.Committed), tty.Grouped(c.Entities), density, tty.Grouped(c.Size),
			size(c.Reserved),
		})
	}
	return t
}

// lines formats the table. It returns at most the given number of rows, including the headings. No row is
// wider than the given number of cells.
func (t table) lines(cells, rows int) []tty.Line {
	if rows < 2 {
		return nil
	}
	shown, first := len(t.widths), 0
	for ; shown > 0; shown-- {
		first = cells
		for _, w := range t.widths[1:shown] {
			first -= w
		}
		if first >= t.widths[0] {
			break
		}
	}
	shown = max(shown, 1)
	row := func(texts []string, heading bool) tty.Line {
		tones := []tty.Tone{tty.Strong, tty.Plain}
		if heading {
			tones = []tty.Tone{tty.Dim, tty.Dim}
		}
		l := tty.Line{tty.Text(tty.Pad(texts[0], first-1)+" ", tones[0])}
		for i := 1; i < shown; i++ {
			l = append(l, tty.Text(tty.PadLeft(texts[i], t.widths[i]), tones[1]))
		}
		return l.Cut(cells)
	}
	lines := []tty.Line{row(t.headings, true)}
	if len(t.rows) == 0 {
		return append(lines, tty.Line{tty.Text(t.none, tty.Dim)}.Cut(cells))
	}
	for i, r := range t.rows {
		if len(lines) == rows-1 && len(t.rows)-i > 1 {
			return append(lines, tty.Line{tty.Text("and "+tty.Grouped(len(t.rows)-i)+" more",
				tty.Dim)}.Cut(cells))
		}
		if len(lines) == rows {
			break
		}
		lines = append(lines, row(r, false))
	}
	return lines
}

// tables draws the costliest systems and the largest columns. On a wide page, the two tables stand side by
// side. On a narrow page, the systems stand above the columns. With few rows, a narrow page shows one table
// only.
func tables(s *state, columns, rows int) []tty.Line {
	systems, cols := systemsTable(s), columnsTable(s)
	if columns >= sideBySide {
		const between = 3
		half := (columns - between) / 2
		left, right := systems.lines(half, rows), cols.lines(columns-between-half, rows)
		lines := make([]tty.Line, max(len(left), len(right)))
		for i := range lines {
			if i < len(left) {
				lines[i] = left[i]
			}
			if i < len(right) {
				lines[i] = append(append(lines[i].Pad(half), tty.Text("   ", tty.Plain)), right[i]...)
			}
		}
		return lines
	}
	if rows < 7 { // 7: a heading and two rows for each table, and a blank line
		if len(systems.rows) == 0 {
			return cols.lines(columns, rows)
		}
		return systems.lines(columns, rows)
	}
	// Each table gets the room that the other table does not need.
	upper := min((rows-1)/2, 1+max(len(systems.rows), 1))
	lower := min(rows-1-upper, 1+max(len(cols.rows), 1))
	upper = min(rows-1-lower, 1+max(len(systems.rows), 1))
	return append(append(systems.lines(columns, upper), nil), cols.lines(columns, lower)...)
}
