package earth

import (
	"fmt"

	"github.com/vastgo/vast"
)

// Times are in ticks modulo 2³². A world may run forever, because times are compared by their difference.

// passed reports whether the time t has come. t must be less than 2³¹ ticks away.
func passed(t, now uint32) bool { return int32(now-t) >= 0 }

// Components have exported fields, so that tools can show and set the fields without knowing the component
// types.

type (
	// site is the position of a place and its weight for travellers.
	site struct {
		At     vector
		Weight uint32 // inhabitants, at least minWeight
	}
	// presence tallies the travellers who stay in a place.
	presence struct {
		Present    int32
		Infectious int32
	}
)

// Components of travellers. Each traveller has:
//
//   - a body and a life,
//   - the relation home, or the component abroad if the home lies in another region,
//   - a stay and the relation `at`, or a trip, with a transit in the first ticks of the trip,
//   - susceptible, infectious or recovered,
//   - the tag of its cohort.
//
// Stay and trip are small, because each tick visits all trips and a quarter of the stays.
type (
	// body is the position of a traveller.
	body struct{ At vector }
	// life is the number of a traveller, and the time of its death.
	life struct {
		Number uint32 // in the order of births
		Ends   uint32
	}
	// stay is a rest in a place.
	stay struct{ Until uint32 }
	// trip is a journey along a great circle. Each step turns the position and the direction by the angle of
	// the transport.
	trip struct {
		Direction vector // of unit length and at a right angle to the position
		ToPlace   uint32 // number of the destination
		StepsLeft uint16 // the last step ends at the destination
		By        transport
	}
	// transit is the beginning of a trip. No system changes a traveller in transit: see [Lookahead].
	transit struct {
		Until     uint32
		FromPlace uint32 // number of the place where the trip begins
	}
	infectious struct{ Until uint32 }
	recovered  struct{ Until uint32 } // immune
	// abroad replaces the relation home for a traveller whose home lies in another region.
	abroad struct{ HomePlace uint32 } // number of the place
)

type components struct {
	site     vast.Column[site]
	presence vast.Column[presence]

	body        vast.Column[body]
	life        vast.Column[life]
	stay        vast.Column[stay]
	trip        vast.Column[trip]
	transit     vast.Column[transit]
	susceptible vast.Tag
	infectious  vast.Column[infectious]
	recovered   vast.Column[recovered]
	abroad      vast.Column[abroad]

	home vast.Relation // from a traveller to the place of its home
	at   vast.Relation // from a traveller to the place where it stays

	inCohort [cohorts]vast.Tag // for each cohort, the tag of its travellers
}

func column[T any](w *vast.World, name string) vast.Column[T] {
	return vast.NewColumn[T](w).Named(name)
}

func newComponents(w *vast.World) components {
	c := components{
		site:        column[site](w, "Site"),
		presence:    column[presence](w, "Presence"),
		body:        column[body](w, "Body"),
		life:        column[life](w, "Life"),
		stay:        column[stay](w, "Stay"),
		trip:        column[trip](w, "Trip"),
		transit:     column[transit](w, "Transit"),
		susceptible: vast.NewTag(w, "Susceptible"),
		infectious:  column[infectious](w, "Infectious"),
		recovered:   column[recovered](w, "Recovered"),
		abroad:      column[abroad](w, "Abroad"),
		// The links lead only from travellers to places, so no circle can close. With Cyclic, the relations
		// do not check for circles and keep no depths.
		home: vast.NewRelation(w, "Home", vast.RelationOptions{Cyclic: true}),
		at:   vast.NewRelation(w, "At", vast.RelationOptions{Cyclic: true}),
	}
	for i := range c.inCohort {
		c.inCohort[i] = vast.NewTag(w, fmt.Sprintf("Cohort%02d", i))
	}
	return c
}

// growChanging makes room for the components that n travellers gain after birth, except abroad. Adding these
// components in a tick then cannot fail.
func (c *components) growChanging(n int) error {
	for _, grow := range [...]func(int) error{c.stay.Grow, c.trip.Grow, c.transit.Grow, c.susceptible.Grow,
		c.infectious.Grow, c.recovered.Grow} {
		if err := grow(n); err != nil {
			return err
		}
	}
	for _, r := range [...]vast.Relation{c.home, c.at} {
		if err := r.GrowLevels(1); err != nil {
			return err
		}
	}
	return nil
}

// cohorts is the number of cohorts. The number is a constant, so that the results do not depend on the number
// of workers, and it is large enough to keep several workers evenly busy. Each tick examines the health of
// one cohort, so cohorts is also the number of ticks between two examinations of a cohort.
const cohorts = 32

// cohort has the travellers whose homes lie in one stretch of the places. A cohort is the unit of work for
// one worker. The places follow a Hilbert curve, so travellers who live close together are close together in
// memory.
type cohort struct {
	*stretch
	tag        vast.Tag
	travellers *vast.Archetype
	settled    uint64        // index, in the stretch, of the next traveller that settleDown gives a home
	leaving    []vast.Entity // travellers who left for other regions in the last call of leave
	births     int           // number of births in the current tick, if it is the cohort's turn

	// Only boarding and onTheWay find travellers in transit.
	everyone, resting, moving, boarding, onTheWay vast.Query
	exposed, infectious, recovered                vast.Query
}

func (c *components) newCohort(w *vast.World, index int, s *stretch) cohort {
	tag := c.inCohort[index]
	return cohort{
		stretch:    s,
		tag:        tag,
		travellers: w.Archetype(c.body, c.life, c.stay, c.susceptible, tag),
		everyone:   w.Query(tag, c.life).Without(c.transit),
		resting:    w.Query(tag, c.stay, c.life),
		moving:     w.Query(tag, c.trip, c.body, c.life).Without(c.transit),
		boarding:   w.Query(tag, c.transit, c.trip, c.body),
		onTheWay:   w.Query(tag, c.trip, c.body),
		exposed:    w.Query(tag, c.susceptible, c.at, c.life),
		infectious: w.Query(tag, c.infectious, c.life).Without(c.transit),
		recovered:  w.Query(tag, c.recovered).Without(c.transit),
	}
}
