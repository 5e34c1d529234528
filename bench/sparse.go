package main

import (
	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work sparse_added: query Position and Velocity in a world of n entities, with the functions of query2comp.
// Every sixteenth entity got its Velocity after its creation; the other entities have Position alone.
//
// Work sparse_born: sparse_added, but every sixteenth entity is created with both components.
//
// Rows with the peer self compare Vast's sparse_added with Vast's sparse_born. The difference is the cost of
// leaving entities where they were created.

// One entity in sparseEvery matches.
const sparseEvery = 16

// sparseCount returns how many of n entities match.
func sparseCount(n int) int {
	return (n + sparseEvery - 1) / sparseEvery
}

// A sparse has the functions with which fill makes entities in a world.
type sparse[E any] struct {
	one  func() E              // makes an entity with Position alone
	both func(Velocity) E      // makes an entity with Position and Velocity; nil for sparse_added
	add  func(e E, v Velocity) // adds Velocity to an entity
}

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

func newSparseVast(born bool, move func(*vastQuery)) func(n int) side {
	return func(n int) side { return sparseVast(n, born, move).side(n, sparseCount(n)) }
}

func newRegroupedVast(n int) side {
	s := sparseVast(n, false, moveVastSlots)
	s.world.Regroup(s.query, vast.MoveOptions{})
	return s.side(n, sparseCount(n))
}

func sparseVast(n int, born bool, move func(*vastQuery)) *vastQuery {
	w := newSizedVastWorld(n)
	s := &vastQuery{world: w, pos: vast.NewColumn[Position](w), vel: vast.NewColumn[Velocity](w), move: move}
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
	return s
}

func newSparseArk(born bool, work func(*arkQuery)) func(n int) side {
	return func(n int) side {
		w := ecs.NewWorld(initialCapacity)
		pos, vel, two := ecs.NewMap1[Position](w), ecs.NewMap1[Velocity](w),
			ecs.NewMap2[Position, Velocity](w)
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
