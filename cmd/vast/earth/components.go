package earth

import (
	"fmt"

	"github.com/vastgo/vast"
)

// Times are in ticks, kept modulo 2³²: they are compared by their difference, so a world may run for ever.

// passed reports whether the time t has come.
func passed(t, now uint32) bool { return int32(now-t) >= 0 }

// Components have exported fields, so that tools that know nothing of their types can show and set them.

// Components of places.
type (
	// site is where a place lies and how it draws travellers.
	site struct {
		At     vector
		Weight uint32 // inhabitants, at least leastWeight
	}
	// presence tallies the travellers who stay in a place.
	presence struct {
		Present    int32
		Infectious int32
	}
)

// Components of travellers. Body, life and a home are given for life; a traveller has either a stay, and a place that it is
// at, or a trip, and is either susceptible, infectious or recovered. Stay and trip are small, because every one is looked at
// in every tick.
type (
	// body is where a traveller is.
	body struct{ At vector }
	// life is who a traveller is, and when it dies.
	life struct {
		Number uint32 // in the order of births
		Ends   uint32
	}
	// stay is a rest in a place.
	stay struct{ Until uint32 }
	// trip is a way along a great circle. Each step turns the position towards the direction by the angle of the transport,
	// and the direction along with it.
	trip struct {
		Direction vector // of unit length and at a right angle to the position
		ToPlace   uint32 // the number of the place where it ends
		StepsLeft uint16 // steps, the last of which arrives
		By        transport
	}
	infectious struct{ Until uint32 }
	recovered  struct{ Until uint32 } // immune
)

// components are the world's columns and relations.
type components struct {
	site     vast.Column[site]
	presence vast.Column[presence]

	body        vast.Column[body]
	life        vast.Column[life]
	stay        vast.Column[stay]
	trip        vast.Column[trip]
	susceptible vast.Tag
	infectious  vast.Column[infectious]
	recovered   vast.Column[recovered]

	home vast.Relation // from a traveller to the place that it was born in and returns to
	at   vast.Relation // from a traveller to the place where it stays
}

func column[T any](w *vast.World, name string) vast.Column[T] {
	return vast.NewColumn[T](w).Named(name)
}

func newComponents(w *vast.World) components {
	return components{
		site:        column[site](w, "Site"),
		presence:    column[presence](w, "Presence"),
		body:        column[body](w, "Body"),
		life:        column[life](w, "Life"),
		stay:        column[stay](w, "Stay"),
		trip:        column[trip](w, "Trip"),
		susceptible: vast.NewTag(w, "Susceptible"),
		infectious:  column[infectious](w, "Infectious"),
		recovered:   column[recovered](w, "Recovered"),
		// Places have no places: there are no hierarchies to keep.
		home: vast.NewRelation(w, "Home", vast.RelationOptions{Cyclic: true}),
		at:   vast.NewRelation(w, "At", vast.RelationOptions{Cyclic: true}),
	}
}

// growChanging makes room for the components that n travellers gain after birth, so that Add cannot fail in a tick.
func (c *components) growChanging(n int) error {
	for _, grow := range [...]func(int) error{c.stay.Grow, c.trip.Grow, c.susceptible.Grow, c.infectious.Grow, c.recovered.Grow} {
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

// regions is the number of parts that the travellers are divided into, each a tag of its own: the unit of work that workers
// share. A constant, so that the results do not depend on the workers, and large enough to keep several busy alike. One
// region's health is looked at in each tick, so it is also the number of ticks between two looks.
const regions = 32

// region is a part of the travellers: those whose homes lie in one stretch of the places, which follow a Hilbert curve, so
// that entities who live near each other lie near each other in memory. The stretches hold equal shares of the inhabitants.
type region struct {
	tag        vast.Tag
	travellers *vast.Archetype
	size       uint64 // travellers at the beginning
	number     uint32 // of the first of these
	births     int    // in the tick under way, when it is the region's turn
	first, end uint64 // the stretch, in inhabitants counted along the places

	everyone, resting, moving      vast.Query
	exposed, infectious, recovered vast.Query
}

func (c *components) newRegion(w *vast.World, index int) region {
	tag := vast.NewTag(w, fmt.Sprintf("Region%02d", index))
	return region{
		tag:        tag,
		travellers: w.Archetype(c.body, c.life, c.stay, c.susceptible, tag),
		everyone:   w.Query(tag, c.life),
		resting:    w.Query(tag, c.stay, c.life),
		moving:     w.Query(tag, c.trip, c.body, c.life),
		exposed:    w.Query(tag, c.susceptible, c.at, c.life),
		infectious: w.Query(tag, c.infectious, c.life),
		recovered:  w.Query(tag, c.recovered),
	}
}
