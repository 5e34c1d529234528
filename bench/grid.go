package main

import (
	"maps"
	"math"
	"slices"
)

// A grid holds ratios by work and number of entities: the time or the bytes of each other store, divided by
// the time or the bytes of Vast. It leaves out the rows whose peer is not another store.
type grid struct {
	lines []line // in the order of the rows
	sizes []int  // numbers of entities, ascending
	cells map[cell]storeRatios
}

// A line identifies a line of the grid. A work has up to two lines.
type line struct {
	work    string
	oneCall bool // Vast and the peers do the work with one call for all entities
}

// A cell is a line and a number of entities.
type cell struct {
	line line
	n    int
}

// storeRatios has, for each store, the least ratio over all ways to use this store.
type storeRatios map[string]float64

func newGrid() *grid {
	return &grid{cells: make(map[cell]storeRatios)}
}

func (l line) name() string {
	if l.oneCall {
		return l.work + ", one call"
	}
	return l.work
}

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
		v = make(storeRatios)
		g.cells[at] = v
	}
	if least, found := v[p.store]; !found || r.Ratio < least {
		v[p.store] = r.Ratio
	}
}

// part returns the lines of some works, and the numbers of entities of these lines. If oneSize is true, the
// works are those that are measured with one number of entities by default. Otherwise they are all other
// works.
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

// best returns the ratio to the store with the least time or the fewest bytes, and the name of this store.
// The ratio is infinite if v is empty.
func (v storeRatios) best() (ratio float64, store string) {
	ratio = math.Inf(1)
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if v[name] < ratio {
			ratio, store = v[name], name
		}
	}
	return ratio, store
}

func (v storeRatios) ratioTo(store string) float64 {
	if ratio, found := v[store]; found {
		return ratio
	}
	return math.Inf(1)
}

func (g *grid) ratios(pick func(storeRatios) float64) []float64 {
	var picked []float64
	for _, v := range g.cells {
		if ratio := pick(v); !math.IsInf(ratio, 1) {
			picked = append(picked, ratio)
		}
	}
	return picked
}

// A cell is a tie if its work iterates over at least minTieSize entities, and its ratio to the fastest store
// is at least minTieRatio and less than 1.
const (
	minTieSize  = 1000
	minTieRatio = 0.95
)

// ranks counts the cells in which Vast is first, ties with the fastest store, or is behind. It skips cells
// with fewer than minSize entities.
func (g *grid) ranks(minSize int) (first, ties, behind int) {
	for at, v := range g.cells {
		ratio, _ := v.best()
		switch {
		case at.n < minSize:
		case ratio >= 1:
			first++
		case ratio >= minTieRatio && at.n >= minTieSize && workNamed(at.line.work).iterates:
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
