package main

import (
	"fmt"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work add_remove: add a zero Velocity to each of n entities with Position, then remove it from each. The
// time of a row covers both steps and is per entity. The batch peers add with one call for all entities, and
// remove with another call.
//
// Work toggle: the same for every tenth of n entities; the others stay unchanged.

// vastEdit is the state of Vast's side.
type vastEdit struct {
	world    *vast.World
	pos      vast.Column[Position]
	vel      vast.Column[Velocity]
	all      vast.Query // the entities with Position
	entities []vast.Entity
}

// addRemoveVast is the timed work, one entity at a time.
//
//go:noinline
func addRemoveVast(s *vastEdit) {
	vel := s.vel
	for _, e := range s.entities {
		vel.Add(e, Velocity{})
	}
	for _, e := range s.entities {
		vel.Remove(e)
	}
}

// addRemoveVastBatch is the timed work: one call adds the components, and another removes them.
//
//go:noinline
func addRemoveVastBatch(s *vastEdit) {
	s.vel.AddAll(s.all, Velocity{})
	s.vel.RemoveAll(s.all)
}

// arkEdit is the state of Ark's side.
type arkEdit struct {
	world    *ecs.World
	vel      *ecs.Map1[Velocity]
	lacking  *ecs.Filter1[Position]           // the entities without Velocity
	both     *ecs.Filter2[Position, Velocity] // the entities with Velocity
	entities []ecs.Entity
}

// addRemoveArk is the timed work, one entity at a time. AddFn without a function adds a zero component and is
// Ark's fastest form.
//
//go:noinline
func addRemoveArk(s *arkEdit) {
	vel := s.vel
	for _, e := range s.entities {
		vel.AddFn(e, nil)
	}
	for _, e := range s.entities {
		vel.Remove(e)
	}
}

// addRemoveArkBatch is the timed work: one call adds the components, and another removes them.
//
//go:noinline
func addRemoveArkBatch(s *arkEdit) {
	s.vel.AddBatchFn(s.lacking.Batch(), nil)
	s.vel.RemoveBatch(s.both.Batch(), nil)
}

// checkEdits checks a world of n entities, whose positions count up from 0. added is the number of entities
// with a velocity after adding, and must be n. left is the number of such entities after removing, and must
// be 0. sum is the sum of the positions.
func checkEdits(n, added, left int, sum float64) error {
	if want := float64(n) * float64(n-1) / 2; added != n || left != 0 || sum != want {
		return fmt.Errorf("after adding, %d of %d entities have a velocity, want all; after removing, %d "+
			"have one, want none; the positions add up to %v, want %v", added, n, left, sum, want)
	}
	return nil
}

// editSide makes the side whose work adds and removes. add, count and sum are for its check: add gives all
// entities a velocity, count counts the entities with a velocity, and sum adds up the X of their components.
func editSide[S any](s *S, work func(*S), n int, add func(), count func() int, sum func() float64) side {
	return side{
		units:  n,
		sample: timeAll(s, work),
		check: func(int) error {
			left := count()
			add()
			return checkEdits(n, count(), left, sum())
		},
	}
}

// toggle edits one entity in toggledEvery.
const toggledEvery = 10

// These are the numbers of components that an entity has besides Position: smallExtras in add_remove and
// toggle, largeExtras in add_remove_large.
const (
	smallExtras = 0
	largeExtras = 10
)

// newAddRemoveVast sets the work up for Vast. Besides Position, each entity has the first of the components
// C1, C2 and so on; extras is the number of these components. The work edits the entities with the numbers 0,
// stride, 2·stride and so on.
func newAddRemoveVast(extras, stride int, work func(*vastEdit)) func(n int) side {
	return func(n int) side {
		w := newSizedVastWorld(n)
		s := &vastEdit{world: w, pos: vast.NewColumn[Position](w), vel: vast.NewColumn[Velocity](w)}
		archetype := w.Archetype(append([]vast.AnyColumn{s.pos}, extraVast(w, extras)...)...)
		for i := range n {
			e := archetype.New()
			if i%stride == 0 {
				s.pos.Get(e).X = float64(i / stride)
				s.entities = append(s.entities, e)
			}
		}
		s.all = w.Query(s.pos)
		both := w.Query(s.pos, s.vel)
		add := func() {
			for _, e := range s.entities {
				s.vel.Add(e, Velocity{})
			}
		}
		made := editSide(s, work, len(s.entities), add, both.Count, func() (sum float64) {
			for e := range both.All() {
				sum += s.pos.Get(e).X + s.vel.Get(e).X
			}
			return sum
		})
		made.close = closeVast(w)
		return made
	}
}

// newAddRemoveArk sets the work up for Ark, as newAddRemoveVast does for Vast.
func newAddRemoveArk(extras, stride int, work func(*arkEdit)) func(n int) side {
	return func(n int) side {
		w := ecs.NewWorld(initialCapacity)
		s := &arkEdit{world: w, vel: ecs.NewMap1[Velocity](w)}
		positions := ecs.NewMap1[Position](w)
		ids := append([]ecs.ID{ecs.ComponentID[Position](w)}, extraArk(w, extras)...)
		for i := range n {
			e := w.Unsafe().NewEntity(ids...)
			if i%stride == 0 {
				positions.Get(e).X = float64(i / stride)
				s.entities = append(s.entities, e)
			}
		}
		s.lacking = ecs.NewFilter1[Position](w).Without(ecs.C[Velocity]()).Register()
		s.both = ecs.NewFilter2[Position, Velocity](w).Register()
		add := func() {
			for _, e := range s.entities {
				s.vel.AddFn(e, nil)
			}
		}
		return editSide(s, work, len(s.entities), add, func() int { return countArk(s.both) },
			func() (sum float64) {
				query := s.both.Query()
				for query.Next() {
					p, v := query.Get()
					sum += p.X + v.X
				}
				return sum
			})
	}
}

// countArk counts the entities that a filter matches.
func countArk(f *ecs.Filter2[Position, Velocity]) int {
	query := f.Query()
	defer query.Close()
	return query.Count()
}
