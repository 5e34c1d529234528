package earth

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/cmd/vast/earth/atlas"
)

// paintedMoving is a limit of the travellers on their way. Up to this limit, a picture visits all of them. If
// more are on their way, a picture visits only a part of them.
const paintedMoving = 1 << 17

// painting is the last painted picture of the travellers at rest. A new picture visits only the few places
// whose tallies have changed since the last picture.
type painting struct {
	onMap    *atlas.Map    // the map of the picture; nil: no picture yet
	changed  *vast.Tracker // the tallies that have changed since the last picture
	dots     []int32       // dot of each place; negative: the place is not on the map
	tallies  []presence    // painted tally of each place
	density  []uint32      // number of travellers at rest for each dot of the map
	infected []uint32      // number of infectious travellers at rest for each dot
}

// Paint adds the travellers to the counts of a map's dots. It adds all travellers to density, and the
// infectious travellers also to infected. The two slices must have an element for each dot. Paint counts
// travellers at rest exactly. With more than 131,072 travellers on their way, it visits about one in n of
// them, and counts each visited traveller as n travellers. n is a power of two that grows with the number of
// travellers on their way. Pictures with the same n visit travellers in the same slots.
//
// Complexity: a few nanoseconds for each place whose tally changed since the last picture, for each visited
// traveller, and for each dot. The first picture visits all places, and so does a picture on another map than
// the last one.
func (e *Earth) Paint(m *atlas.Map, density, infected []uint32) {
	e.mustBeOpen("Paint")
	p := &e.painting
	if p.onMap != m {
		e.beginPainting(m, len(density))
	}
	for place := range e.world.Query(e.presence).Changed(e.presence, p.changed).All() {
		p.paint(e.index(uint32(place.Slot())), *e.presence.Get(place))
	}
	p.changed.Next()
	for dot, n := range p.density {
		density[dot] += n
		infected[dot] += p.infected[dot]
	}
	weight := 1
	for e.trip.Len()/weight > paintedMoving {
		weight *= 2
	}
	e.paintBodies(e.world.Query(e.trip, e.body), m, density, weight)
	e.paintBodies(e.world.Query(e.trip, e.body, e.infectious), m, infected, weight)
}

func (e *Earth) beginPainting(m *atlas.Map, dots int) {
	p := &e.painting
	if p.changed == nil {
		p.changed = vast.NewTracker(e.world, e.presence)
	}
	p.changed.Next()
	p.onMap = m
	p.density, p.infected = make([]uint32, dots), make([]uint32, dots)
	clear(p.tallies)
	for i, tally := range e.tallies {
		at := e.sites[int(e.first)+i].At
		p.dots[i] = int32(m.DotXYZ(at.X, at.Y, at.Z))
		p.paint(uint32(i), tally)
	}
}

// paint updates the counts of a place's dot when the place has a new tally.
func (p *painting) paint(place uint32, tally presence) {
	if dot := p.dots[place]; dot >= 0 {
		p.density[dot] += uint32(tally.Present - p.tallies[place].Present)
		p.infected[dot] += uint32(tally.Infectious - p.tallies[place].Infectious)
	}
	p.tallies[place] = tally
}

// paintBodies visits the travellers of the query whose slots are multiples of weight. It adds weight, which
// must be a power of two, to the count of the dot of each visited traveller.
func (e *Earth) paintBodies(q vast.Query, m *atlas.Map, counts []uint32, weight int) {
	for run := range q.Runs() {
		bodies := e.body.Slice(run)
		for i := -run.Start() & (weight - 1); i < len(bodies); i += weight {
			at := bodies[i].At
			if dot := m.DotXYZ(at.X, at.Y, at.Z); dot >= 0 {
				counts[dot] += uint32(weight)
			}
		}
	}
}
