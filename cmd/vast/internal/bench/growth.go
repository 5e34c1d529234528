package bench

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"text/tabwriter"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/internal/measure"
)

// growthFamily is the name of the family that compares the growth strategies of "Data Structures Part 1: Bulk
// Data" (Niklas Gray): one reservation, a slice that is reallocated, geometric blocks, and blocks of 16 KiB.
// In addition to its works, the family has a trace of each strategy: the time and the memory while the
// container grows.
const growthFamily = "growth"

func growthWorks() []work {
	strategies := func(n int, longest bool) ([]side, func()) {
		sides, done := appends(n, longest)
		return slices.DeleteFunc(sides, func(s side) bool {
			return !slices.Contains(growthNames[:], s.name)
		}), done
	}
	return []work{
		{"growth-append", bytesElements, func(n int) ([]side, func()) { return strategies(n, false) }},
		{"growth-longest", bytesElements, func(n int) ([]side, func()) { return strategies(n, true) }},
		{"growth-iterate", nil, growthIterations},
	}
}

// growthNames has the names of the strategies. The work append compares these strategies, too, under the same
// names.
var growthNames = [...]string{"vast", "slice-grown", "geometric-blocks", "fixed-blocks"}

// growing is a container with one of the growth strategies.
type growing interface {
	fillLapping(n int, s *stopwatch)
	// held returns the number of allocated or committed bytes: now, and the largest number during the last
	// call of fillLapping. During a reallocation, the old and the new memory count.
	held() (now, largest int)
	moved() int // number of elements that reallocations have copied
	sum() float32
	close()
}

func newGrowing(name string, n int) growing {
	switch name {
	case "vast":
		return grownArray{newArray(n)}
	case "slice-grown":
		return &grownSlice{}
	case "geometric-blocks":
		return &geometricBlocks{}
	}
	return &fixedBlocks{}
}

type grownArray struct{ *bulk.Array[element] }

func (a grownArray) fillLapping(n int, s *stopwatch) { fillArrayLapping(a.Array, n, s) }
func (a grownArray) held() (now, largest int)        { return a.Committed(), a.Committed() }
func (a grownArray) moved() int                      { return 0 }
func (a grownArray) sum() float32                    { return sumSlice(a.Slice()) }
func (a grownArray) close()                          { mustSucceed(a.Close()) }

type grownSlice struct {
	elements []element
	copied   int
	freed    int // bytes freed by the last fillLapping
}

func (g *grownSlice) fillLapping(n int, s *stopwatch) {
	before := cap(g.elements)
	g.elements = fillSliceLapping(g.elements, n, s)
	g.freed = 0
	if cap(g.elements) != before {
		g.freed = before * bytesElement
		g.copied += before // the slice was full when it grew
	}
}

func (g *grownSlice) held() (now, largest int) {
	now = cap(g.elements) * bytesElement
	return now, now + g.freed
}
func (g *grownSlice) moved() int   { return g.copied }
func (g *grownSlice) sum() float32 { return sumSlice(g.elements) }
func (g *grownSlice) close()       { runtime.KeepAlive(g) }

func (b *geometricBlocks) held() (now, largest int) {
	now = b.total * bytesElement
	return now, now
}
func (b *geometricBlocks) moved() int { return 0 }
func (b *geometricBlocks) sum() (sum float32) {
	for _, es := range b.full {
		sum += sumSlice(es)
	}
	return sum + sumSlice(b.current)
}
func (b *geometricBlocks) close() { runtime.KeepAlive(b) }

func (b *fixedBlocks) held() (now, largest int) {
	now = len(b.all) * 16 << 10
	return now, now
}
func (b *fixedBlocks) moved() int { return 0 }
func (b *fixedBlocks) sum() (sum float32) {
	for i, es := range b.all {
		if i == len(b.all)-1 {
			return sum + sumSlice(es[:b.filled])
		}
		sum += sumSlice(es[:])
	}
	return sum
}
func (b *fixedBlocks) close() { runtime.KeepAlive(b) }

// growthIterations returns the sides, that is, the ways to do the work growth-iterate: read a number from
// each element.
func growthIterations(n int) (sides []side, done func()) {
	var all []growing
	for _, name := range growthNames {
		g := newGrowing(name, n)
		g.fillLapping(n, &stopwatch{start: clock.Now()})
		all = append(all, g)
		sides = append(sides, reading(name, all[0].sum(), g.sum))
	}
	return sides, func() {
		for _, g := range all {
			g.close()
		}
	}
}

// trace has the costs of appending elements with one strategy.
type trace struct {
	Strategy string  `json:"strategy"`
	HeldMB   float64 `json:"held_mb"`         // memory held at the end
	WasteMB  float64 `json:"wasted_mb"`       // part of HeldMB without elements
	WorstMB  float64 `json:"wasted_worst_mb"` // largest amount of memory without elements
	Moved    int     `json:"elements_moved"`
	Points   []point `json:"points"`
}

// point describes the appends since the previous point.
type point struct {
	Elements  int `json:"elements"`   // number of elements in the container
	LongestNs int `json:"longest_ns"` // longest time of an append, in the best round
	// Held is the largest number of bytes held for each byte of elements, from 500 elements on.
	Held float64 `json:"held"`
}

const (
	pointsFrom      = 1000 // the first point has at least this number of elements, or all
	pointsPerDecade = 12
)

// wantsTraces reports whether to trace the growth strategies: the command line names the family growth, or
// has no names.
func (o *options) wantsTraces() bool {
	return len(o.names) == 0 || slices.Contains(o.names, growthFamily)
}

// traceGrowth traces each strategy o.rounds times. LongestNs of a point is the least of all rounds. All other
// figures are those of the last round.
func traceGrowth(o options, progress io.Writer) (traces []trace, err error) {
	defer catch(&err)
	if !o.json {
		fmt.Fprintf(progress, "tracing %s ...\n", growthFamily)
	}
	for _, name := range growthNames {
		var merged trace
		for round := range o.rounds {
			measure.Settle()
			warm(2 * bytesElements(o.n))
			t := traceOnce(name, o.n)
			for i := range t.Points {
				if round > 0 {
					t.Points[i].LongestNs = min(t.Points[i].LongestNs, merged.Points[i].LongestNs)
				}
			}
			merged = t
		}
		traces = append(traces, merged)
	}
	return traces, nil
}

func traceOnce(name string, n int) trace {
	g := newGrowing(name, n)
	t, s := trace{Strategy: name}, stopwatch{start: clock.Now()}
	worst := 0
	p := point{}
	for have, next := 0, pointsFrom; have < n; {
		// A step of this size reallocates a slice at most once.
		step := min(n-have, have/16+1, 256)
		s.resume()
		g.fillLapping(step, &s)
		have += step
		now, largest := g.held()
		worst = max(worst, largest-bytesElements(have))
		p.LongestNs = max(p.LongestNs, int(s.longest))
		if have >= pointsFrom/2 {
			p.Held = max(p.Held, float64(largest)/float64(bytesElements(have)))
		}
		if have >= next || have == n {
			p.Elements = have
			t.Points = append(t.Points, p)
			p = point{}
			next = int(float64(next)*math.Pow(10, 1.0/pointsPerDecade)) + 1
		}
		t.HeldMB = mb(now)
	}
	t.WasteMB, t.WorstMB, t.Moved = t.HeldMB-mb(bytesElements(n)), mb(worst), g.moved()
	g.close()
	return t
}

func traceTable(out io.Writer, o options, traces []trace) error {
	if len(traces) == 0 {
		return nil
	}
	fmt.Fprintf(out, "\ngrowth strategies: memory allocated (by vast: committed) for %.1f MB of "+
		"elements\n\n", mb(bytesElements(o.n)))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "strategy\theld MB\twasted\tmost wasted\telements moved\t")
	for _, t := range traces {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%d\t\n", t.Strategy, t.HeldMB, t.WasteMB, t.WorstMB, t.Moved)
	}
	return w.Flush()
}
