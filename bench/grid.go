package main

import (
	"maps"
	"math"
	"slices"
)

// A grid holds the ratios to the other stores, by work and size: how many times faster Vast is than the best
// way to use each store. The grid leaves out the rows whose peer is not another store.
type grid struct {
	lines []line // in the order of the rows
	sizes []int  // ascending
	cells map[cell]verdict
}

// A line is a work, or its form with one call for all entities.
type line struct {
	work    string
	oneCall bool
}

// A cell is a place in the grid.
type cell struct {
	line line
	n    int
}

// A verdict sums up the rows of one cell. It maps each store to the least ratio over all ways to use that
// store.
type verdict map[string]float64

func newGrid() *grid {
	return &grid{cells: make(map[cell]verdict)}
}

// name returns the text for the line.
func (l line) name() string {
	if l.oneCall {
		return l.work + ", one call"
	}
	return l.work
}

// add adds the ratio of a row.
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

// part returns the lines of the works that are measured at one size, or, if oneSize is false, the lines of
// the works that are measured at several sizes. It also returns the sizes of these lines.
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

// best returns the ratio to the fastest store, and the store's name. The ratio is infinite if there is no
// store.
func (v verdict) best() (ratio float64, store string) {
	ratio = math.Inf(1)
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if v[name] < ratio {
			ratio, store = v[name], name
		}
	}
	return ratio, store
}

// beside returns the ratio to one store, or infinity if the store has no row.
func (v verdict) beside(store string) float64 {
	if ratio, found := v[store]; found {
		return ratio
	}
	return math.Inf(1)
}

// ratios returns the finite ratios that pick returns for the cells.
func (g *grid) ratios(pick func(verdict) float64) []float64 {
	var picked []float64
	for _, v := range g.cells {
		if ratio := pick(v); !math.IsInf(ratio, 1) {
			picked = append(picked, ratio)
		}
	}
	return picked
}

// A cell is a tie if its work iterates over at least tieSize entities, and if its ratio is under 1 and at
// least tieRatio.
const (
	tieSize  = 1000
	tieRatio = 0.95
)

// places counts the cells in which Vast is first, ties with the fastest store, or is behind. It skips cells
// with fewer than minimum entities.
func (g *grid) places(minimum int) (first, ties, behind int) {
	for at, v := range g.cells {
		ratio, _ := v.best()
		switch {
		case at.n < minimum:
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

// geometricMean returns the geometric mean of ratios, or infinity if there are none.
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
