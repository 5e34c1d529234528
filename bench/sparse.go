package main

import (
	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work sparse_added: n entities with Position, every sixteenth of which has been given a Velocity afterwards. Query both and
// move, by the functions of query2comp.
//
// Work sparse_born: the same where every sixteenth entity is born with both components.
//
// Beside itself Vast does sparse_added against sparse_born: what it costs that entities which became alike later stay where
// they were born.

// sparseEvery is how many entities there are for each that matches.
const sparseEvery = 16

// sparseCount returns how many of n entities match.
func sparseCount(n int) int {
	return (n + sparseEvery - 1) / sparseEvery
}

// A sparse is a world in which a part of the entities matches: in what way these get their components.
type sparse[E any] struct {
	one  func() E              // makes an entity with Position
	both func(Velocity) E      // makes one with both, nil if all get their Velocity afterwards
	add  func(e E, v Velocity) // gives an entity its Velocity
}

// fill makes n entities.
func (s sparse[E]) fill(n int) {
	var later []E
	for i := range n {
		switch {
		case i%sparseEvery != 0:
			s.one()
		case s.both != nil:
			s.both(velocityOf(i / sparseEvery))
		default:
			later = append(later, s.one())
		}
	}
	for i, e := range later {
		s.add(e, velocityOf(i))
	}
}

// newSparseVast sets the work up for Vast.
func newSparseVast(born bool) func(n int) side {
	return func(n int) side {
		w := newSizedVastWorld(n)
		s := &vastQuery{world: w, pos: vast.NewColumn[Position](w), vel: vast.NewColumn[Velocity](w)}
		s.query = w.Query(s.pos, s.vel)
		one, both := w.Archetype(s.pos), w.Archetype(s.pos, s.vel)
		world := sparse[vast.Entity]{one: one.New, add: func(e vast.Entity, v Velocity) { s.vel.Add(e, v) }}
		if born {
			world.both = func(v Velocity) vast.Entity {
				e := both.New()
				*s.vel.Get(e) = v
				return e
			}
		}
		world.fill(n)
		return s.side(n, sparseCount(n))
	}
}

// newSparseArk sets the work up for Ark.
func newSparseArk(born bool, work func(*arkQuery)) func(n int) side {
	return func(n int) side {
		w := ecs.NewWorld(initialCapacity)
		pos, vel, two := ecs.NewMap1[Position](w), ecs.NewMap1[Velocity](w), ecs.NewMap2[Position, Velocity](w)
		world := sparse[ecs.Entity]{
			one: func() ecs.Entity { return pos.NewEntityFn(nil) },
			add: func(e ecs.Entity, v Velocity) { vel.Add(e, &v) },
		}
		if born {
			world.both = func(v Velocity) ecs.Entity { return two.NewEntity(&Position{}, &v) }
		}
		world.fill(n)
		s := &arkQuery{world: w, filter: ecs.NewFilter2[Position, Velocity](w).Register()}
		return s.side(work, n, sparseCount(n))
	}
}
