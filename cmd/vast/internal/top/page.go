package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/tty"
	"github.com/vastgo/vast/inspect"
)

// Size of the smallest window that can show a page, in cells.
const (
	minColumns = 20
	minRows    = 6
)

// sideBySide is the smallest page width, in cells, at which the two tables stand side by side.
const sideBySide = 100

// compose returns the lines of a page that fits into the given number of columns and rows.
func compose(s *state, columns, rows int, now time.Time) []tty.Line {
	if columns < minColumns || rows < minRows {
		return []tty.Line{tty.Line{tty.Text("too small", tty.Strong)}.Cut(columns)}
	}
	n := s.now()
	lines := []tty.Line{header(s, columns, now)}
	if rows >= 20 {
		lines = append(lines, nil)
	}
	if n.Pace != nil {
		lines = append(lines, ticks(n).Line(columns))
		lines = append(lines, timeline(s, columns, chartRows(rows))...)
	}
	lines = append(lines, structure(n).Line(columns))
	if rows >= 16 {
		lines = append(lines, memory(n, columns)...)
	} else {
		lines = append(lines, memoryFields(n).Line(columns))
	}
	lines = append(lines, process(n).Line(columns))
	foot := tty.Fields{tty.Value("", "q", "quit", tty.Plain)}.Line(columns)
	if room := rows - len(lines) - 2; room >= 3 { // 2: a blank line above the tables, and the last line
		lines = append(lines, nil)
		lines = append(lines, tables(s, columns, room)...)
	}
	for len(lines) < rows-1 {
		lines = append(lines, nil)
	}
	return append(lines[:min(len(lines), rows-1)], foot)
}

// chartRows returns the height of the chart of tick times on a page with the given number of rows.
func chartRows(rows int) int {
	switch {
	case rows >= 40:
		return 6
	case rows >= 30:
		return 4
	case rows >= 22:
		return 2
	}
	return 1
}

func header(s *state, columns int, now time.Time) tty.Line {
	right := tty.Line{health(s, now)}
	if at := s.now().At; at > 0 && columns >= 60 {
		right = append(right, tty.Text(time.Unix(int64(at), 0).Format("   15:04:05"), tty.Dim))
	}
	name := s.world
	if name == "" {
		name = "a world without a name"
	}
	left := tty.Line{tty.Text("vast top", tty.Accent), tty.Text("   ", tty.Plain), tty.Text(name, tty.Strong),
		tty.Text("   ", tty.Plain), tty.Text(s.address, tty.Dim)}
	room := columns - right.Width() - 2
	if room < 8 {
		return right.Cut(columns)
	}
	return append(append(left.Pad(room), tty.Text("  ", tty.Plain)), right...)
}

// health describes the state of the connection and of the program.
func health(s *state, now time.Time) tty.Span {
	n := s.now()
	switch {
	case s.lost != nil:
		if isRefusal(s.lost) {
			return tty.Text("refused: "+tty.Clean(s.lost.Error()), tty.Bad)
		}
		return tty.Text(fmt.Sprintf("lost for %d s, trying again", int(now.Sub(s.heard).Seconds())), tty.Bad)
	case !n.Admitting:
		return tty.Text(fmt.Sprintf("the world has admitted no visitors for %.0f s", n.Age), tty.Warn)
	case n.Paused:
		return tty.Text("paused", tty.Warn)
	}
	return tty.Text("live", tty.Good)
}

func ticks(n inspect.Sample) tty.Fields {
	p := n.Pace
	t := func(s float64) tty.Tone {
		if s > p.BudgetSeconds && p.BudgetSeconds > 0 {
			return tty.Warn
		}
		return tty.Strong
	}
	late := tty.Fields{tty.Value("", tty.Grouped(p.Late), "late", tty.Strong)}
	if p.Dropped > 0 {
		late = append(late, tty.Value("", tty.Grouped(p.Dropped), "dropped", tty.Warn))
	}
	pace := tty.Value("ticks", rate(p.TicksPerSecond), "/s", tty.Strong)
	if n.Paused {
		pace = tty.Value("ticks", "paused", "", tty.Warn)
	}
	f := tty.Fields{
		pace,
		tty.Value("p50", seconds(p.TickSeconds.P50), "", t(p.TickSeconds.P50)),
		tty.Value("p99", seconds(p.TickSeconds.P99), "", t(p.TickSeconds.P99)),
		tty.Value("worst", seconds(p.TickSeconds.Worst), "", t(p.TickSeconds.Worst)),
	}
	if p.BudgetSeconds > 0 {
		f = append(f, tty.Value("budget", seconds(p.BudgetSeconds), "", tty.Plain))
	}
	return append(append(f, tty.Value("tick", tty.Grouped(p.Tick), "", tty.Plain)), late...)
}

// timeline draws the longest tick of each second as a chart.
func timeline(s *state, columns, rows int) []tty.Line {
	values := bySecond(s.history, columns, func(n inspect.Sample) float64 {
		if n.Pace == nil || n.TickSeconds.Worst <= 0 {
			return missing
		}
		return n.TickSeconds.Worst
	})
	top := scale(values)
	lines := spark(values, rows, top, s.now().BudgetSeconds)
	// The label replaces the upper left corner of the chart if no block is there.
	label := "worst tick per second, up to " + seconds(top)
	if worst := highest(values); worst > top {
		label += ", highest " + seconds(worst)
	}
	label += " "
	cells := tty.Width(label)
	if rows == 1 || cells > columns {
		return lines
	}
	for _, v := range values[:cells] {
		if v > top*float64(rows-1)/float64(rows) {
			return lines
		}
	}
	lines[0] = append(tty.Line{tty.Text(label, tty.Dim)}, lines[0].From(cells)...)
	return lines
}

func structure(n inspect.Sample) tty.Fields {
	return tty.Fields{
		tty.Value("entities", tty.Grouped(n.Entities), "", tty.Strong),
		tty.Value("changes of structure", rate(n.ChangesPerSecond), "/s", tty.Strong),
	}
}

// memory draws the kinds of memory as bars on one scale.
func memory(n inspect.Sample, columns int) []tty.Line {
	const label, figure = 11, 11
	m := n.Memory
	most := max(m.Committed, m.Resident, m.GoHeap, 1)
	var lines []tty.Line
	for _, x := range []struct {
		name  string
		bytes int
		tone  tty.Tone
	}{{"resident", m.Resident, tty.Accent}, {"committed", m.Committed, tty.Dim},
		{"Go heap", m.GoHeap, tty.Good}} {
		l := tty.Line{tty.Text(x.name, tty.Dim)}.Pad(label)
		l = append(l, tty.Line{tty.Text(strings.Repeat(" ",
			max(figure-1-len(size(x.bytes)), 0))+size(x.bytes), tty.Strong)}.Pad(figure)...)
		l = append(l, bar(float64(x.bytes)/float64(most), max(min(columns-label-figure-26, 60), 4),
			x.tone)...)
		lines = append(lines, l)
	}
	lines[1] = append(lines[1], tty.Text("  of "+size(m.Reserved)+" reserved", tty.Dim))
	for i := range lines {
		lines[i] = lines[i].Cut(columns)
	}
	return lines
}

func memoryFields(n inspect.Sample) tty.Fields {
	m := n.Memory
	return tty.Fields{
		tty.Value("resident", size(m.Resident), "", tty.Strong),
		tty.Value("Go heap", size(m.GoHeap), "", tty.Strong),
		tty.Value("committed", size(m.Committed), "", tty.Strong),
		tty.Value("reserved", size(m.Reserved), "", tty.Strong),
	}
}

func process(n inspect.Sample) tty.Fields {
	f := tty.Fields{
		tty.Value("collections", tty.Grouped(n.GC.Collections), "", tty.Strong),
		tty.Value("pauses", rate(n.GC.PausesPerSecond), "/s", tty.Strong),
		tty.Value("worst", seconds(n.GC.PauseWorst), "", tty.Strong),
		tty.Value("goroutines", tty.Grouped(n.Goroutines), "", tty.Strong),
	}
	if n.CPU > 0 {
		f = append(f, tty.Value("processors", fmt.Sprintf("%.2f", n.CPU), "busy", tty.Strong))
	}
	return f
}
