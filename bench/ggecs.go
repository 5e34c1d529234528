package main

import (
	ecs "github.com/marioolofo/go-gameengine-ecs"
)

// This file sets up go-gameengine-ecs, ggecs for short, as one side of the comparisons. The columns of ggecs
// grow by only 2,048 elements at a time, so filling a large world is slow. The time of create2comp_alloc
// includes this growth. ggecs does not clear the memory of a new component.

// The ids of the component types. ggecs lets the program choose the ids.
const (
	ggecsPosition ecs.ComponentID = iota
	ggecsVelocity
	ggecsC1
	ggecsC2
	ggecsC3
	ggecsC4
	ggecsC5
	ggecsC6
	ggecsC7
	ggecsC8
	ggecsC9
	ggecsC10
)

var ggecsBoth = ecs.MakeComponentMask(ggecsPosition, ggecsVelocity)

type ggecsStore struct {
	world    ecs.World
	ids      []ecs.ComponentID // Position, Velocity, C1 …
	entities []ecs.EntityID
	sum      float64 // sum of the X of all look-ups
}

//go:noinline
func moveGGECS(s *ggecsStore) {
	query := s.world.Query(ggecsBoth)
	for query.Next() {
		p, v := (*Position)(query.Component(ggecsPosition)), (*Velocity)(query.Component(ggecsVelocity))
		p.X += v.X
		p.Y += v.Y
	}
}

//go:noinline
func lookUpGGECS(s *ggecsStore) {
	w, sum := s.world, 0.0
	for _, e := range s.entities {
		sum += (*Position)(w.Component(e, ggecsPosition)).X
	}
	s.sum += sum
}

//go:noinline
func addRemoveGGECS(s *ggecsStore) {
	w := s.world
	for _, e := range s.entities {
		w.AddComponent(e, ggecsVelocity)
	}
	for _, e := range s.entities {
		w.RemComponent(e, ggecsVelocity)
	}
}

//go:noinline
func createGGECS(s *ggecsStore) {
	w, ids := s.world, s.ids
	for i := range s.entities {
		s.entities[i] = w.NewEntity(ids...)
	}
}

//go:noinline
func deleteGGECS(s *ggecsStore) {
	w := s.world
	for _, e := range s.entities {
		w.RemEntity(e)
	}
}

//go:noinline
func makeGGECS(s *worlds[ecs.World]) {
	s.last = ecs.NewWorld(initialCapacity)
	s.made++
}

// newGGECS returns an empty world with the component types Position, Velocity, C1, C2 and so on. extras is
// the number of types after Velocity.
func newGGECS(extras int) *ggecsStore {
	s := &ggecsStore{world: ecs.NewWorld(initialCapacity)}
	for _, registry := range []ecs.ComponentRegistry{
		ecs.NewComponentRegistry[Position](ggecsPosition), ecs.NewComponentRegistry[Velocity](ggecsVelocity),
		ecs.NewComponentRegistry[C1](ggecsC1), ecs.NewComponentRegistry[C2](ggecsC2),
		ecs.NewComponentRegistry[C3](ggecsC3),
		ecs.NewComponentRegistry[C4](ggecsC4), ecs.NewComponentRegistry[C5](ggecsC5),
		ecs.NewComponentRegistry[C6](ggecsC6),
		ecs.NewComponentRegistry[C7](ggecsC7), ecs.NewComponentRegistry[C8](ggecsC8),
		ecs.NewComponentRegistry[C9](ggecsC9), ecs.NewComponentRegistry[C10](ggecsC10),
	}[:2+extras] {
		s.world.Register(registry)
		s.ids = append(s.ids, registry.ID)
	}
	return s
}

func (s *ggecsStore) count(ids ...ecs.ComponentID) int {
	n := 0
	for query := s.world.Query(ecs.MakeComponentMask(ids...)); query.Next(); {
		n++
	}
	return n
}

func (s *ggecsStore) create(v Velocity, ids []ecs.ComponentID) {
	*(*Velocity)(s.world.Component(s.world.NewEntity(ids...), ggecsVelocity)) = v
}

func (s *ggecsStore) moveSide(entities, matching int) side {
	count := func() int { return s.count(ggecsPosition, ggecsVelocity) }
	return moveSide(s, moveGGECS, entities, matching, count, func(visit func(*Position)) {
		for query := s.world.Query(ecs.MakeComponentMask(ggecsPosition)); query.Next(); {
			visit((*Position)(query.Component(ggecsPosition)))
		}
	})
}

func newEmptyGGECS(extras int) side {
	s := newGGECS(extras)
	s.world.NewEntity(ggecsPosition)
	s.world.NewEntity(ggecsVelocity)
	return s.moveSide(1, 0)
}

func newQueryGGECS(n int) side {
	s := newGGECS(0)
	for range 10 * n {
		s.world.NewEntity(ggecsPosition)
	}
	for i := range n {
		s.create(velocityOf(i), s.ids)
	}
	return s.moveSide(11*n, n)
}

func newInnerGGECS(n int) side {
	s := newGGECS(innerExtras)
	sets := subsets(s.ids[:2], s.ids[2:])
	for i := range n {
		s.create(velocityOf(i), sets[i%len(sets)])
	}
	return s.moveSide(n, n)
}

func newOuterGGECS(n int) side {
	s := newGGECS(outerExtras)
	for i := range n {
		s.create(velocityOf(i), s.ids[:2])
	}
	sets := subsets(s.ids[:1], s.ids[2:])
	for i := range 4 * n {
		s.world.NewEntity(sets[i%len(sets)]...)
	}
	return s.moveSide(5*n, n)
}

func newSparseGGECS(born bool) func(n int) side {
	return func(n int) side {
		s := newGGECS(0)
		set := func(e ecs.EntityID, v Velocity) { *(*Velocity)(s.world.Component(e, ggecsVelocity)) = v }
		world := sparse[ecs.EntityID]{
			one: func() ecs.EntityID { return s.world.NewEntity(ggecsPosition) },
			add: func(e ecs.EntityID, v Velocity) {
				s.world.AddComponent(e, ggecsVelocity)
				set(e, v)
			},
		}
		if born {
			world.both = func(v Velocity) ecs.EntityID {
				e := s.world.NewEntity(s.ids...)
				set(e, v)
				return e
			}
		}
		world.fill(n)
		return s.moveSide(n, sparseCount(n))
	}
}

func newRandomGGECS(n int) side {
	s := newGGECS(0)
	for i := range n {
		e := s.world.NewEntity(ggecsPosition)
		(*Position)(s.world.Component(e, ggecsPosition)).X = randomX(i)
		s.entities = append(s.entities, e)
	}
	shuffle(s.entities)
	return lookUpSide(s, lookUpGGECS, n, &s.sum)
}

func newAddRemoveGGECS(extras, stride int) func(n int) side {
	return func(n int) side {
		s := newGGECS(extras)
		ids := append(s.ids[:1:1], s.ids[2:]...)
		for i := range n {
			e := s.world.NewEntity(ids...)
			if i%stride == 0 {
				(*Position)(s.world.Component(e, ggecsPosition)).X = float64(i / stride)
				s.entities = append(s.entities, e)
			}
		}
		add := func() {
			for _, e := range s.entities {
				s.world.AddComponent(e, ggecsVelocity)
			}
		}
		count := func() int { return s.count(ggecsPosition, ggecsVelocity) }
		return editSide(s, addRemoveGGECS, len(s.entities), add, count, func() (sum float64) {
			for query := s.world.Query(ggecsBoth); query.Next(); {
				sum += (*Position)(query.Component(ggecsPosition)).X +
					(*Velocity)(query.Component(ggecsVelocity)).X
			}
			return sum
		})
	}
}

func (s *ggecsStore) check(n int) error {
	return checkCrowd(n, s.count(s.ids...), s.count(), s.entities, s.world.IsAlive,
		func(e ecs.EntityID) *Velocity { return (*Velocity)(s.world.Component(e, ggecsVelocity)) })
}

// checkMatching checks the entities that a query finds, because s.entities may belong to an older world.
func (s *ggecsStore) checkMatching(n int) error {
	made := *s
	made.entities = nil
	for query := s.world.Query(ggecsBoth); query.Next(); {
		made.entities = append(made.entities, query.Entity())
	}
	return made.check(n)
}

func (s *ggecsStore) renew() {
	s.world = newGGECS(len(s.ids) - 2).world
}

func newGGECSCrowd(n, parts int) *ggecsStore {
	s := newGGECS(parts - twoParts)
	s.entities = make([]ecs.EntityID, n)
	return s
}

func newCreateGGECS(parts int) func(n int) side {
	return func(n int) side {
		s := newGGECSCrowd(n, parts)
		return crowdSide(s, n, createGGECS, deleteGGECS, n, s.check)
	}
}

func newAllocGGECS(n int) side {
	s := newGGECSCrowd(n, twoParts)
	return crowdSide(s, n, createGGECS, (*ggecsStore).renew, n, s.checkMatching)
}

func newDeleteGGECS(parts int) func(n int) side {
	return func(n int) side {
		s := newGGECSCrowd(n, parts)
		createGGECS(s)
		return crowdSide(s, n, deleteGGECS, createGGECS, 0, s.check)
	}
}
