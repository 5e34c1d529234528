package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// A markdownReport prints tables after the last row. Two tables have a line for each work and a column for
// each number of entities: the ratios to Ark, and the ratios to the fastest other store. The other tables
// hold the works that are measured at one size, the means over all rows, and the rows with the peer self.
type markdownReport struct {
	out    io.Writer
	stores *grid
	self   []row
}

func newMarkdownReport(out io.Writer) *markdownReport {
	return &markdownReport{out: out, stores: newGrid()}
}

func (m *markdownReport) add(r row) error {
	m.stores.add(r)
	if r.Peer == peerSelf {
		m.self = append(m.self, r)
	}
	return nil
}

func (m *markdownReport) finish() error {
	var text strings.Builder
	if len(m.stores.lines) > 0 {
		m.table(&text, "Times faster than Ark", func(v verdict) (float64, string) {
			return v.beside(peerArk), ""
		})
		m.table(&text, "Times faster than the fastest other store", func(v verdict) (float64, string) {
			ratio, store := v.best()
			return ratio, " " + store
		})
		m.single(&text)
		m.means(&text)
	}
	m.beside(&text)
	_, err := io.WriteString(m.out, text.String())
	return err
}

// table writes one table. pick returns the ratio of a cell and a note to write after it. The last column is
// the geometric mean of the line.
func (m *markdownReport) table(text *strings.Builder, title string, pick func(verdict) (float64, string)) {
	lines, sizes := m.stores.part(false)
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(text, "\n%s:\n\n| work |", title)
	for _, n := range sizes {
		text.WriteString(" " + grouped(n) + " |")
	}
	text.WriteString(" mean |\n|---|" + strings.Repeat("--:|", len(sizes)+1) + "\n")
	for _, l := range lines {
		text.WriteString("| " + l.name() + " |")
		var ratios []float64
		for _, n := range sizes {
			ratio, note := pick(m.stores.cells[cell{l, n}])
			if math.IsInf(ratio, 1) {
				text.WriteString(" |")
				continue
			}
			ratios = append(ratios, ratio)
			text.WriteString(" " + times3(ratio) + note + " |")
		}
		if len(ratios) == 0 {
			text.WriteString(" |\n")
			continue
		}
		text.WriteString(" " + times3(geometricMean(ratios)) + " |\n")
	}
}

// single writes the lines of the works that are measured with one number of entities.
func (m *markdownReport) single(text *strings.Builder) {
	lines, sizes := m.stores.part(true)
	if len(lines) == 0 {
		return
	}
	text.WriteString("\nTimes better than the others, at one size:\n\n| work | entities | than Ark | than " +
		"the best other store |\n|---|--:|--:|--:|\n")
	for _, l := range lines {
		for _, n := range sizes {
			v, found := m.stores.cells[cell{l, n}]
			if !found {
				continue
			}
			ark := ""
			if ratio := v.beside(peerArk); !math.IsInf(ratio, 1) {
				ark = " " + times3(ratio)
			}
			ratio, store := v.best()
			fmt.Fprintf(text, "| %s | %s |%s | %s %s |\n", l.name(), grouped(n), ark, times3(ratio), store)
		}
	}
}

// placesFrom is the least number of entities of a row that counts as first, tied or behind. Rows with fewer
// entities measure the cost of calls.
const placesFrom = 64

// means writes the geometric mean of the ratios to each store, and of the ratios to the fastest store of each
// cell. means also writes in how many cells Vast is first, ties, and is behind.
func (m *markdownReport) means(text *strings.Builder) {
	text.WriteString("\nOver all of these rows:\n\n| compared with | rows | mean |\n|---|--:|--:|\n")
	var known []string
	for _, p := range peers {
		if p.store != p.name {
			continue // another way to use a store, or no store
		}
		known = append(known, p.name)
	}
	for _, store := range known {
		mean(text, store, m.stores.ratios(func(v verdict) float64 { return v.beside(store) }))
	}
	mean(text, "the fastest in each row", m.stores.ratios(func(v verdict) float64 {
		ratio, _ := v.best()
		return ratio
	}))
	first, ties, behind := m.stores.places(placesFrom)
	fmt.Fprintf(text, "\nVast is first in %d of the %d rows with %d entities or more. It ties in %d "+
		"(an iteration of\n%s entities or more, at most %.0f %% behind) and is behind in %d.\n",
		first, first+ties+behind, placesFrom, ties, grouped(tieSize), 100*(1-tieRatio), behind)
}

// mean writes one line of the means, or nothing if there are no ratios.
func mean(text *strings.Builder, name string, ratios []float64) {
	if len(ratios) > 0 {
		fmt.Fprintf(text, "| %s | %d | %s |\n", name, len(ratios), times3(geometricMean(ratios)))
	}
}

// beside writes the rows with the peer self.
func (m *markdownReport) beside(text *strings.Builder) {
	if len(m.self) == 0 {
		return
	}
	text.WriteString("\nTimes faster than Vast itself in another way:\n\n| work | entities | ratio " +
		"|\n|---|--:|--:|\n")
	for _, r := range m.self {
		fmt.Fprintf(text, "| %s | %s | %s |\n", r.Work, grouped(r.N), times3(r.Ratio))
	}
}

// times3 writes a ratio with two decimals, with one from 10 up, and with none from 100 up.
func times3(ratio float64) string {
	digits := 2
	switch {
	case ratio >= 99.95:
		digits = 0
	case ratio >= 9.995:
		digits = 1
	}
	return strconv.FormatFloat(ratio, 'f', digits, 64)
}

// grouped writes a number with a comma between groups of three digits.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
