package main

import (
	"fmt"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast/observe"
)

// Work observe: the work toggle, while observers count the entities with Position that gain or lose Velocity.
// Ark calls its observers at each change. Vast runs its observers after all additions, and after all
// removals.

// gains counts the calls of the observers of one world.
type gains struct{ gained, lost int }

// side returns s with a check that also compares the counts. A repetition of s must add and remove Velocity
// s.units times.
func (g *gains) side(s side) side {
	check := s.check
	s.check = func(done int) error {
		if want := done * s.units; g.gained != want || g.lost != want {
			return fmt.Errorf("observers count %d gains and %d losses, want %d of each", g.gained, g.lost,
				want)
		}
		return check(done)
	}
	return s
}

//go:noinline
func observeVast(s *vastEdit, o *observe.Observers) {
	vel := s.vel
	for _, e := range s.entities {
		vel.Add(e, Velocity{})
	}
	o.Run(nil)
	for _, e := range s.entities {
		vel.Remove(e)
	}
	o.Run(nil)
}

func newObserveVast(n int) side {
	var g gains
	var o *observe.Observers // made by the first repetition
	s := g.side(newAddRemoveVast(smallExtras, toggledEvery, func(s *vastEdit) {
		if o == nil {
			o = observe.New(s.world)
			o.Add(observe.Observer{
				Query:   s.world.Query(s.pos, s.vel),
				Entered: func(observe.Event) { g.gained++ },
				Left:    func(observe.Event) { g.lost++ },
			})
		}
		observeVast(s, o)
	})(n))
	closeWorld := s.close
	s.close = func() {
		if err := o.Close(); err != nil {
			panic(err)
		}
		closeWorld()
	}
	return s
}

func newObserveArk(n int) side {
	var g gains
	observed := false
	return g.side(newAddRemoveArk(smallExtras, toggledEvery, func(s *arkEdit) {
		if !observed {
			observed = true
			ecs.Observe(ecs.OnAddComponents).For(ecs.C[Velocity]()).With(ecs.C[Position]()).
				Do(func(ecs.Entity) { g.gained++ }).Register(s.world)
			ecs.Observe(ecs.OnRemoveComponents).For(ecs.C[Velocity]()).With(ecs.C[Position]()).
				Do(func(ecs.Entity) { g.lost++ }).Register(s.world)
		}
		addRemoveArk(s)
	})(n))
}
