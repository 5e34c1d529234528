package earth

import (
	"iter"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/cmd/vast/earth/atlas"
)

// Place returns the entity of a place by its number in the list that the world was made with. In the Earth of
// a [Region], number 0 is the first place of the region. Place panics if there is no place with this number.
func (e *Earth) Place(number int) vast.Entity {
	e.mustBeOpen("Place")
	return e.places.Entity(number)
}

// PlaceNumber returns the number of a place, as in [Earth.Place]. The result is false if the entity is not a
// place.
func (e *Earth) PlaceNumber(place vast.Entity) (int, bool) {
	number := int(place.Slot()) - e.places.Start()
	if number < 0 || number >= e.places.Len() || e.places.Entity(number) != place {
		return 0, false
	}
	return number, true
}

// Present returns the number of travellers who stay in a place, and the number of infectious travellers among
// them. number is as in [Earth.Place].
func (e *Earth) Present(number int) (travellers, infectious int) {
	e.mustBeOpen("Present")
	p := e.tallies[number]
	return int(p.Present), int(p.Infectious)
}

// Position returns the position of a place or a traveller in degrees, north and east positive, exact to
// 0.001. ok is false for other entities.
func (e *Earth) Position(who vast.Entity) (lat, lon float32, ok bool) {
	e.mustBeOpen("Position")
	switch body, site := e.body.Get(who), e.site.Get(who); {
	case body != nil:
		lat, lon = atlas.Position(body.At.X, body.At.Y, body.At.Z)
	case site != nil:
		lat, lon = atlas.Position(site.At.X, site.At.Y, site.At.Z)
	default:
		return 0, 0, false
	}
	return lat, lon, true
}

// CrowdParts is the number of parts in which [Earth.Crowds] yields the travellers.
const CrowdParts = 2 * cohorts

// Crowd is a number of travellers at one point.
type Crowd struct {
	Lat, Lon   float32 // degrees, north and east positive, exact to 0.001
	Travellers uint32
	Infectious uint32 // number of infectious travellers among them
}

// seenOneByOne is the largest number of travellers in a world for which Crowds yields every traveller on the
// way.
const seenOneByOne = 1 << 20

// Crowds yields the travellers of one part, from 0 to CrowdParts-1. It yields one Crowd for all travellers
// who stay in a place, and one for each traveller on the way. If no tick runs between the calls, the parts
// have every traveller once. If ticks run between the calls, a few travellers who set out or arrive meanwhile
// are missing or counted twice.
//
// In a world of more than 1,048,576 travellers, Crowds yields one in n of the travellers on the way and
// counts each of them as n travellers. n is a power of two that grows with the world.
//
// Complexity: about 25 nanoseconds for each place in the part and for each traveller on the way in the part.
// In a world of a million travellers, a part takes about a sixth of a millisecond.
func (e *Earth) Crowds(part int) iter.Seq[Crowd] {
	e.mustBeOpen("Crowds")
	if part < cohorts {
		return e.crowdsInPlaces(part)
	}
	return e.crowdsOnTheWay(&e.cohort[part-cohorts])
}

func (e *Earth) crowdsInPlaces(part int) iter.Seq[Crowd] {
	n := len(e.tallies)
	lo, hi := n*part/cohorts, n*(part+1)/cohorts
	return func(yield func(Crowd) bool) {
		for i, p := range e.tallies[lo:hi] {
			if p.Present <= 0 {
				continue
			}
			at := e.sites[int(e.first)+lo+i].At
			lat, lon := atlas.Position(at.X, at.Y, at.Z)
			if !yield(Crowd{lat, lon, uint32(p.Present), uint32(max(p.Infectious, 0))}) {
				return
			}
		}
	}
}

func (e *Earth) crowdsOnTheWay(r *cohort) iter.Seq[Crowd] {
	every := 1
	for (e.world.Len()-len(e.tallies))/every > seenOneByOne {
		every *= 2
	}
	return func(yield func(Crowd) bool) {
		for run := range r.onTheWay.Runs() {
			bodies := e.body.Slice(run)
			for i := -run.Start() & (every - 1); i < len(bodies); i += every {
				at := bodies[i].At
				lat, lon := atlas.Position(at.X, at.Y, at.Z)
				c := Crowd{lat, lon, uint32(every), 0}
				if e.infectious.Has(run.Entity(i)) {
					c.Infectious = c.Travellers
				}
				if !yield(c) {
					return
				}
			}
		}
	}
}
