package atlas

import "math"

// MinLat and MaxLat are the latitudes of the lower and the upper border of the window, the part of the Earth
// that a Map shows. The window contains Cape Horn and Spitsbergen. It leaves out Antarctica and the
// northernmost ice, where almost no people live.
const (
	MinLat = -58.0
	MaxLat = 80.0
)

const (
	// A braille glyph has 2 by 4 dots.
	dotsAcross = 2
	dotsDown   = 4

	// MaxColumns and MaxRows are the largest size of a Map. New reduces a larger size to them.
	MaxColumns = 1000
	MaxRows    = 500

	// minAspect and maxAspect bound the ratio of width to height of the window, in dots. If the ratio of the
	// map is between the bounds, the window fills the map. Otherwise the map has a margin on two sides. A
	// ratio of 2.6 shows true shapes at the equator, 2.0 at latitude 40, and 1.6 at latitude 52.
	minAspect = 1.6
	maxAspect = 2.8
)

// Map is a map of the world for one size in terminal cells. For another size make another Map. Only one
// goroutine may call Draw at a time. The other methods only read, and may run concurrently with each other
// and with Draw.
type Map struct {
	columns, rows int // cells
	width, height int // dots: columns×2, rows×4

	// The position and the size of the window in the map, in dots.
	left, top, across, down int

	// rowEdge has the z on the unit sphere of each border between rows of dots, from the upper border of row
	// 0 to the lower border of the last row. rowAt has the row at the upper end of each slice of the range of
	// z; the search for the row of a z begins there. Slice 0 begins at z = -1.
	rowEdge []float32
	rowAt   [zSlices]int16

	land, coast []bool  // for each dot, whether it is on land, and whether it is on a coast
	glyph       []uint8 // for each cell, the coast's dots as bits of a braille glyph
	ground      []uint8 // for each cell, the number of its dots on land

	grid Grid
}

// zSlices is the number of slices of the range of z. On the largest map, a slice contains at most three
// borders of rows. The maximum is in the far north, where z changes least with latitude.
const zSlices = 2048

// New makes a map of the given size in terminal cells and draws the land, in less than 1 ms for 120×40 cells
// (BenchmarkNew). With no columns or no rows the map is empty: no position is on it, and Draw returns an
// empty Grid.
func New(columns, rows int) *Map {
	columns, rows = min(columns, MaxColumns), min(rows, MaxRows)
	if columns <= 0 || rows <= 0 {
		return &Map{}
	}
	m := &Map{
		columns: columns, rows: rows,
		width: columns * dotsAcross, height: rows * dotsDown,
		grid: NewGrid(columns, rows),
	}
	m.across, m.down = m.width, m.height
	switch aspect := float64(m.width) / float64(m.height); {
	case aspect > maxAspect:
		m.across = max(1, int(math.Round(float64(m.height)*maxAspect)))
	case aspect < minAspect:
		m.down = max(1, int(math.Round(float64(m.width)/minAspect)))
	}
	m.left, m.top = (m.width-m.across)/2, (m.height-m.down)/2

	m.rowEdge = make([]float32, m.down+1)
	for row := range m.rowEdge {
		lat := MaxLat - float64(row)*(MaxLat-MinLat)/float64(m.down)
		m.rowEdge[row] = float32(math.Sin(lat * math.Pi / 180))
	}
	row := m.down - 1
	for slice := range m.rowAt {
		// The bound is a little above the slice, because DotXYZ computes the slice of a z with rounding.
		upper := float32(slice+1)*(2.0/zSlices) - 1 + 1e-6
		for row > 0 && m.rowEdge[row] <= upper {
			row--
		}
		m.rowAt[slice] = int16(row)
	}
	m.drawLand()
	return m
}

// Size returns the size of the map in terminal cells.
func (m *Map) Size() (columns, rows int) { return m.columns, m.rows }

// Dots returns the size of the map in dots: two per column and four per row. Dots are numbered row by row
// from the upper left: dot x, y has the number y×width + x.
func (m *Map) Dots() (width, height int) { return m.width, m.height }

// Land reports whether the centre of a dot lies on land.
func (m *Map) Land(dot int) bool { return m.land[dot] }

// Coast reports whether a coast passes through a dot.
func (m *Map) Coast(dot int) bool { return m.coast[dot] }

// Dot returns the number of the dot at a position in degrees. It returns -1 for a latitude below MinLat or
// above MaxLat, for a longitude beyond ±1e9, for NaN, and on an empty map. Longitudes beyond ±180 wrap
// around.
func (m *Map) Dot(lat, lon float64) int {
	// This form of the condition also rejects NaN and infinities.
	if !(lat >= MinLat && lat <= MaxLat && math.Abs(lon) <= 1e9) || m.width == 0 {
		return -1
	}
	if math.Abs(lon) > 180 {
		lon -= 360 * math.Floor((lon+180)/360)
	}
	x, y := m.place(lat, lon)
	return m.number(int(x), int(y))
}

// place returns the coordinates of a position in the window, in dots.
func (m *Map) place(lat, lon float64) (x, y float64) {
	return (lon + 180) / 360 * float64(m.across), (MaxLat - lat) / (MaxLat - MinLat) * float64(m.down)
}

// number returns the number of a dot of the window. The right border belongs to the last column of dots, and
// the lower border to the last row.
func (m *Map) number(x, y int) int {
	return (m.top+min(y, m.down-1))*m.width + m.left + min(x, m.across-1)
}

// DotXYZ is Dot for a point on the unit sphere: x points to 0° N 0° E, y to 0° N 90° E, z to the north pole.
// It is made for millions of calls a frame and uses no trigonometry. A call takes about 20 ns for points in
// random order (BenchmarkDotXYZ). The row is exact to the last bit of z. The longitude is at most 0.001° off,
// less than a hundredth of a dot on the largest map. For a vector that is not of unit length, z alone
// determines the row.
func (m *Map) DotXYZ(x, y, z float32) int {
	// This form of the condition also rejects NaN. rowEdge is empty on an empty map.
	if m.width == 0 || !(z <= m.rowEdge[0] && z >= m.rowEdge[m.down]) {
		return -1
	}
	row := int(m.rowAt[int((z+1)*(zSlices/2))&(zSlices-1)])
	for row+1 < m.down && z <= m.rowEdge[row+1] {
		row++
	}
	column := (turn(x, y) + 0.5) * float32(m.across)
	if !(column >= 0) {
		return -1
	}
	return m.number(int(column), row)
}

// turn returns atan2(y, x) in turns, from -0.5 to 0.5, and 0 for x = y = 0. The arc tangent is the polynomial
// 4.4.47 of Abramowitz and Stegun, Handbook of Mathematical Functions. The error is at most 1e-5 radian, or
// 0.0006°.
//
// turn has no branches that depend on the direction. For points in random directions, the processor would
// mispredict half of these branches, which would cost more than the arithmetic.
func turn(x, y float32) float32 {
	const sign = 1 << 31
	bx, by := math.Float32bits(x), math.Float32bits(y)
	// Without the sign bit, the bits of floats have the same order as their absolute values.
	ax, ay := bx&^sign, by&^sign
	long, short := math.Float32frombits(max(ax, ay)), math.Float32frombits(min(ax, ay))
	if long == 0 {
		return 0
	}
	const perTurn = 1 / (2 * math.Pi)
	t := short / long
	s := t * t
	a := t * (0.9998660*perTurn +
		s*(-0.3302995*perTurn+s*(0.1801410*perTurn+s*(-0.0851330*perTurn+s*0.0208351*perTurn))))
	steep := (ax - ay) >> 31 // 1 if ay is larger than ax; both are below 1<<31
	o := &octants[steep<<2|bx>>31<<1|by>>31]
	return o.base + o.sign*a
}

// octants continues the arc tangent from the first eighth of a turn to all eighths. The index
// has a bit for each condition: 4 for |y| > |x|, 2 for negative x, and 1 for negative y.
var octants = [8]struct{ base, sign float32 }{
	{0, 1}, {0, -1}, {0.5, -1}, {-0.5, 1},
	{0.25, -1}, {-0.25, 1}, {0.25, 1}, {-0.25, -1},
}

// Position returns the position of a point on the unit sphere in degrees, north and east positive. Like
// [Map.DotXYZ], Position is made for many calls and uses no trigonometry. A call takes about 10 ns
// (BenchmarkPosition). The position is at most 0.001° off, which is 110 m. The length of the vector does not
// matter. The zero vector gives 0, 0, and NaN gives NaN.
func Position(x, y, z float32) (lat, lon float32) {
	if x != x || y != y || z != z {
		nan := float32(math.NaN())
		return nan, nan
	}
	flat := float32(math.Sqrt(float64(x*x + y*y)))
	return turn(flat, z) * 360, turn(x, y) * 360
}
