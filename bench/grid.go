package main

import (
	"maps"
	"math"
	"slices"
)

// A grid is what the rows say about the other stores, work by work and size by size: how many times faster Vast is than the
// best way to use each of them. Rows beside no other store are not in it.
type grid struct {
	lines []line // in the order of the rows
	sizes []int  // ascending
	cells map[cell]verdict
}

// A line is a work, or what is done of it by one call.
type line struct {
	work    string
	oneCall bool
}

// A cell is a place in the grid.
type cell struct {
	line line
	n    int
}

// A verdict is what the rows of one cell say: the least of the ratios over all ways to use a store, by store.
type verdict map[string]float64

func newGrid() *grid {
	return &grid{cells: make(map[cell]verdict)}
}

// name says what is measured in a line.
func (l line) name() string {
	if l.oneCall {
		return l.work + ", one call"
	}
	return l.work
}

// add enters a row.
func (g *grid) add(r row) {
	p := peerNamed(r.Peer)
	if p.store == "" {
		return
	}
	at := cell{line{r.Work, p.batch}, r.N}
	if !slices.Contains(g.lines, at.line) {
		g.lines = append(g.lines, at.line)
	}
	if !slices.Contains(g.sizes, r.N) {
		g.sizes = append(g.sizes, r.N)
		slices.Sort(g.sizes)
	}
	v := g.cells[at]
	if v == nil {
		v = make(verdict)
		g.cells[at] = v
	}
	if least, found := v[p.store]; !found || r.Ratio < least {
		v[p.store] = r.Ratio
	}
}

// part returns the lines of the works that are measured at one size, or of the others, and the sizes of their rows.
func (g *grid) part(oneSize bool) (lines []line, sizes []int) {
	for _, l := range g.lines {
		if workNamed(l.work).oneSize() == oneSize {
			lines = append(lines, l)
		}
	}
	for _, n := range g.sizes {
		if slices.ContainsFunc(lines, func(l line) bool { return g.cells[cell{l, n}] != nil }) {
			sizes = append(sizes, n)
		}
	}
	return lines, sizes
}

// best returns the ratio to the fastest store, and which it is. Without any, the ratio is infinite.
func (v verdict) best() (ratio float64, store string) {
	ratio = math.Inf(1)
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if v[name] < ratio {
			ratio, store = v[name], name
		}
	}
	return ratio, store
}

// beside returns the ratio to one store, infinite if it is not there.
func (v verdict) beside(store string) float64 {
	if ratio, found := v[store]; found {
		return ratio
	}
	return math.Inf(1)
}

// ratios returns those that pick takes out of the cells, without the infinite ones.
func (g *grid) ratios(pick func(verdict) float64) []float64 {
	var picked []float64
	for _, v := range g.cells {
		if ratio := pick(v); !math.IsInf(ratio, 1) {
			picked = append(picked, ratio)
		}
	}
	return picked
}

// The limits of a tie: an iteration of so many entities or more is one when Vast is behind by no more than this.
const (
	tieSize  = 1000
	tieRatio = 0.95
)

// places counts the cells from so many entities up in which Vast is first, ties with the fastest, or is behind.
func (g *grid) places(least int) (first, ties, behind int) {
	for at, v := range g.cells {
		ratio, _ := v.best()
		switch {
		case at.n < least:
		case ratio >= 1:
			first++
		case ratio >= tieRatio && at.n >= tieSize && workNamed(at.line.work).iterates:
			ties++
		default:
			behind++
		}
	}
	return first, ties, behind
}

// geometricMean returns the mean of ratios, infinite if there are none.
func geometricMean(ratios []float64) float64 {
	if len(ratios) == 0 {
		return math.Inf(1)
	}
	slices.Sort(ratios) // floating-point sums depend on the order
	sum := 0.0
	for _, ratio := range ratios {
		sum += math.Log(ratio)
	}
	return math.Exp(sum / float64(len(ratios)))
}
