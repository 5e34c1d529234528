package main

import (
	"github.com/mlange-42/arche/ecs"
)

// This file sets up arche as one side of the comparisons. It uses component ids, which arche's documentation
// calls faster than its generic types. The filters of the timed work are registered in the world's cache. The
// functions with go:noinline are the timed work.

type archeStore struct {
	world    *ecs.World
	ids      []ecs.ID         // ids of Position, Velocity, C1 …
	velocity []ecs.ID         // id of Velocity
	both     ecs.CachedFilter // matches Position and Velocity
	lacking  ecs.CachedFilter // matches Position without Velocity, for Batch().Add
	entities []ecs.Entity
	sum      float64 // result of the look-ups
}

//go:noinline
func moveArche(s *archeStore) {
	pos, vel := s.ids[0], s.ids[1]
	query := s.world.Query(&s.both)
	for query.Next() {
		p, v := (*Position)(query.Get(pos)), (*Velocity)(query.Get(vel))
		p.X += v.X
		p.Y += v.Y
	}
}

//go:noinline
func lookUpArche(s *archeStore) {
	w, pos, sum := s.world, s.ids[0], 0.0
	for _, e := range s.entities {
		sum += (*Position)(w.Get(e, pos)).X
	}
	s.sum += sum
}

//go:noinline
func addRemoveArche(s *archeStore) {
	w, velocity := s.world, s.velocity
	for _, e := range s.entities {
		w.Add(e, velocity...)
	}
	for _, e := range s.entities {
		w.Remove(e, velocity...)
	}
}

//go:noinline
func addRemoveArcheBatch(s *archeStore) {
	batch := s.world.Batch()
	batch.Add(&s.lacking, s.velocity...)
	batch.Remove(&s.both, s.velocity...)
}

//go:noinline
func createArche(s *archeStore) {
	w, ids := s.world, s.ids
	for i := range s.entities {
		s.entities[i] = w.NewEntity(ids...)
	}
}

//go:noinline
func createArcheBatch(s *archeStore) {
	s.world.Batch().New(len(s.entities), s.ids...)
}

//go:noinline
func deleteArche(s *archeStore) {
	w := s.world
	for _, e := range s.entities {
		w.RemoveEntity(e)
	}
}

//go:noinline
func deleteArcheBatch(s *archeStore) {
	s.world.Batch().RemoveEntities(&s.both)
}

//go:noinline
func makeArche(s *worlds[*ecs.World]) {
	w := ecs.NewWorld()
	s.last = &w
	s.made++
}

// newArche returns an empty world without filters. The component types are Position, Velocity and as many
// types from C1 on as extras says.
func newArche(extras int) *archeStore {
	w := ecs.NewWorld(initialCapacity)
	register := []func(*ecs.World) ecs.ID{
		ecs.ComponentID[Position], ecs.ComponentID[Velocity],
		ecs.ComponentID[C1], ecs.ComponentID[C2], ecs.ComponentID[C3], ecs.ComponentID[C4],
		ecs.ComponentID[C5],
		ecs.ComponentID[C6], ecs.ComponentID[C7], ecs.ComponentID[C8], ecs.ComponentID[C9],
		ecs.ComponentID[C10],
	}
	s := &archeStore{world: &w}
	for _, id := range register[:2+extras] {
		s.ids = append(s.ids, id(&w))
	}
	s.velocity = s.ids[1:2]
	return s
}

func (s *archeStore) find() *archeStore {
	mask := ecs.All(s.ids[:2]...)
	s.both = s.world.Cache().Register(&mask)
	return s
}

func (s *archeStore) count(f ecs.Filter) int {
	query := s.world.Query(f)
	defer query.Close()
	return query.Count()
}

// create creates an entity with the given component types and sets its Velocity.
func (s *archeStore) create(v Velocity, ids []ecs.ID) {
	e := s.world.NewEntity(ids...)
	*(*Velocity)(s.world.Get(e, s.ids[1])) = v
}

func (s *archeStore) moveSide(entities, matching int) side {
	count := func() int { return s.count(&s.both) }
	return moveSide(s, moveArche, entities, matching, count, func(visit func(*Position)) {
		query := s.world.Query(ecs.All(s.ids[0]))
		for query.Next() {
			visit((*Position)(query.Get(s.ids[0])))
		}
	})
}

func newEmptyArche(extras int) side {
	s := newArche(extras).find()
	s.world.NewEntity(s.ids[0])
	s.world.NewEntity(s.ids[1])
	return s.moveSide(1, 0)
}

func newQueryArche(n int) side {
	s := newArche(0).find()
	s.world.Batch().New(10*n, s.ids[0])
	for i := range n {
		s.create(velocityOf(i), s.ids)
	}
	return s.moveSide(11*n, n)
}

func newInnerArche(n int) side {
	s := newArche(innerExtras).find()
	sets := subsets(s.ids[:2], s.ids[2:])
	for i := range n {
		s.create(velocityOf(i), sets[i%len(sets)])
	}
	return s.moveSide(n, n)
}

func newOuterArche(n int) side {
	s := newArche(outerExtras).find()
	for i := range n {
		s.create(velocityOf(i), s.ids[:2])
	}
	sets := subsets(s.ids[:1], s.ids[2:])
	for i := range 4 * n {
		s.world.NewEntity(sets[i%len(sets)]...)
	}
	return s.moveSide(5*n, n)
}

func newSparseArche(born bool) func(n int) side {
	return func(n int) side {
		s := newArche(0).find()
		set := func(e ecs.Entity, v Velocity) { *(*Velocity)(s.world.Get(e, s.ids[1])) = v }
		world := sparse[ecs.Entity]{
			one: func() ecs.Entity { return s.world.NewEntity(s.ids[0]) },
			add: func(e ecs.Entity, v Velocity) {
				s.world.Add(e, s.velocity...)
				set(e, v)
			},
		}
		if born {
			world.both = func(v Velocity) ecs.Entity {
				e := s.world.NewEntity(s.ids...)
				set(e, v)
				return e
			}
		}
		world.fill(n)
		return s.moveSide(n, sparseCount(n))
	}
}

func newRandomArche(n int) side {
	s := newArche(0)
	for i := range n {
		e := s.world.NewEntity(s.ids[0])
		(*Position)(s.world.Get(e, s.ids[0])).X = randomX(i)
		s.entities = append(s.entities, e)
	}
	shuffle(s.entities)
	return lookUpSide(s, lookUpArche, n, &s.sum)
}

func newAddRemoveArche(extras, stride int, work func(*archeStore)) func(n int) side {
	return func(n int) side {
		s := newArche(extras).find()
		lacking := ecs.All(s.ids[0]).Without(s.ids[1])
		s.lacking = s.world.Cache().Register(&lacking)
		ids := append(s.ids[:1:1], s.ids[2:]...)
		for i := range n {
			e := s.world.NewEntity(ids...)
			if i%stride == 0 {
				(*Position)(s.world.Get(e, s.ids[0])).X = float64(i / stride)
				s.entities = append(s.entities, e)
			}
		}
		add := func() {
			for _, e := range s.entities {
				s.world.Add(e, s.velocity...)
			}
		}
		return editSide(s, work, len(s.entities), add, func() int { return s.count(&s.both) },
			func() (sum float64) {
				query := s.world.Query(&s.both)
				for query.Next() {
					sum += (*Position)(query.Get(s.ids[0])).X + (*Velocity)(query.Get(s.ids[1])).X
				}
				return sum
			})
	}
}

// check checks that the world holds n entities, all of them in s.entities.
func (s *archeStore) check(n int) error {
	return checkCrowd(n, s.count(ecs.All(s.ids...)), s.world.Stats().Entities.Used, s.entities, s.world.Alive,
		func(e ecs.Entity) *Velocity { return (*Velocity)(s.world.Get(e, s.ids[1])) })
}

// checkMatching checks the entities that a query finds. It does not read s.entities: a batch call does not
// set this slice, and after renew the slice still has the entities of the old world.
func (s *archeStore) checkMatching(n int) error {
	made := *s
	made.entities = nil
	query := s.world.Query(ecs.All(s.ids[:2]...))
	for query.Next() {
		made.entities = append(made.entities, query.Entity())
	}
	return made.check(n)
}

func (s *archeStore) renew() {
	entities := s.entities
	*s = *newArche(len(s.ids) - 2)
	s.entities = entities
}

// newArcheCrowd returns an empty world for n entities. parts is the number of components of an entity.
func newArcheCrowd(n, parts int) *archeStore {
	s := newArche(parts - twoParts)
	s.entities = make([]ecs.Entity, n)
	return s
}

func newCreateArche(parts int) func(n int) side {
	return func(n int) side {
		s := newArcheCrowd(n, parts).find()
		return crowdSide(s, n, createArche, deleteArcheBatch, n, s.check)
	}
}

func newCreateArcheBatch(parts int) func(n int) side {
	return func(n int) side {
		s := newArcheCrowd(n, parts).find()
		return crowdSide(s, n, createArcheBatch, deleteArcheBatch, n, s.checkMatching)
	}
}

func newAllocArche(create func(*archeStore)) func(n int) side {
	return func(n int) side {
		s := newArcheCrowd(n, twoParts)
		return crowdSide(s, n, create, (*archeStore).renew, n, s.checkMatching)
	}
}

func newDeleteArche(parts int, work func(*archeStore)) func(n int) side {
	return func(n int) side {
		s := newArcheCrowd(n, parts).find()
		createArche(s)
		return crowdSide(s, n, work, createArche, 0, s.check)
	}
}
