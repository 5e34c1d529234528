package earth

import (
	"fmt"

	"github.com/vastgo/vast"
)

// Times are in ticks, kept modulo 2³²: they are compared by their difference, so a world may run for ever.

// passed reports whether the time t has come.
func passed(t, now uint32) bool { return int32(now-t) >= 0 }

// Components of places.
type (
	// site is where a place lies and how it draws travellers.
	site struct {
		at     vector
		weight uint32 // inhabitants, at least leastWeight
	}
	// presence tallies the travellers who stay in a place.
	presence struct {
		present    int32
		infectious int32
	}
)

// Components of travellers. Body, home, life and goal are given for life; a traveller has either a stay or a trip, and is
// either susceptible, infectious or recovered. Stay and trip are small, because every one is looked at in every tick.
type (
	// body is where a traveller is.
	body struct{ at vector }
	// home is the number of the place that a traveller was born in and returns to.
	home struct{ place uint32 }
	// life is who a traveller is, and when it dies.
	life struct {
		number uint32 // in the order of births
		ends   uint32
	}
	// goal is the place where a traveller stays or, on a trip, will arrive.
	goal struct{ place uint32 }
	// stay is a rest in a place.
	stay struct{ until uint32 }
	// trip is a way along a great circle. Each step turns the position towards the direction by the angle of the transport,
	// and the direction along with it.
	trip struct {
		direction vector // of unit length and at a right angle to the position
		left      uint16 // steps, the last of which arrives
		by        transport
	}
	infectious struct{ until uint32 }
	recovered  struct{ until uint32 } // immune
)

// components are the world's columns.
type components struct {
	site     vast.Column[site]
	presence vast.Column[presence]

	body        vast.Column[body]
	home        vast.Column[home]
	life        vast.Column[life]
	goal        vast.Column[goal]
	stay        vast.Column[stay]
	trip        vast.Column[trip]
	susceptible vast.Tag
	infectious  vast.Column[infectious]
	recovered   vast.Column[recovered]
}

func column[T any](w *vast.World, name string) vast.Column[T] {
	return vast.NewColumnWith[T](w, vast.ColumnOptions{Name: name})
}

func newComponents(w *vast.World) components {
	return components{
		site:        column[site](w, "Site"),
		presence:    column[presence](w, "Presence"),
		body:        column[body](w, "Body"),
		home:        column[home](w, "Home"),
		life:        column[life](w, "Life"),
		goal:        column[goal](w, "Goal"),
		stay:        column[stay](w, "Stay"),
		trip:        column[trip](w, "Trip"),
		susceptible: vast.NewTag(w, "Susceptible"),
		infectious:  column[infectious](w, "Infectious"),
		recovered:   column[recovered](w, "Recovered"),
	}
}

// growChanging makes room for the components that travellers gain after birth, so that Add cannot fail in a tick.
func (c *components) growChanging() error {
	for _, grow := range [...]func() error{c.stay.Grow, c.trip.Grow, c.susceptible.Grow, c.infectious.Grow, c.recovered.Grow} {
		if err := grow(); err != nil {
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
	first, end uint64 // the stretch, in inhabitants counted along the places

	everyone, resting, moving      vast.Query
	exposed, infectious, recovered vast.Query
	departures                     buffer[departure]
	arrivals                       buffer[arrival]
	_                              [64]byte // so that workers at adjacent regions do not share a cache line
}

func (c *components) newRegion(w *vast.World, index int) region {
	tag := vast.NewTag(w, fmt.Sprintf("Region%02d", index))
	return region{
		tag:        tag,
		travellers: w.Archetype(c.body, c.home, c.life, c.goal, c.stay, c.susceptible, tag),
		everyone:   w.Query(tag, c.life),
		resting:    w.Query(tag, c.stay),
		moving:     w.Query(tag, c.trip, c.body),
		exposed:    w.Query(tag, c.susceptible, c.stay, c.goal, c.life),
		infectious: w.Query(tag, c.infectious, c.life),
		recovered:  w.Query(tag, c.recovered),
	}
}

// buffer collects the events that a worker finds, for the one goroutine that changes the structure afterwards. Its memory
// is taken when the world is made. When it is full the search ends, and what is left is found in the next tick.
type buffer[T any] struct {
	events []T // outside the Go heap
	n      int
}

func (b *buffer[T]) full() bool { return b.n == len(b.events) }

// add must not be called when the buffer is full.
func (b *buffer[T]) add(v T) {
	b.events[b.n] = v
	b.n++
}

func (b *buffer[T]) all() []T { return b.events[:b.n] }
