package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// A markdownReport prints its tables after the last row: the ratios to Ark, the ratios to the fastest other
// store, the works that are measured with one number of entities, the means, and the rows that compare Vast
// with itself (the peer self).
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
		m.table(&text, "Times faster than Ark", func(v storeRatios) (float64, string) {
			return v.ratioTo(peerArk), ""
		})
		m.table(&text, "Times faster than the fastest other store", func(v storeRatios) (float64, string) {
			ratio, store := v.best()
			return ratio, " " + store
		})
		m.single(&text)
		m.means(&text)
	}
	m.selfTable(&text)
	_, err := io.WriteString(m.out, text.String())
	return err
}

// table writes a table of the works that are measured with several numbers of entities, with a column for
// each number. The last column is the geometric mean of the line. pick returns a ratio, and a note that
// follows the ratio.
func (m *markdownReport) table(text *strings.Builder, title string,
	pick func(storeRatios) (float64, string)) {
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

// single writes the table of the works that are measured with one number of entities.
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
			if ratio := v.ratioTo(peerArk); !math.IsInf(ratio, 1) {
				ark = " " + times3(ratio)
			}
			ratio, store := v.best()
			fmt.Fprintf(text, "| %s | %s |%s | %s %s |\n", l.name(), grouped(n), ark, times3(ratio), store)
		}
	}
}

// minRankedSize is the minimum number of entities of the cells that grid.ranks counts. With fewer entities, a
// work measures the cost of calls.
const minRankedSize = 64

// means writes a table with the geometric mean of the ratios to each store, and of the ratios to the fastest
// store of each cell. Below the table it writes the result of grid.ranks.
func (m *markdownReport) means(text *strings.Builder) {
	text.WriteString("\nMeans over all cases. A case is a work with one number of entities:\n\n" +
		"| compared with | cases | mean |\n|---|--:|--:|\n")
	var known []string
	for _, p := range peers {
		if p.store != p.name {
			continue // another way to use a store, or no store
		}
		known = append(known, p.name)
	}
	for _, store := range known {
		mean(text, store, m.stores.ratios(func(v storeRatios) float64 { return v.ratioTo(store) }))
	}
	mean(text, "the fastest in each case", m.stores.ratios(func(v storeRatios) float64 {
		ratio, _ := v.best()
		return ratio
	}))
	first, ties, behind := m.stores.ranks(minRankedSize)
	fmt.Fprintf(text, "\nVast is first in %d of the %d cases with %d entities or more. It ties in %d "+
		"(an iteration of\n%s entities or more, at most %.0f %% behind) and is behind in %d.\n",
		first, first+ties+behind, minRankedSize, ties, grouped(minTieSize), 100*(1-minTieRatio), behind)
}

// mean writes a line of the table of means, or nothing if there are no ratios.
func mean(text *strings.Builder, name string, ratios []float64) {
	if len(ratios) > 0 {
		fmt.Fprintf(text, "| %s | %d | %s |\n", name, len(ratios), times3(geometricMean(ratios)))
	}
}

func (m *markdownReport) selfTable(text *strings.Builder) {
	if len(m.self) == 0 {
		return
	}
	text.WriteString("\nTimes faster than Vast itself in another way:\n\n| work | entities | ratio " +
		"|\n|---|--:|--:|\n")
	for _, r := range m.self {
		fmt.Fprintf(text, "| %s | %s | %s |\n", r.Work, grouped(r.N), times3(r.Ratio))
	}
}

// times3 formats a ratio with two decimals below 10, one decimal below 100, and no decimals from 100 on.
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

// grouped formats a number with a comma between groups of three digits.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
