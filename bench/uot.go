package main

import (
	"github.com/unitoftime/ecs"
)

// This file sets up unitoftime/ecs, uot for short, as one side of the comparisons. The components of an
// entity are put into interface values before the timed work, and one call of Write writes all of them.
// Look-ups use a view, which finds the storage of the component type once.

type uotStore struct {
	world     *ecs.World
	parts     []ecs.Component // Position, Velocity, C1 …
	velocity  []ecs.Component // Velocity alone
	both      *ecs.View2[Position, Velocity]
	positions *ecs.View1[Position]
	entities  []ecs.Id
	sum       float64 // sum of the X of all look-ups
}

//go:noinline
func moveUOT(s *uotStore) {
	s.both.MapId(func(_ ecs.Id, p *Position, v *Velocity) {
		p.X += v.X
		p.Y += v.Y
	})
}

// moveUOTParallel runs on as many goroutines as there are processors.
//
//go:noinline
func moveUOTParallel(s *uotStore) {
	s.both.MapIdParallel(func(_ ecs.Id, p *Position, v *Velocity) { step(p, v) })
}

//go:noinline
func lookUpUOT(s *uotStore) {
	positions, sum := s.positions, 0.0
	for _, e := range s.entities {
		sum += positions.Read(e).X
	}
	s.sum += sum
}

//go:noinline
func addRemoveUOT(s *uotStore) {
	w, velocity := s.world, s.velocity
	for _, e := range s.entities {
		ecs.Write(w, e, velocity...)
	}
	for _, e := range s.entities {
		ecs.DeleteComponent(w, e, velocity...)
	}
}

//go:noinline
func createUOT(s *uotStore) {
	w, parts := s.world, s.parts
	for i := range s.entities {
		e := w.NewId()
		ecs.Write(w, e, parts...)
		s.entities[i] = e
	}
}

//go:noinline
func deleteUOT(s *uotStore) {
	w := s.world
	for _, e := range s.entities {
		ecs.Delete(w, e)
	}
}

//go:noinline
func makeUOT(s *worlds[*ecs.World]) {
	s.last = ecs.NewWorld()
	s.made++
}

// newUOT returns an empty world for entities with Position, Velocity, C1, C2 and so on. extras is the number
// of component types after Velocity.
func newUOT(extras int) *uotStore {
	parts := []ecs.Component{
		ecs.C(Position{}), ecs.C(Velocity{}), ecs.C(C1{}), ecs.C(C2{}), ecs.C(C3{}), ecs.C(C4{}), ecs.C(C5{}),
		ecs.C(C6{}), ecs.C(C7{}), ecs.C(C8{}), ecs.C(C9{}), ecs.C(C10{}),
	}[:2+extras]
	return &uotStore{world: ecs.NewWorld(), parts: parts, velocity: parts[1:2]}
}

func (s *uotStore) find() *uotStore {
	s.both = ecs.Query2[Position, Velocity](s.world)
	s.positions = ecs.Query1[Position](s.world)
	return s
}

func (s *uotStore) create(parts ...ecs.Component) ecs.Id {
	e := s.world.NewId()
	ecs.Write(s.world, e, parts...)
	return e
}

func (s *uotStore) createMoving(v Velocity, parts []ecs.Component) {
	*ecs.ReadPtr[Velocity](s.world, s.create(parts...)) = v
}

func (s *uotStore) moveSide(entities, matching int) side {
	return moveSide(s, moveUOT, entities, matching, s.both.Count, func(visit func(*Position)) {
		s.positions.MapId(func(_ ecs.Id, p *Position) { visit(p) })
	})
}

func newEmptyUOT(extras int) side {
	s := newUOT(extras).find()
	s.create(s.parts[0])
	s.create(s.parts[1])
	return s.moveSide(1, 0)
}

func newQueryUOT(n int) side {
	s := newUOT(0).find()
	for range 10 * n {
		s.create(s.parts[0])
	}
	for i := range n {
		s.createMoving(velocityOf(i), s.parts)
	}
	return s.moveSide(11*n, n)
}

func newInnerUOT(n int) side {
	s := newUOT(innerExtras).find()
	sets := subsets(s.parts[:2], s.parts[2:])
	for i := range n {
		s.createMoving(velocityOf(i), sets[i%len(sets)])
	}
	return s.moveSide(n, n)
}

func newOuterUOT(n int) side {
	s := newUOT(outerExtras).find()
	for i := range n {
		s.createMoving(velocityOf(i), s.parts[:2])
	}
	sets := subsets(s.parts[:1], s.parts[2:])
	for i := range 4 * n {
		s.create(sets[i%len(sets)]...)
	}
	return s.moveSide(5*n, n)
}

func newSparseUOT(born bool) func(n int) side {
	return func(n int) side {
		s := newUOT(0).find()
		world := sparse[ecs.Id]{
			one: func() ecs.Id { return s.create(s.parts[0]) },
			add: func(e ecs.Id, v Velocity) { ecs.Write(s.world, e, ecs.C(v)) },
		}
		if born {
			world.both = func(v Velocity) ecs.Id { return s.create(s.parts[0], ecs.C(v)) }
		}
		world.fill(n)
		return s.moveSide(n, sparseCount(n))
	}
}

func newParallelUOT(n int) side {
	s := newUOT(0).find()
	for i := range n {
		s.createMoving(velocityOf(i), s.parts)
	}
	made := s.moveSide(n, n)
	made.sample = timeAll(s, moveUOTParallel)
	return inSteps(made)
}

func newRandomUOT(n int) side {
	s := newUOT(0).find()
	for i := range n {
		s.entities = append(s.entities, s.create(ecs.C(Position{X: randomX(i)})))
	}
	shuffle(s.entities)
	return lookUpSide(s, lookUpUOT, n, &s.sum)
}

func newAddRemoveUOT(extras, stride int) func(n int) side {
	return func(n int) side {
		s := newUOT(extras).find()
		parts := append(s.parts[:1:1], s.parts[2:]...)
		for i := range n {
			parts[0] = ecs.C(Position{X: float64(i / stride)})
			if e := s.create(parts...); i%stride == 0 {
				s.entities = append(s.entities, e)
			}
		}
		add := func() {
			for _, e := range s.entities {
				ecs.Write(s.world, e, s.velocity...)
			}
		}
		return editSide(s, addRemoveUOT, len(s.entities), add, s.both.Count, func() (sum float64) {
			s.both.MapId(func(_ ecs.Id, p *Position, v *Velocity) { sum += p.X + v.X })
			return sum
		})
	}
}

func (s *uotStore) complete() *ecs.View2[Position, Velocity] {
	others := []any{C1{}, C2{}, C3{}, C4{}, C5{}, C6{}, C7{}, C8{}}[:len(s.parts)-2]
	return ecs.Query2[Position, Velocity](s.world, ecs.With(others...))
}

func (s *uotStore) check(n int) error {
	total := ecs.Query1[Position](s.world)
	return checkCrowd(n, s.complete().Count(), total.Count(), s.entities, s.world.Exists,
		func(e ecs.Id) *Velocity { return ecs.ReadPtr[Velocity](s.world, e) })
}

// checkMatching checks the entities that a query finds, because s.entities may belong to an older world.
func (s *uotStore) checkMatching(n int) error {
	made := *s
	made.entities = nil
	ecs.Query1[Position](s.world).MapId(func(e ecs.Id, _ *Position) {
		made.entities = append(made.entities, e)
	})
	return made.check(n)
}

func (s *uotStore) renew() {
	s.world = ecs.NewWorld()
}

func newUOTCrowd(n, parts int) *uotStore {
	s := newUOT(parts - twoParts)
	s.entities = make([]ecs.Id, n)
	return s
}

func newCreateUOT(parts int) func(n int) side {
	return func(n int) side {
		s := newUOTCrowd(n, parts)
		return crowdSide(s, n, createUOT, deleteUOT, n, s.check)
	}
}

func newAllocUOT(n int) side {
	s := newUOTCrowd(n, twoParts)
	return crowdSide(s, n, createUOT, (*uotStore).renew, n, s.checkMatching)
}

func newDeleteUOT(parts int) func(n int) side {
	return func(n int) side {
		s := newUOTCrowd(n, parts)
		createUOT(s)
		return crowdSide(s, n, deleteUOT, createUOT, 0, s.check)
	}
}
