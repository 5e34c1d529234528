package main

import (
	"github.com/yohamta/donburi"
	"github.com/yohamta/donburi/filter"
)

// This file sets up donburi as one side of the comparisons. The functions with go:noinline are the timed
// work. They loop with donburi's iterator, to avoid the callbacks of Each. They add components without a
// value, to avoid an allocation.

// All worlds of donburi share the component types.
var (
	donburiPosition = donburi.NewComponentType[Position]()
	donburiVelocity = donburi.NewComponentType[Velocity]()
	donburiTypes    = []donburi.IComponentType{
		donburiPosition, donburiVelocity,
		donburi.NewComponentType[C1](), donburi.NewComponentType[C2](), donburi.NewComponentType[C3](),
		donburi.NewComponentType[C4](), donburi.NewComponentType[C5](), donburi.NewComponentType[C6](),
		donburi.NewComponentType[C7](), donburi.NewComponentType[C8](), donburi.NewComponentType[C9](),
		donburi.NewComponentType[C10](),
	}
)

type donburiStore struct {
	world    donburi.World
	types    []donburi.IComponentType // Position, Velocity, C1 …
	both     *donburi.Query           // matches Position and Velocity
	entities []donburi.Entity
	sum      float64 // result of the look-ups
}

//go:noinline
func moveDonburi(s *donburiStore) {
	for entry := range s.both.Iter(s.world) {
		p, v := donburiPosition.Get(entry), donburiVelocity.Get(entry)
		p.X += v.X
		p.Y += v.Y
	}
}

//go:noinline
func lookUpDonburi(s *donburiStore) {
	w, sum := s.world, 0.0
	for _, e := range s.entities {
		sum += donburiPosition.Get(w.Entry(e)).X
	}
	s.sum += sum
}

//go:noinline
func addRemoveDonburi(s *donburiStore) {
	w := s.world
	for _, e := range s.entities {
		w.Entry(e).AddComponent(donburiVelocity)
	}
	for _, e := range s.entities {
		w.Entry(e).RemoveComponent(donburiVelocity)
	}
}

//go:noinline
func createDonburi(s *donburiStore) {
	w, types := s.world, s.types
	for i := range s.entities {
		s.entities[i] = w.Create(types...)
	}
}

//go:noinline
func createDonburiBatch(s *donburiStore) {
	s.entities = s.world.CreateMany(len(s.entities), s.types...)
}

//go:noinline
func deleteDonburi(s *donburiStore) {
	w := s.world
	for _, e := range s.entities {
		w.Remove(e)
	}
}

//go:noinline
func makeDonburi(s *worlds[donburi.World]) {
	s.last = donburi.NewWorld()
	s.made++
}

// newDonburi returns an empty world. The component types are Position, Velocity and as many types from C1 on
// as extras says.
func newDonburi(extras int) *donburiStore {
	return &donburiStore{
		world: donburi.NewWorld(), types: donburiTypes[:2+extras],
		both: donburi.NewQuery(filter.Contains(donburiTypes[:2]...)),
	}
}

// create creates an entity with the given component types and sets its Velocity.
func (s *donburiStore) create(v Velocity, types []donburi.IComponentType) {
	donburiVelocity.SetValue(s.world.Entry(s.world.Create(types...)), v)
}

func (s *donburiStore) moveSide(entities, matching int) side {
	count := func() int { return s.both.Count(s.world) }
	return moveSide(s, moveDonburi, entities, matching, count, func(visit func(*Position)) {
		for entry := range donburi.NewQuery(filter.Contains(donburiPosition)).Iter(s.world) {
			visit(donburiPosition.Get(entry))
		}
	})
}

func newEmptyDonburi(extras int) side {
	s := newDonburi(extras)
	s.world.Create(donburiPosition)
	s.world.Create(donburiVelocity)
	return s.moveSide(1, 0)
}

func newQueryDonburi(n int) side {
	s := newDonburi(0)
	s.world.CreateMany(10*n, donburiPosition)
	for i := range n {
		s.create(velocityOf(i), s.types)
	}
	return s.moveSide(11*n, n)
}

func newInnerDonburi(n int) side {
	s := newDonburi(innerExtras)
	sets := subsets(s.types[:2], s.types[2:])
	for i := range n {
		s.create(velocityOf(i), sets[i%len(sets)])
	}
	return s.moveSide(n, n)
}

func newOuterDonburi(n int) side {
	s := newDonburi(outerExtras)
	for i := range n {
		s.create(velocityOf(i), s.types[:2])
	}
	sets := subsets(s.types[:1], s.types[2:])
	for i := range 4 * n {
		s.world.Create(sets[i%len(sets)]...)
	}
	return s.moveSide(5*n, n)
}

func newSparseDonburi(born bool) func(n int) side {
	return func(n int) side {
		s := newDonburi(0)
		world := sparse[donburi.Entity]{
			one: func() donburi.Entity { return s.world.Create(donburiPosition) },
			add: func(e donburi.Entity, v Velocity) { donburi.Add(s.world.Entry(e), donburiVelocity, &v) },
		}
		if born {
			world.both = func(v Velocity) donburi.Entity {
				e := s.world.Create(s.types...)
				donburiVelocity.SetValue(s.world.Entry(e), v)
				return e
			}
		}
		world.fill(n)
		return s.moveSide(n, sparseCount(n))
	}
}

func newRandomDonburi(n int) side {
	s := newDonburi(0)
	for i := range n {
		e := s.world.Create(donburiPosition)
		donburiPosition.Get(s.world.Entry(e)).X = randomX(i)
		s.entities = append(s.entities, e)
	}
	shuffle(s.entities)
	return lookUpSide(s, lookUpDonburi, n, &s.sum)
}

func newAddRemoveDonburi(extras, stride int) func(n int) side {
	return func(n int) side {
		s := newDonburi(extras)
		types := append(s.types[:1:1], s.types[2:]...)
		for i := range n {
			e := s.world.Create(types...)
			if i%stride == 0 {
				donburiPosition.Get(s.world.Entry(e)).X = float64(i / stride)
				s.entities = append(s.entities, e)
			}
		}
		add := func() {
			for _, e := range s.entities {
				s.world.Entry(e).AddComponent(donburiVelocity)
			}
		}
		count := func() int { return s.both.Count(s.world) }
		return editSide(s, addRemoveDonburi, len(s.entities), add, count, func() (sum float64) {
			for entry := range s.both.Iter(s.world) {
				sum += donburiPosition.Get(entry).X + donburiVelocity.Get(entry).X
			}
			return sum
		})
	}
}

// check checks that the world holds n entities, all of them in s.entities.
func (s *donburiStore) check(n int) error {
	matching := donburi.NewQuery(filter.Contains(s.types...)).Count(s.world)
	return checkCrowd(n, matching, s.world.Len(), s.entities, s.world.Valid,
		func(e donburi.Entity) *Velocity { return donburiVelocity.Get(s.world.Entry(e)) })
}

// checkMatching checks the entities that a query finds, because s.entities may belong to an older world.
func (s *donburiStore) checkMatching(n int) error {
	made := *s
	made.entities = nil
	for entry := range donburi.NewQuery(filter.Contains(donburiPosition)).Iter(s.world) {
		made.entities = append(made.entities, entry.Entity())
	}
	return made.check(n)
}

func (s *donburiStore) renew() {
	s.world = donburi.NewWorld()
}

// newDonburiCrowd returns an empty world for n entities. parts is the number of components of an entity.
func newDonburiCrowd(n, parts int) *donburiStore {
	s := newDonburi(parts - twoParts)
	s.entities = make([]donburi.Entity, n)
	return s
}

func newCreateDonburi(parts int, create func(*donburiStore)) func(n int) side {
	return func(n int) side {
		s := newDonburiCrowd(n, parts)
		return crowdSide(s, n, create, deleteDonburi, n, s.check)
	}
}

func newAllocDonburi(create func(*donburiStore)) func(n int) side {
	return func(n int) side {
		s := newDonburiCrowd(n, twoParts)
		return crowdSide(s, n, create, (*donburiStore).renew, n, s.checkMatching)
	}
}

func newDeleteDonburi(parts int) func(n int) side {
	return func(n int) side {
		s := newDonburiCrowd(n, parts)
		createDonburi(s)
		return crowdSide(s, n, deleteDonburi, createDonburi, 0, s.check)
	}
}
