package earth

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vastgo/vast/cmd/vast/earth/atlas"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/vm"
)

// The colours of text.
var (
	dim    = atlas.RGB{R: 128, G: 144, B: 162}
	bright = atlas.RGB{R: 226, G: 232, B: 238}
	ill    = atlas.RGB{R: 255, G: 96, B: 70}
)

// field is a value with the words around it. Where a line is too narrow, it is
// left out whole.
type field struct {
	before, value, after string
	colour               atlas.RGB // of the value
}

func (f field) text() string {
	return strings.TrimSpace(f.before + " " + f.value + " " + f.after)
}

func plain(before, value, after string) field { return field{before, value, after, bright} }

const gap = 3 // columns between fields

// statusLine is one line beneath the map: its fields, the most important first.
type statusLine []field

// fit keeps the fields that have room in so many columns, of which at least the first
// is cut rather than left out.
func (l statusLine) fit(columns int) (kept statusLine) {
	used := 0
	for i, f := range l {
		width := utf8.RuneCountInString(f.text())
		if i > 0 {
			width += gap
		}
		if used+width > columns && i > 0 {
			break
		}
		used += width
		kept = append(kept, f)
	}
	return kept
}

func (l statusLine) print(g atlas.Grid, x, y, columns int) {
	for _, f := range l.fit(columns) {
		for _, part := range []struct {
			text   string
			colour atlas.RGB
		}{{f.before, dim}, {f.value, f.colour}, {f.after, dim}} {
			if part.text != "" {
				g.Print(x, y, part.text, part.colour)
				x += utf8.RuneCountInString(part.text) + 1
			}
		}
		x += gap - 1
	}
}

func (l statusLine) String() string {
	texts := make([]string, len(l))
	for i, f := range l {
		texts[i] = f.text()
	}
	return strings.Join(texts, strings.Repeat(" ", gap))
}

// statusLines are all lines that may be shown, from top to bottom.
func statusLines(f figures, n notes) []statusLine {
	c, t, m := f.counts, f.timing, f.memory
	day, time := timeOfDay(c.Ticks)
	pace := plain("", fmt.Sprintf("%.1f", f.rates.ticks), "ticks/s")
	if f.paused {
		pace = plain("", "paused", "")
	}
	lines := []statusLine{
		lineTicks: {
			plain("tick p50", fmt.Sprintf("%.1f", milliseconds(t.p50)), "ms"),
			plain("p99", fmt.Sprintf("%.1f", milliseconds(t.p99)), "ms"),
			pace,
			plain("worst", fmt.Sprintf("%.1f", milliseconds(t.max)), "ms"),
			plain("", percent(t.within)+" %", fmt.Sprintf("inside %.1f ms", milliseconds(t.budget))),
			plain("", grouped(f.late), "late"),
		},
		linePeople: {
			plain("day", fmt.Sprintf("%d %s", day, time), ""),
			plain("", grouped(c.Travellers), "travellers"),
			plain("", grouped(c.Moving), "moving"),
			{"", grouped(c.Infectious), "infected", ill},
			plain("", grouped(c.Recovered), "recovered"),
			plain("", grouped(c.Places), "places"),
		},
		lineEntities: {
			plain("", grouped(c.Entities), "entities"),
			plain("", grouped(uint64(f.rates.changes)), "changes of structure/s"),
			plain("", grouped(c.Born), "born"),
			plain("", grouped(c.Died), "died"),
		},
		lineMemory: {
			plain("memory", vm.Bytes(m.resident), "resident"),
			plain("", vm.Bytes(m.committed), "committed"),
			plain("", vm.Bytes(m.reserved), "reserved"),
		},
		lineHeap: {
			plain("Go heap", vm.Bytes(m.goHeap), ""),
			plain("", grouped(m.collections), "collections"),
			plain("longest pause", fmt.Sprintf("%.2f", milliseconds(m.pauseMax)), "ms"),
		},
		lineKeys: {
			plain("", "q", "quit"),
			plain("", "space", "pause"),
		},
	}
	if f.paused {
		lines[lineKeys][1].after = "go on"
	}
	if n.credits != "" {
		lines[lineKeys] = append(lines[lineKeys], plain(n.credits, "", ""))
	}
	lines[lineInspector] = statusLine{plain("inspector", n.inspector, "")}
	return lines
}

const (
	lineTicks = iota
	linePeople
	lineEntities
	lineMemory
	lineHeap
	lineInspector
	lineKeys
)

// notes are what is shown besides figures: whom to thank for the places, and the inspector's address. Either may be empty.
type notes struct{ credits, inspector string }

// linesFor chooses the lines for a window: the map gets at least half.
func linesFor(rows int, n notes) (lines []int) {
	switch {
	case rows >= 18:
		lines = []int{lineTicks, linePeople, lineEntities, lineMemory, lineHeap, lineInspector, lineKeys}
	case rows >= 12:
		lines = []int{lineTicks, linePeople, lineMemory, lineHeap, lineInspector, lineKeys}
	case rows >= 9:
		lines = []int{lineTicks, linePeople, lineInspector, lineKeys}
	default:
		return []int{lineTicks, linePeople}
	}
	if n.inspector == "" {
		lines = slices.DeleteFunc(lines, func(line int) bool { return line == lineInspector })
	}
	return lines
}

// credits names the sources of what is shown.
func (o options) credits() string {
	if o.places != "" {
		return ""
	}
	return places.Attribution
}

// printSummary leaves the last figures behind where the screen was.
func printSummary(w io.Writer, d *driver, r *reader, o options) {
	s := newSnapshot(0, 0)
	d.fill(s)
	for _, line := range statusLines(r.read(s), notes{})[:lineInspector] {
		fmt.Fprintln(w, line)
	}
	if credits := o.credits(); credits != "" {
		fmt.Fprintln(w, credits)
	}
}
