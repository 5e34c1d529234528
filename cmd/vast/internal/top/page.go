package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/attach"
	"github.com/vastgo/vast/inspect"
)

// The smallest window that has room for a page.
const (
	minColumns = 20
	minRows    = 6
)

// sideBySide is the width from which on the two tables stand beside each other.
const sideBySide = 100

// compose returns the lines of a page for a window, at most as many as it has rows.
func compose(s *state, columns, rows int, now time.Time) []line {
	if columns < minColumns || rows < minRows {
		return []line{line{{"too small", strong}}.cut(columns)}
	}
	n := s.now()
	lines := []line{header(s, columns, now)}
	if rows >= 20 {
		lines = append(lines, nil)
	}
	if n.Pace != nil {
		lines = append(lines, ticks(n).line(columns))
		lines = append(lines, timeline(s, columns, chartRows(rows))...)
	}
	lines = append(lines, structure(n).line(columns))
	if rows >= 16 {
		lines = append(lines, memory(n, columns)...)
	} else {
		lines = append(lines, memoryFields(n).line(columns))
	}
	lines = append(lines, process(n).line(columns))
	foot := fields{{"", "q", "quit", plain}}.line(columns)
	if room := rows - len(lines) - 2; room >= 3 { // a blank line, and the foot
		lines = append(lines, nil)
		lines = append(lines, tables(s, columns, room)...)
	}
	for len(lines) < rows-1 {
		lines = append(lines, nil)
	}
	return append(lines[:min(len(lines), rows-1)], foot)
}

// chartRows is how high the chart of tick times is in a window.
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

// header says what is looked at, and how it is.
func header(s *state, columns int, now time.Time) line {
	right := line{health(s, now)}
	if at := s.now().At; at > 0 && columns >= 60 {
		right = append(right, span{time.Unix(int64(at), 0).Format("   15:04:05"), dim})
	}
	name := s.world
	if name == "" {
		name = "a world without a name"
	}
	left := line{{"vast top", accent}, {"   ", plain}, {name, strong}, {"   ", plain}, {s.address, dim}}
	room := columns - right.width() - 2
	if room < 8 {
		return right.cut(columns)
	}
	return append(append(left.pad(room), span{"  ", plain}), right...)
}

// health is how the program and the way to it are.
func health(s *state, now time.Time) span {
	n := s.now()
	switch {
	case s.lost != nil:
		if hopeless(s.lost) {
			return span{"refused: " + s.lost.Error(), bad}
		}
		return span{fmt.Sprintf("lost for %d s, trying again", int(now.Sub(s.heard).Seconds())), bad}
	case !n.Admitting:
		return span{fmt.Sprintf("the world lets nobody look for %.0f s", n.Age), warn}
	case n.Paused:
		return span{"paused", warn}
	}
	return span{"live", good}
}

func ticks(n inspect.Sample) fields {
	p := n.Pace
	t := func(s float64) tone {
		if s > p.BudgetSeconds && p.BudgetSeconds > 0 {
			return warn
		}
		return strong
	}
	late := fields{{"", whole(p.Late), "late", strong}}
	if p.Dropped > 0 {
		late = append(late, field{"", whole(p.Dropped), "dropped", warn})
	}
	pace := field{"ticks", rate(p.TicksPerSecond), "/s", strong}
	if n.Paused {
		pace = field{"ticks", "paused", "", warn}
	}
	f := fields{
		pace,
		{"p50", seconds(p.TickSeconds.P50), "", t(p.TickSeconds.P50)},
		{"p99", seconds(p.TickSeconds.P99), "", t(p.TickSeconds.P99)},
		{"worst", seconds(p.TickSeconds.Worst), "", t(p.TickSeconds.Worst)},
	}
	if p.BudgetSeconds > 0 {
		f = append(f, field{"budget", seconds(p.BudgetSeconds), "", plain})
	}
	return append(append(f, field{"tick", whole(p.Tick), "", plain}), late...)
}

// timeline is the chart of the worst ticks of each second.
func timeline(s *state, columns, rows int) []line {
	values := bySecond(s.history, columns, func(n inspect.Sample) float64 {
		if n.Pace == nil || n.TickSeconds.Worst <= 0 {
			return missing
		}
		return n.TickSeconds.Worst
	})
	top := scale(values)
	lines := spark(values, rows, top, s.now().BudgetSeconds)
	// The scale stands in the upper left corner, where there is room.
	label := "worst tick a second, up to " + seconds(top)
	if worst := highest(values); worst > top {
		label += ", once " + seconds(worst)
	}
	label += " "
	cells := attach.Width(label)
	if rows == 1 || cells > columns {
		return lines
	}
	for _, v := range values[:cells] {
		if v > top*float64(rows-1)/float64(rows) {
			return lines
		}
	}
	lines[0] = append(line{{label, dim}}, lines[0].from(cells)...)
	return lines
}

func structure(n inspect.Sample) fields {
	return fields{
		{"entities", count(n.Entities), "", strong},
		{"changes of structure", rate(n.ChangesPerSecond), "/s", strong},
	}
}

// memory draws what is held, in bars of one scale.
func memory(n inspect.Sample, columns int) []line {
	const label, figure = 11, 11
	m := n.Memory
	most := max(m.Committed, m.Resident, m.GoHeap, 1)
	var lines []line
	for _, x := range []struct {
		name  string
		bytes int
		tone  tone
	}{{"resident", m.Resident, accent}, {"committed", m.Committed, dim}, {"Go heap", m.GoHeap, good}} {
		l := line{{x.name, dim}}.pad(label)
		l = append(l, line{{strings.Repeat(" ", max(figure-1-len(size(x.bytes)), 0)) + size(x.bytes), strong}}.pad(figure)...)
		l = append(l, bar(float64(x.bytes)/float64(most), max(min(columns-label-figure-26, 60), 4), x.tone)...)
		lines = append(lines, l)
	}
	lines[1] = append(lines[1], span{"  of " + size(m.Reserved) + " reserved", dim})
	for i := range lines {
		lines[i] = lines[i].cut(columns)
	}
	return lines
}

func memoryFields(n inspect.Sample) fields {
	m := n.Memory
	return fields{
		{"resident", size(m.Resident), "", strong},
		{"Go heap", size(m.GoHeap), "", strong},
		{"committed", size(m.Committed), "", strong},
		{"reserved", size(m.Reserved), "", strong},
	}
}

func process(n inspect.Sample) fields {
	f := fields{
		{"collections", whole(n.GC.Collections), "", strong},
		{"pauses", rate(n.GC.PausesPerSecond), "/s", strong},
		{"worst", seconds(n.GC.PauseWorst), "", strong},
		{"goroutines", count(n.Goroutines), "", strong},
	}
	if n.CPU > 0 {
		f = append(f, field{"processors", fmt.Sprintf("%.2f", n.CPU), "busy", strong})
	}
	return f
}
