package earth

import (
	"math"
	"slices"

	"github.com/vastgo/vast/cmd/vast/earth/places"
)

// A gravity model draws the destinations of travellers. Seen from place i, the chance of place j is in
// proportion to the inhabitants of j and to f(d) = 1/max(d, 50 km), where d is the distance. Source: G. K.
// Zipf, "The P1 P2/D Hypothesis: On the Intercity Movement of Persons", American Sociological Review 11
// (1946); for the family of such models, A. G. Wilson, "A statistical theory of spatial distribution models",
// Transportation Research 1 (1967).
//
// 200,000 places have 40 thousand million pairs, too many to store. A destination is therefore drawn in
// steps:
//
//  1. A cell of a coarse grid, about 550 km wide, is drawn. A table has, for each cell of origin, the
//     cumulative weights of all cells. The weight of a cell is its inhabitants times f. For distant cells, f
//     is computed from the distance of the centres of population. For near cells, and inside a cell, f is the
//     mean over sampled pairs of places.
//  2. If the cell is distant, a place in the cell is drawn, in proportion to inhabitants. This place is the
//     destination, because all places of a distant cell count as equally far.
//  3. If the cell is near, eight candidates are drawn from all near cells: a cell in proportion to the cell's
//     weight, and then a place in the cell in proportion to inhabitants. One candidate is chosen, in
//     proportion to its chance in the model divided by its chance of being drawn. This is sampling–importance
//     resampling (D. B. Rubin, in "Bayesian Statistics 3", 1988). More candidates would approximate the model
//     better.
const (
	minWeight    = 100 // places with fewer inhabitants, or with an unknown number, count as 100 inhabitants
	earthRadius  = 6371.0
	minDistance  = 50.0   // km; shorter distances count as 50 km
	nearDistance = 1000.0 // km; largest distance between the centres of near cells

	sampledPairs = 32
	candidates   = 8

	cellRows = 36 // number of rows of cells, each of 5 degrees of latitude
)

// gravity holds the tables of the model. The slices, except cells, lie outside the Go heap.
type gravity struct {
	cells  []cell
	cellOf []uint16 // the cell of each place
	order  []uint32 // the places, cell by cell
	sum    []uint64 // sum[i] is the number of inhabitants of the places order[0] to order[i]
	row    []uint32 // the results of rowOf for all cells
	sites  []site
	near   float64 // cosine of the angle that nearDistance spans on the Earth
}

// cell is a part of the Earth with at least one place.
type cell struct {
	centre      wide // centre of population
	first, next int  // the cell's places are gravity.order[first:next]
	near        []neighbour
}

// neighbour is a near cell, or the cell itself.
type neighbour struct {
	cell uint16
	f    float64 // mean of f between the two cells
	sum  float64 // sum of the weights of all neighbours up to this one
}

// rowOf returns the chances of the destinations of a traveller in the cell c, in units of 2⁻³². Element j is
// the chance that the destination lies in one of the cells 0 to j.
func (g *gravity) rowOf(c uint16) []uint32 {
	n := len(g.cells)
	return g.row[int(c)*n : int(c)*n+n]
}

// inhabitants returns the number of inhabitants of the cell c, and of all cells before c.
func (g *gravity) inhabitants(c *cell) (n, before uint64) {
	if c.first > 0 {
		before = g.sum[c.first-1]
	}
	return g.sum[c.next-1] - before, before
}

// drawPlace returns the place of a random inhabitant of the cell.
func (g *gravity) drawPlace(c *cell, s *stream) uint32 {
	n, before := g.inhabitants(c)
	at := before + s.below(n)
	i, _ := slices.BinarySearch(g.sum[c.first:c.next], at+1)
	return g.order[c.first+i]
}

// destination draws a destination for a traveller in the place origin. It returns origin if it finds no other
// place.
func (g *gravity) destination(origin uint32, s *stream) uint32 {
	here := g.cellOf[origin]
	row := g.rowOf(here)
	r := uint32(s.Uint64() >> 32)
	to, _ := slices.BinarySearch(row[:len(row)-1], r) // the last element stands for 1
	if c := &g.cells[to]; !g.isNear(&g.cells[here], c) {
		return g.drawPlace(c, s)
	}
	return g.nearby(origin, g.cells[here].near, s)
}

func (g *gravity) nearby(origin uint32, near []neighbour, s *stream) uint32 {
	if len(near) == 0 {
		return origin
	}
	var place [candidates]uint32
	var weight [candidates]float64
	total := 0.0
	for i := range place {
		r := float64(s.unit() * near[len(near)-1].sum)
		n := 0
		for near[n].sum < r {
			n++
		}
		place[i] = g.drawPlace(&g.cells[near[n].cell], s)
		if place[i] != origin {
			weight[i] = deterrence(g.distance(origin, place[i])) / near[n].f
		}
		total += weight[i]
	}
	left := float64(s.unit() * total)
	for i, w := range weight {
		if left -= w; w > 0 && left <= 0 {
			return place[i]
		}
	}
	return origin
}

func (g *gravity) isNear(a, b *cell) bool { return a.centre.dot(b.centre) >= g.near }

// distance returns the length of the straight line between two near places, in radii of the Earth.
func (g *gravity) distance(p, q uint32) float64 {
	return g.sites[p].At.wide().minus(g.sites[q].At.wide()).length()
}

// deterrence returns f for a distance in radii of the Earth.
func deterrence(distance float64) float64 {
	return 1 / max(distance, minDistance/earthRadius)
}

// newGravity fills the tables. Complexity: one step for each place and for each pair of cells.
func newGravity(e *globe, list *places.List, sites []site) (*gravity, error) {
	_, cos := sinCos(nearDistance / earthRadius * degreesPerRadian)
	g := &gravity{sites: sites, near: cos}
	n := len(sites)
	var err error
	if g.cellOf, err = table[uint16](e, "earth: cells of places", n); err != nil {
		return nil, err
	}
	if g.order, err = table[uint32](e, "earth: places by cell", n); err != nil {
		return nil, err
	}
	if g.sum, err = table[uint64](e, "earth: inhabitants", n); err != nil {
		return nil, err
	}
	g.sortIntoCells(list)
	cells := len(g.cells)
	if g.row, err = table[uint32](e, "earth: weights between cells", cells*cells); err != nil {
		return nil, err
	}
	e.progress("distances", 0, cells)
	e.parallel(cells, func(c int) { g.weigh(c, e.seed) })
	e.progress("distances", cells, cells)
	return g, nil
}

// cellNumbers returns the number of the first cell of each row of latitude. The last element is the number of
// cells. The cells of a row are about square.
func cellNumbers() (first [cellRows + 1]int) {
	for r := range cellRows {
		_, cos := sinCos(float64((float64(r)+0.5)*(180.0/cellRows)) - 90)
		first[r+1] = first[r] + max(1, int(float64(2*cellRows*cos)+0.5))
	}
	return first
}

// sortIntoCells fills cells, cellOf, order and sum.
func (g *gravity) sortIntoCells(list *places.List) {
	first := cellNumbers()
	number := make([]uint16, len(g.sites)) // for each place, the number of its cell, counting empty cells
	size := make([]int, first[cellRows])
	for i := range number {
		row := min(int((list.Lat(i)+90)*(cellRows/180.0)), cellRows-1)
		across := first[row+1] - first[row]
		column := min(int((list.Lon(i)+180)*(float64(across)/360)), across-1)
		number[i] = uint16(first[row] + column)
		size[number[i]]++
	}
	index := make([]uint16, len(size))
	for c, n := range size {
		if n > 0 {
			index[c] = uint16(len(g.cells))
			at := 0
			if k := len(g.cells); k > 0 {
				at = g.cells[k-1].next
			}
			g.cells = append(g.cells, cell{first: at, next: at + n})
		}
	}
	at := make([]int, len(g.cells))
	for c := range g.cells {
		at[c] = g.cells[c].first
	}
	for i, s := range g.sites {
		c := index[number[i]]
		g.cellOf[i] = c
		g.order[at[c]] = uint32(i)
		at[c]++
		g.cells[c].centre = g.cells[c].centre.plus(s.At.wide().times(float64(s.Weight)))
	}
	var sum uint64
	for i, place := range g.order {
		sum += uint64(g.sites[place].Weight)
		g.sum[i] = sum
	}
	for c := range g.cells {
		centre := &g.cells[c].centre
		// In cells of this size the positions cannot cancel out, as they could in a ring around the Earth.
		// If they did, the cell's first place would be the cell's centre.
		if length := centre.length(); length > 1 {
			*centre = centre.times(1 / length)
		} else {
			*centre = g.sites[g.order[g.cells[c].first]].At.wide()
		}
	}
}

// weigh fills the row of chances of the cell origin, and finds the near cells of origin.
func (g *gravity) weigh(origin int, seed uint64) {
	row, a := g.rowOf(uint16(origin)), &g.cells[origin]
	s := draws(seed, uint32(origin), 0, forCells)
	total, near := 0.0, 0.0
	for to := range row {
		b := &g.cells[to]
		n, _ := g.inhabitants(b)
		var f float64
		if g.isNear(a, b) {
			f = g.sampled(a, b, &s)
			near += float64(float64(n) * f)
			if f > 0 {
				a.near = append(a.near, neighbour{uint16(to), f, near})
			}
		} else {
			f = deterrence(arc(a.centre, b.centre))
		}
		// Single precision is enough, and the elements of the table have 32 bits.
		w := float32(float64(n) * f)
		row[to] = math.Float32bits(w)
		total += float64(w)
	}
	if total == 0 { // there is only one cell, and sampled found no other place in it
		total = 1
	}
	sum := 0.0
	for to, bits := range row {
		sum += float64(math.Float32frombits(bits))
		row[to] = uint32(min(sum/total*(1<<32), math.MaxUint32))
	}
}

// sampled returns the mean of f over sampled pairs of different places in two cells, or 0 if it has sampled
// no such pair.
func (g *gravity) sampled(a, b *cell, s *stream) float64 {
	sum, pairs := 0.0, 0
	for range sampledPairs {
		p, q := g.drawPlace(a, s), g.drawPlace(b, s)
		if p != q {
			sum += deterrence(g.distance(p, q))
			pairs++
		}
	}
	if pairs == 0 {
		return 0
	}
	return sum / float64(pairs)
}
