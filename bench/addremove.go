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
// Work toggle: add_remove for every tenth of n entities.
//
// The functions with go:noinline are the timed work.

type vastEdit struct {
	world    *vast.World
	pos      vast.Column[Position]
	vel      vast.Column[Velocity]
	all      vast.Query // the entities with Position
	entities []vast.Entity
}

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

//go:noinline
func addRemoveVastBatch(s *vastEdit) {
	s.vel.AddAll(s.all, Velocity{})
	s.vel.RemoveAll(s.all)
}

type arkEdit struct {
	world    *ecs.World
	vel      *ecs.Map1[Velocity]
	lacking  *ecs.Filter1[Position]           // the entities without Velocity
	both     *ecs.Filter2[Position, Velocity] // the entities with Velocity
	entities []ecs.Entity
}

// AddFn without a function adds a zero component and is Ark's fastest form.
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

//go:noinline
func addRemoveArkBatch(s *arkEdit) {
	s.vel.AddBatchFn(s.lacking.Batch(), nil)
	s.vel.RemoveBatch(s.both.Batch(), nil)
}

// checkEdits checks the n edited entities of a world. Their positions count up from 0. added and left are the
// numbers of entities with a velocity after adding and after removing. sum is the sum of the positions.
func checkEdits(n, added, left int, sum float64) error {
	if want := float64(n) * float64(n-1) / 2; added != n || left != 0 || sum != want {
		return fmt.Errorf("after adding, %d of %d entities have a velocity, want all; after removing, %d "+
			"have one, want none; the positions add up to %v, want %v", added, n, left, sum, want)
	}
	return nil
}

// editSide makes the side whose work adds and removes. The check calls the functions add, count and sum: add
// gives each edited entity a velocity, count counts the entities with a velocity, and sum adds up the X of
// their components.
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

// toggledEvery is the stride of toggle and observe.
const toggledEvery = 10

// Numbers of components of an entity besides Position.
const (
	smallExtras = 0  // add_remove, toggle and observe
	largeExtras = 10 // add_remove_large
)

// newAddRemoveVast sets the work up for Vast. An entity has Position and as many components from C1 on as
// extras says. The work edits the entities with the numbers 0, stride, 2·stride and so on.
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

func countArk(f *ecs.Filter2[Position, Velocity]) int {
	query := f.Query()
	defer query.Close()
	return query.Count()
}
