package atlas

import (
	_ "embed"
	"math"
	"slices"
	"sync"

	"github.com/vastgo/vast/cmd/vast/earth/atlas/internal/land"
)

// Attribution is a line that programs may show with the map. Natural Earth is in the public domain and
// requires no attribution.
const Attribution = "Land: Natural Earth (naturalearthdata.com), public domain"

//go:embed land.bin
var packedLand []byte

var landRings = sync.OnceValue(func() []land.Ring {
	rings, err := land.Decode(packedLand)
	if err != nil {
		panic("atlas: the program was built with a damaged land.bin: " + err.Error())
	}
	return rings
})

// drawLand fills the fields land, coast, glyph and ground.
func (m *Map) drawLand() {
	m.land = make([]bool, m.width*m.height)
	m.coast = make([]bool, m.width*m.height)
	crossings := make([][]float64, m.down)
	for _, ring := range landRings() {
		prev := ring[len(ring)-1]
		for _, p := range ring {
			m.cross(crossings, prev, p)
			// Land is cut along the antimeridian. The cut is not a coast.
			cut := prev.Lon == p.Lon && math.Abs(float64(p.Lon)) > 179.9
			if !cut {
				m.line(prev, p)
			}
			prev = p
		}
	}
	for row, xs := range crossings {
		slices.Sort(xs)
		// Rings are closed, so they cross a row's centre line an even number of times.
		for i := 0; i+1 < len(xs); i += 2 {
			// Set the dots whose centres, at x + 0.5, lie between the two crossings.
			from, to := int(math.Ceil(xs[i]-0.5)), int(math.Ceil(xs[i+1]-0.5))
			start := (m.top+row)*m.width + m.left
			for x := max(from, 0); x < min(to, m.across); x++ {
				m.land[start+x] = true
			}
		}
	}

	m.glyph = make([]uint8, m.columns*m.rows)
	m.ground = make([]uint8, m.columns*m.rows)
	for dot, isLand := range m.land {
		x, y := dot%m.width, dot/m.width
		cell := y/dotsDown*m.columns + x/dotsAcross
		if isLand {
			m.ground[cell]++
		}
		if m.coast[dot] {
			m.glyph[cell] |= brailleBit[y%dotsDown][x%dotsAcross]
		}
	}
}

// cross adds to crossings the points where the edge from a to b crosses the centre lines of rows.
func (m *Map) cross(crossings [][]float64, a, b land.Point) {
	ax, ay := m.place(float64(a.Lat), float64(a.Lon))
	bx, by := m.place(float64(b.Lat), float64(b.Lon))
	if ay > by {
		ax, ay, bx, by = bx, by, ax, ay
	}
	// An edge includes its upper end but not its lower end. So a corner on a centre line counts once if the
	// outline crosses the line there, and twice or not at all if the outline turns back.
	from, to := int(math.Ceil(ay-0.5)), int(math.Ceil(by-0.5))
	for row := max(from, 0); row < min(to, m.down); row++ {
		at := (float64(row) + 0.5 - ay) / (by - ay)
		crossings[row] = append(crossings[row], ax+at*(bx-ax))
	}
}

// line marks the dots on the edge from a to b as coast. Its steps along the edge are at most one dot long
// in x and in y.
func (m *Map) line(a, b land.Point) {
	ax, ay := m.place(float64(a.Lat), float64(a.Lon))
	bx, by := m.place(float64(b.Lat), float64(b.Lon))
	steps := math.Ceil(max(math.Abs(bx-ax), math.Abs(by-ay), 1))
	for i := 0.0; i <= steps; i++ {
		x, y := ax+(bx-ax)*i/steps, ay+(by-ay)*i/steps
		if y >= 0 && y <= float64(m.down) && x >= 0 && x <= float64(m.across) {
			m.coast[m.number(int(x), int(y))] = true
		}
	}
}

// A Point is a position in degrees, north and east positive.
type Point struct{ Lat, Lon float32 }

// Outlines returns the outlines of all land as closed rings: the last point of a ring is joined to the first.
// A point is on land if an odd number of rings surrounds it. Land is cut along the antimeridian: an edge at a
// longitude of ±180 is not a coast. The slices belong to the caller.
func Outlines() [][]Point {
	rings := landRings()
	outlines := make([][]Point, len(rings))
	for i, ring := range rings {
		outlines[i] = make([]Point, len(ring))
		for j, p := range ring {
			outlines[i][j] = Point(p)
		}
	}
	return outlines
}
