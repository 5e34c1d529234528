package atlas

// A Point is a position in degrees, north and east positive.
type Point struct{ Lat, Lon float32 }

// Outlines gives the outlines of all land, closed: the last point of each is joined to its first. Land is what an odd
// number of them surrounds, and is cut along the antimeridian: an edge at a longitude of ±180 is no coast. The slices are
// the caller's.
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
