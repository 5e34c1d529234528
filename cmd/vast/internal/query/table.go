package query

import (
	"bufio"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/tty"
)

// The first rows determine the widths with which a table's columns begin. collect gathers at most
// measuredRows rows for measuredTime. If no row has arrived in this time, collect waits for another
// measuredTime, and so on.
const (
	measuredRows = 200
	measuredTime = 300 * time.Millisecond
)

const blank = "  "

// maxWidth is the largest width of a column on a terminal, in cells.
const maxWidth = 48

type record struct {
	fields []string
	err    error
}

// table reads rows of CSV and writes them as a table: at most limit rows, or all rows if limit is 0. It
// returns the number of written rows, and whether source has more rows.
func (o *output) table(source io.Reader, limit int) (n int, more bool, err error) {
	stop := make(chan struct{})
	defer close(stop)
	records := make(chan record)
	go read(newReader(source), records, stop)

	head := <-records
	if head.err == io.EOF {
		return 0, false, nil
	}
	if head.err != nil {
		return 0, false, head.err
	}
	out := bufio.NewWriter(o.to)
	defer func() {
		if flushErr := out.Flush(); err == nil {
			err = flushErr
		}
	}()
	first, last := collect(records)
	l := o.layOut(head.fields, first)
	out.WriteString(o.row(l, head.fields) + "\n")
	for {
		for _, fields := range first {
			if limit > 0 && n == limit {
				return n, true, nil
			}
			if _, err := out.WriteString(o.row(l, fields) + "\n"); err != nil {
				return n, false, err
			}
			n++
		}
		if last == nil {
			if out.Buffered() > 0 && o.terminal {
				if err := out.Flush(); err != nil {
					return n, false, err
				}
			}
			next := <-records
			if first = [][]string{next.fields}; next.err != nil {
				first, last = nil, next.err
			}
			continue
		}
		if last == io.EOF {
			last = nil
		}
		return n, false, last
	}
}

// read sends all rows of source to records, and then the error or io.EOF that ends the rows. It returns early
// when stop is closed.
func read(source *csv.Reader, records chan<- record, stop <-chan struct{}) {
	for {
		fields, err := source.Read()
		r := record{err: err}
		for _, f := range fields {
			r.fields = append(r.fields, tty.Clean(unquoted(f)))
		}
		if err != nil {
			r.fields = nil
		}
		select {
		case records <- r:
		case <-stop:
			return
		}
		if err != nil {
			return
		}
	}
}

// unquoted removes the apostrophe that the inspector puts before some texts, because a spreadsheet would read
// these texts as formulas.
func unquoted(text string) string {
	if len(text) > 1 && text[0] == '\'' && strings.ContainsRune("=+-@\t\r\n", rune(text[1])) {
		return text[1:]
	}
	return text
}

// collect returns the first rows. If it reaches the end of the rows, collect also returns the error or io.EOF
// that ended them.
func collect(records <-chan record) (first [][]string, last error) {
	enough := time.NewTimer(measuredTime)
	defer enough.Stop()
	for len(first) < measuredRows {
		select {
		case r := <-records:
			if r.err != nil {
				return first, r.err
			}
			first = append(first, r.fields)
		case <-enough.C:
			if len(first) > 0 {
				return first, nil
			}
			enough.Reset(measuredTime) // no row has arrived yet
		}
	}
	return first, nil
}

// layout has an element for each column of a table.
type layout struct {
	widths  []int
	numbers []bool // whether a column is aligned to the right: the first rows have only numbers
}

func (o *output) layOut(head []string, rows [][]string) layout {
	l := layout{make([]int, len(head)), make([]bool, len(head))}
	for i, name := range head {
		l.widths[i] = tty.Width(name)
		l.numbers[i] = len(rows) > 0 && !slices.ContainsFunc(rows, func(r []string) bool {
			if i >= len(r) || r[i] == "" {
				return false
			}
			_, err := strconv.ParseFloat(r[i], 64)
			return err != nil
		})
		for _, r := range rows {
			if i < len(r) {
				l.widths[i] = max(l.widths[i], tty.Width(r[i]))
			}
		}
		l.widths[i] = o.bounded(l.widths[i])
	}
	return l
}

// bounded returns the width of a column whose widest value has the given number of cells.
func (o *output) bounded(cells int) int {
	if o.terminal {
		return min(cells, maxWidth)
	}
	return cells
}

// row returns a line of the table. A value wider than its column widens the column, within its bound, for
// this line and all later lines. On a terminal, the line is cut to fit.
func (o *output) row(l layout, fields []string) string {
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteString(blank)
		}
		if i >= len(l.widths) { // more values than headings
			b.WriteString(f)
			continue
		}
		if w := tty.Width(f); w > l.widths[i] {
			l.widths[i] = o.bounded(w)
		}
		if l.numbers[i] {
			b.WriteString(tty.PadLeft(f, l.widths[i]))
		} else {
			b.WriteString(tty.Pad(f, l.widths[i]))
		}
	}
	line := strings.TrimRight(b.String(), " ")
	if o.terminal {
		line = tty.Cut(line, o.columns)
	}
	return line
}
