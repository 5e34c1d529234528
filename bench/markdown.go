package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A markdownReport prints two tables when all rows are there: how many times faster Vast is than Ark, and than the best of
// all stores. Each has a line for a work and a column for a number of entities.
type markdownReport struct {
	out   io.Writer
	lines []string // names of the lines in the order of the rows
	sizes []int    // ascending
	cells map[markdownCell]verdict
}

// A markdownCell is a place in both tables.
type markdownCell struct {
	line string
	n    int
}

// A verdict is what the rows of one cell say: the least of the ratios, over all ways to use a store.
type verdict struct {
	ark  float64 // infinite without a row for Ark
	best float64
	peer string // whom best is measured beside
}

func newMarkdownReport(out io.Writer) *markdownReport {
	return &markdownReport{out: out, cells: make(map[markdownCell]verdict)}
}

func (m *markdownReport) add(r row) error {
	p := peerNamed(r.Peer)
	if p.store == "" {
		return nil
	}
	cell := markdownCell{r.Work, r.N}
	if p.batch {
		cell.line += ", one call"
	}
	if !slices.Contains(m.lines, cell.line) {
		m.lines = append(m.lines, cell.line)
	}
	if !slices.Contains(m.sizes, r.N) {
		m.sizes = append(m.sizes, r.N)
		slices.Sort(m.sizes)
	}
	v, found := m.cells[cell]
	if !found {
		v = verdict{ark: math.Inf(1), best: math.Inf(1)}
	}
	if p.store == peerArk {
		v.ark = min(v.ark, r.Ratio)
	}
	if r.Ratio < v.best {
		v.best, v.peer = r.Ratio, p.store
	}
	m.cells[cell] = v
	return nil
}

func (m *markdownReport) finish() error {
	err := m.table("Times faster than Ark", func(v verdict) (float64, string) { return v.ark, "" })
	if err != nil {
		return err
	}
	return m.table("Times faster than the fastest other store", func(v verdict) (float64, string) {
		return v.best, " " + v.peer
	})
}

// table prints one table; pick takes a ratio and what to write behind it out of a cell. The last column is the geometric
// mean of the line.
func (m *markdownReport) table(title string, pick func(verdict) (float64, string)) error {
	var text strings.Builder
	fmt.Fprintf(&text, "\n%s:\n\n| work |", title)
	for _, n := range m.sizes {
		text.WriteString(" " + grouped(n) + " |")
	}
	text.WriteString(" mean |\n|---|" + strings.Repeat("--:|", len(m.sizes)+1) + "\n")
	for _, line := range m.lines {
		text.WriteString("| " + line + " |")
		sum, count := 0.0, 0
		for _, n := range m.sizes {
			ratio, note := math.Inf(1), ""
			if v, found := m.cells[markdownCell{line, n}]; found {
				ratio, note = pick(v)
			}
			if math.IsInf(ratio, 1) {
				text.WriteString(" |")
				continue
			}
			sum += math.Log(ratio)
			count++
			text.WriteString(" " + times3(ratio) + note + " |")
		}
		if count == 0 {
			text.WriteString(" |\n")
			continue
		}
		text.WriteString(" " + times3(math.Exp(sum/float64(count))) + " |\n")
	}
	_, err := io.WriteString(m.out, text.String())
	return err
}

// times3 writes a ratio with two digits behind the point, one from 10 up, and none from 100 up.
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

// grouped writes a number with commas between groups of three digits.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
