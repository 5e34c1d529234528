package earth

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/earth/atlas"
)

// paintedMoving is how many of those on their way are looked at for a picture, at most.
const paintedMoving = 1 << 17

// Paint adds the travellers to the counts of a map's dots: all to density, the infectious also to infected. Both are as
// long as the map has dots. Travellers at rest are counted exactly, by their places. Of those on their way, when they are
// more than 131,072, only every second, fourth, … is looked at and stands for two, four, …; which ones, is decided by
// their slots and the same in every picture.
//
// Complexity: the places and those looked at, a few nanoseconds each; the first picture on a map takes longer.
func (e *Earth) Paint(m *atlas.Map, density, infected []uint32) {
	e.mustBeOpen("Paint")
	if e.dotsOf != m {
		for i, s := range e.sites {
			e.dots[i] = int32(m.DotXYZ(s.at.X, s.at.Y, s.at.Z))
		}
		e.dotsOf = m
	}
	for i, dot := range e.dots {
		if p := e.tallies[i]; p.present != 0 && dot >= 0 {
			density[dot] += uint32(p.present)
			infected[dot] += uint32(p.infectious)
		}
	}
	weight := 1
	for e.trip.Len()/weight > paintedMoving {
		weight *= 2
	}
	e.paintBodies(e.world.Query(e.trip, e.body), m, density, weight)
	e.paintBodies(e.world.Query(e.trip, e.body, e.infectious), m, infected, weight)
}

// paintBodies adds every so many travellers of the query, and as much for each.
func (e *Earth) paintBodies(q vast.Query, m *atlas.Map, counts []uint32, every int) {
	for run := range q.Runs() {
		bodies := e.body.Slice(run)
		for i := -run.Start() & (every - 1); i < len(bodies); i += every {
			at := bodies[i].at
			if dot := m.DotXYZ(at.X, at.Y, at.Z); dot >= 0 {
				counts[dot] += uint32(every)
			}
		}
	}
}
