package shell

import (
	"bufio"
	"slices"
	"strings"
)

// measuredRows is the largest number of rows that determine the first widths of the columns of a table.
const measuredRows = 200

// gap separates the columns of a table.
const gap = "  "

// narrow is a width in cells of the terminal. A column that is not wider than narrow keeps its width, even if
// the columns do not fit.
const narrow = 12

// table writes rows as a table. It holds the first rows back to measure their widths.
type table struct {
	out     *bufio.Writer
	columns int // width of the terminal in cells; 0: unlimited
	limit   int // see cell

	head    []string
	first   []tableRow // rows that are not written yet
	laidOut bool
	widths  []int
	numbers []bool // whether a column is aligned to the right: its first rows have only numbers and NULL
	widest  int    // on a terminal, the largest width that a column may have
}

type tableRow struct {
	cells   []string
	numbers []bool // whether a cell is a number
	nulls   []bool
}

func newTable(out *bufio.Writer, columns int, head []string) *table {
	t := &table{out: out, columns: columns}
	if columns > 0 {
		// A line has at most as many grapheme clusters as cells, and a cluster rarely has more than 16 bytes.
		t.limit = 16 * columns
	}
	for _, name := range head {
		t.head = append(t.head, clean(name))
	}
	return t
}

func (t *table) row(values []any) error {
	r := tableRow{make([]string, len(values)), make([]bool, len(values)), make([]bool, len(values))}
	for i, v := range values {
		r.cells[i], r.numbers[i], r.nulls[i] = cell(v, t.limit), isNumber(v), v == nil
	}
	if t.laidOut {
		return t.write(r.cells)
	}
	if t.first = append(t.first, r); len(t.first) == measuredRows {
		return t.layOut()
	}
	return nil
}

// flush writes all rows. Rows that come later may be wider than the columns, and widen them.
func (t *table) flush() error {
	if !t.laidOut && len(t.first) > 0 {
		if err := t.layOut(); err != nil {
			return err
		}
	}
	return t.out.Flush()
}

func (t *table) end() error {
	if !t.laidOut {
		return t.layOut()
	}
	return nil
}

// layOut determines the widths of the columns, and writes the heading and the first rows.
func (t *table) layOut() error {
	t.widths, t.numbers = make([]int, len(t.head)), make([]bool, len(t.head))
	for i, name := range t.head {
		t.widths[i] = width(name)
		some, others := false, false
		for _, r := range t.first {
			t.widths[i] = max(t.widths[i], width(r.cells[i]))
			some = some || r.numbers[i]
			others = others || !r.numbers[i] && !r.nulls[i]
		}
		t.numbers[i] = some && !others
	}
	t.fit()
	t.laidOut = true
	if err := t.write(t.head); err != nil {
		return err
	}
	for _, r := range t.first {
		if err := t.write(r.cells); err != nil {
			return err
		}
	}
	t.first = nil
	return nil
}

// fit narrows the widest columns, but not below narrow, to fit a line on the terminal.
func (t *table) fit() {
	if t.columns == 0 {
		return
	}
	room := t.columns - len(gap)*(len(t.widths)-1)
	sorted := slices.Sorted(slices.Values(t.widths))
	t.widest = narrow
	// Each column gets its width or an equal share of the remaining room, whichever is less.
	for i, w := range sorted {
		share := room / (len(sorted) - i)
		if t.widest = max(share, narrow); w > share {
			break
		}
		room -= w
	}
	for i, w := range t.widths {
		t.widths[i] = min(w, t.widest)
	}
}

// write writes a line of the table. A value wider than its column widens the column for this line and all
// later lines. On a terminal, widest bounds the column, and the line is cut to fit.
func (t *table) write(cells []string) error {
	var b strings.Builder
	for i, text := range cells {
		if w := width(text); w > t.widths[i] {
			if t.columns > 0 {
				w = min(w, max(t.widest, t.widths[i]))
			}
			t.widths[i] = w
		}
		if i > 0 {
			b.WriteString(gap)
		}
		if t.numbers[i] {
			b.WriteString(padLeft(text, t.widths[i]))
		} else {
			b.WriteString(pad(text, t.widths[i]))
		}
	}
	line := strings.TrimRight(b.String(), " ")
	if t.columns > 0 {
		line = cut(line, t.columns)
	}
	t.out.WriteString(line)
	return t.out.WriteByte('\n') // reports errors of earlier writes, too
}
