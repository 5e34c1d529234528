package earth

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/vastgo/vast/cmd/vast/earth/atlas"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
	"github.com/vastgo/vast/vm"
)

var (
	dim    = atlas.RGB{R: 128, G: 144, B: 162}
	bright = atlas.RGB{R: 226, G: 232, B: 238}
	ill    = atlas.RGB{R: 255, G: 96, B: 70}
)

// printLine prints a status line at (x, y) of a grid, at most the given number of columns wide.
func printLine(g atlas.Grid, x, y, columns int, fields tty.Fields) {
	for _, s := range fields.Line(columns) {
		colour := bright
		switch s.Tone {
		case tty.Dim:
			colour = dim
		case tty.Bad:
			colour = ill
		}
		g.Print(x, y, s.Text, colour)
		x += tty.Width(s.Text)
	}
}

func strong(before, value, after string) tty.Field {
	return tty.Value(before, value, after, tty.Strong)
}

// statusLines returns all status lines, indexed by the constants lineTicks to lineKeys.
func statusLines(f figures, n notes) []tty.Fields {
	c, t, m := f.counts, f.timing, f.memory
	day, time := timeOfDay(c.Ticks)
	pace := strong("", fmt.Sprintf("%.1f", f.rates.ticks), "ticks/s")
	if f.paused {
		pace = strong("", "paused", "")
	}
	lines := []tty.Fields{
		lineTicks: {
			strong("tick p50", fmt.Sprintf("%.1f", milliseconds(t.p50)), "ms"),
			strong("p99", fmt.Sprintf("%.1f", milliseconds(t.p99)), "ms"),
			pace,
			strong("worst", fmt.Sprintf("%.1f", milliseconds(t.max)), "ms"),
			strong("", percent(t.within)+" %", fmt.Sprintf("inside %.1f ms", milliseconds(t.budget))),
			strong("", tty.Grouped(f.late), "late"),
		},
		linePeople: {
			strong("day", fmt.Sprintf("%d %s", day, time), ""),
			strong("", tty.Grouped(c.Travellers), "travellers"),
			strong("", tty.Grouped(c.Moving), "moving"),
			tty.Value("", tty.Grouped(c.Infectious), "infected", tty.Bad),
			strong("", tty.Grouped(c.Recovered), "recovered"),
			strong("", tty.Grouped(c.Places), "places"),
		},
		lineEntities: {
			strong("", tty.Grouped(c.Entities), "entities"),
			strong("", tty.Grouped(uint64(f.rates.changes)), "changes of structure/s"),
			strong("", tty.Grouped(c.Born), "born"),
			strong("", tty.Grouped(c.Died), "died"),
		},
		lineMemory: {
			strong("memory", vm.Bytes(m.resident), "resident"),
			strong("", vm.Bytes(m.committed), "committed"),
			strong("", vm.Bytes(m.reserved), "reserved"),
		},
		lineHeap: {
			strong("Go heap", vm.Bytes(m.goHeap), ""),
			strong("", tty.Grouped(m.collections), "collections"),
			strong("longest pause", fmt.Sprintf("%.2f", milliseconds(m.pauseMax)), "ms"),
		},
		lineSaved: f.saved.fields(),
		lineKeys: {
			strong("", "q", "quit"),
			strong("", "space", "pause"),
		},
	}
	if f.paused {
		lines[lineKeys][1].After = "go on"
	}
	if n.credits != "" {
		lines[lineKeys] = append(lines[lineKeys], strong(n.credits, "", ""))
	}
	lines[lineInspector] = tty.Fields{strong("inspector", n.inspector, "")}
	return lines
}

const (
	lineTicks = iota
	linePeople
	lineEntities
	lineMemory
	lineHeap
	lineSaved
	lineInspector
	lineKeys
)

// notes are the facts about a run that do not change and that the status lines show.
type notes struct {
	credits   string // the source of the places, or empty
	inspector string // the inspector's address, or empty
	saves     bool   // whether the run takes checkpoints
}

// linesFor chooses the status lines for a window, so that at least half of the window is left for the map.
func linesFor(rows int, n notes) (lines []int) {
	switch {
	case rows >= 18:
		lines = []int{lineTicks, linePeople, lineEntities, lineMemory, lineHeap, lineSaved, lineInspector,
			lineKeys}
	case rows >= 14:
		lines = []int{lineTicks, linePeople, lineMemory, lineHeap, lineSaved, lineInspector, lineKeys}
	case rows >= 12:
		lines = []int{lineTicks, linePeople, lineMemory, lineHeap, lineInspector, lineKeys}
	case rows >= 9:
		lines = []int{lineTicks, linePeople, lineInspector, lineKeys}
	default:
		return []int{lineTicks, linePeople}
	}
	return slices.DeleteFunc(lines, func(line int) bool {
		return line == lineInspector && n.inspector == "" || line == lineSaved && !n.saves
	})
}

// credits returns the source of the embedded places. It returns an empty string if the run has other places.
func (o options) credits() string {
	if o.places != "" {
		return ""
	}
	return places.Attribution
}

// printSummary prints the last figures after the live screen has closed.
func printSummary(w io.Writer, d *driver, r *reader, o options) {
	s := newSnapshot(0, 0)
	d.fill(s)
	for i, line := range statusLines(r.read(s), notes{})[:lineInspector] {
		if i == lineSaved && d.saves == nil {
			continue
		}
		fmt.Fprintln(w, line.Line(math.MaxInt))
	}
	if credits := o.credits(); credits != "" {
		fmt.Fprintln(w, credits)
	}
}
