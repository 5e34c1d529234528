package main

import (
	"slices"
	"sync"

	"github.com/akmonengine/volt"
)

// This file sets up volt as one side of the comparisons. The timed functions call volt's generic functions
// where there are any, with as many components per call as these functions accept.

// The ids of the component types. volt lets the program choose the ids.
const (
	voltPosition volt.ComponentId = iota
	voltVelocity
	voltC1
	voltC2
	voltC3
	voltC4
	voltC5
	voltC6
	voltC7
	voltC8
	voltC9
	voltC10
)

func (Position) GetComponentId() volt.ComponentId { return voltPosition }
func (Velocity) GetComponentId() volt.ComponentId { return voltVelocity }
func (C1) GetComponentId() volt.ComponentId       { return voltC1 }
func (C2) GetComponentId() volt.ComponentId       { return voltC2 }
func (C3) GetComponentId() volt.ComponentId       { return voltC3 }
func (C4) GetComponentId() volt.ComponentId       { return voltC4 }
func (C5) GetComponentId() volt.ComponentId       { return voltC5 }
func (C6) GetComponentId() volt.ComponentId       { return voltC6 }
func (C7) GetComponentId() volt.ComponentId       { return voltC7 }
func (C8) GetComponentId() volt.ComponentId       { return voltC8 }
func (C9) GetComponentId() volt.ComponentId       { return voltC9 }
func (C10) GetComponentId() volt.ComponentId      { return voltC10 }

type voltStore struct {
	world     *volt.World
	both      volt.Query2[Position, Velocity]
	positions volt.Query1[Position]
	entities  []volt.EntityId
	sum       float64 // sum of the X of all look-ups
}

//go:noinline
func moveVolt(s *voltStore) {
	for found := range s.both.Foreach(nil) {
		p, v := found.A, found.B
		p.X += v.X
		p.Y += v.Y
	}
}

// moveVoltParallel shares the parts of the query between the calling goroutine and a second goroutine.
//
//go:noinline
func moveVoltParallel(s *voltStore) {
	parts := s.both.ForeachChannel(parallelBatch(s.both.Count()), nil)
	take := func() {
		for part := range parts {
			for found := range part {
				step(found.A, found.B)
			}
		}
	}
	var other sync.WaitGroup
	for range parallelWorkers - 1 {
		other.Go(take)
	}
	take()
	other.Wait()
}

//go:noinline
func lookUpVolt(s *voltStore) {
	w, sum := s.world, 0.0
	for _, e := range s.entities {
		sum += volt.GetComponent[Position](w, e).X
	}
	s.sum += sum
}

//go:noinline
func addRemoveVolt(s *voltStore) {
	w := s.world
	for _, e := range s.entities {
		must(volt.AddComponent(w, e, Velocity{}))
	}
	for _, e := range s.entities {
		must(volt.RemoveComponent[Velocity](w, e))
	}
}

//go:noinline
func createVolt(s *voltStore) {
	w := s.world
	for i := range s.entities {
		e, err := volt.CreateEntityWithComponents2(w, Position{}, Velocity{})
		must(err)
		s.entities[i] = e
	}
}

// createVoltTen creates entities of ten components. One call of volt takes at most eight components.
//
//go:noinline
func createVoltTen(s *voltStore) {
	w := s.world
	for i := range s.entities {
		e, err := volt.CreateEntityWithComponents8(w, Position{}, Velocity{}, C1{}, C2{}, C3{}, C4{}, C5{},
			C6{})
		must(err)
		must(volt.AddComponents2(w, e, C7{}, C8{}))
		s.entities[i] = e
	}
}

//go:noinline
func deleteVolt(s *voltStore) {
	w := s.world
	for _, e := range s.entities {
		w.RemoveEntity(e)
	}
}

//go:noinline
func makeVolt(s *worlds[*volt.World]) {
	s.last = volt.CreateWorld(initialCapacity)
	s.made++
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// newVolt returns an empty world with all component types. Unused component types cost volt nothing, because
// its tables have a fixed size.
func newVolt() *voltStore {
	w := volt.CreateWorld(initialCapacity)
	volt.RegisterComponent[Position](w, &volt.ComponentConfig[Position]{})
	volt.RegisterComponent[Velocity](w, &volt.ComponentConfig[Velocity]{})
	volt.RegisterComponent[C1](w, &volt.ComponentConfig[C1]{})
	volt.RegisterComponent[C2](w, &volt.ComponentConfig[C2]{})
	volt.RegisterComponent[C3](w, &volt.ComponentConfig[C3]{})
	volt.RegisterComponent[C4](w, &volt.ComponentConfig[C4]{})
	volt.RegisterComponent[C5](w, &volt.ComponentConfig[C5]{})
	volt.RegisterComponent[C6](w, &volt.ComponentConfig[C6]{})
	volt.RegisterComponent[C7](w, &volt.ComponentConfig[C7]{})
	volt.RegisterComponent[C8](w, &volt.ComponentConfig[C8]{})
	volt.RegisterComponent[C9](w, &volt.ComponentConfig[C9]{})
	volt.RegisterComponent[C10](w, &volt.ComponentConfig[C10]{})
	return &voltStore{
		world:     w,
		both:      volt.CreateQuery2[Position, Velocity](w, volt.QueryConfiguration{}),
		positions: volt.CreateQuery1[Position](w, volt.QueryConfiguration{}),
	}
}

func (s *voltStore) create(ids []volt.ComponentId) volt.EntityId {
	e := s.world.CreateEntity()
	for _, id := range ids {
		must(s.world.AddComponent(e, id, nil))
	}
	return e
}

func (s *voltStore) createMoving(v Velocity, ids []volt.ComponentId) {
	*volt.GetComponent[Velocity](s.world, s.create(ids)) = v
}

func voltExtras(n int) []volt.ComponentId {
	var ids []volt.ComponentId
	for i := range n {
		ids = append(ids, voltC1+volt.ComponentId(i))
	}
	return ids
}

func (s *voltStore) moveSide(entities, matching int) side {
	return moveSide(s, moveVolt, entities, matching, s.both.Count, func(visit func(*Position)) {
		for found := range s.positions.Foreach(nil) {
			visit(found.A)
		}
	})
}

func newEmptyVolt(int) side {
	s := newVolt()
	s.create([]volt.ComponentId{voltPosition})
	s.create([]volt.ComponentId{voltVelocity})
	return s.moveSide(1, 0)
}

func newQueryVolt(n int) side {
	s := newVolt()
	for range 10 * n {
		must(volt.AddComponent(s.world, s.world.CreateEntity(), Position{}))
	}
	for i := range n {
		_, err := volt.CreateEntityWithComponents2(s.world, Position{}, velocityOf(i))
		must(err)
	}
	return s.moveSide(11*n, n)
}

func newInnerVolt(n int) side {
	s := newVolt()
	sets := subsets([]volt.ComponentId{voltPosition, voltVelocity}, voltExtras(innerExtras))
	for i := range n {
		s.createMoving(velocityOf(i), sets[i%len(sets)])
	}
	return s.moveSide(n, n)
}

func newOuterVolt(n int) side {
	s := newVolt()
	for i := range n {
		_, err := volt.CreateEntityWithComponents2(s.world, Position{}, velocityOf(i))
		must(err)
	}
	sets := subsets([]volt.ComponentId{voltPosition}, voltExtras(outerExtras))
	for i := range 4 * n {
		s.create(sets[i%len(sets)])
	}
	return s.moveSide(5*n, n)
}

func newSparseVolt(born bool) func(n int) side {
	return func(n int) side {
		s := newVolt()
		world := sparse[volt.EntityId]{
			one: func() volt.EntityId {
				e := s.world.CreateEntity()
				must(volt.AddComponent(s.world, e, Position{}))
				return e
			},
			add: func(e volt.EntityId, v Velocity) { must(volt.AddComponent(s.world, e, v)) },
		}
		if born {
			world.both = func(v Velocity) volt.EntityId {
				e, err := volt.CreateEntityWithComponents2(s.world, Position{}, v)
				must(err)
				return e
			}
		}
		world.fill(n)
		return s.moveSide(n, sparseCount(n))
	}
}

func newParallelVolt(n int) side {
	s := newVolt()
	for i := range n {
		_, err := volt.CreateEntityWithComponents2(s.world, Position{}, velocityOf(i))
		must(err)
	}
	made := s.moveSide(n, n)
	made.sample = timeAll(s, moveVoltParallel)
	return inSteps(made)
}

func newRandomVolt(n int) side {
	s := newVolt()
	for i := range n {
		e := s.world.CreateEntity()
		must(volt.AddComponent(s.world, e, Position{X: randomX(i)}))
		s.entities = append(s.entities, e)
	}
	shuffle(s.entities)
	return lookUpSide(s, lookUpVolt, n, &s.sum)
}

func newAddRemoveVolt(extras, stride int) func(n int) side {
	return func(n int) side {
		s := newVolt()
		ids := append([]volt.ComponentId{voltPosition}, voltExtras(extras)...)
		for i := range n {
			e := s.create(ids)
			if i%stride == 0 {
				volt.GetComponent[Position](s.world, e).X = float64(i / stride)
				s.entities = append(s.entities, e)
			}
		}
		add := func() {
			for _, e := range s.entities {
				must(volt.AddComponent(s.world, e, Velocity{}))
			}
		}
		return editSide(s, addRemoveVolt, len(s.entities), add, s.both.Count, func() (sum float64) {
			for found := range s.both.Foreach(nil) {
				sum += found.A.X + found.B.X
			}
			return sum
		})
	}
}

// complete counts the entities that have all components. parts is the number of components: Position,
// Velocity, C1, C2 and so on.
func (s *voltStore) complete(parts int) int {
	n, extras := 0, voltExtras(parts-twoParts)
	for _, e := range s.both.GetEntitiesIds() {
		if !slices.ContainsFunc(extras, func(id volt.ComponentId) bool {
			return !s.world.HasComponents(e, id)
		}) {
			n++
		}
	}
	return n
}

// check returns a function that checks that the world holds n entities, all of them in s.entities. parts is
// the number of components of an entity. The function uses a query, because volt has no call that tells
// whether an entity is alive.
func (s *voltStore) check(parts int) func(n int) error {
	return func(n int) error {
		alive := make(map[volt.EntityId]bool)
		for _, e := range s.positions.GetEntitiesIds() {
			alive[e] = true
		}
		return checkCrowd(n, s.complete(parts), s.positions.Count(), s.entities,
			func(e volt.EntityId) bool { return alive[e] },
			func(e volt.EntityId) *Velocity { return volt.GetComponent[Velocity](s.world, e) })
	}
}

// checkMatching checks the entities that a query finds, because s.entities may belong to an older world.
func (s *voltStore) checkMatching(n int) error {
	made := *s
	made.entities = s.both.GetEntitiesIds()
	return made.check(twoParts)(n)
}

func (s *voltStore) renew() {
	entities := s.entities
	*s = *newVolt()
	s.entities = entities
}

func newVoltCrowd(n int) *voltStore {
	s := newVolt()
	s.entities = make([]volt.EntityId, n)
	return s
}

func voltCreator(parts int) func(*voltStore) {
	if parts == tenParts {
		return createVoltTen
	}
	return createVolt
}

func newCreateVolt(parts int) func(n int) side {
	return func(n int) side {
		s := newVoltCrowd(n)
		return crowdSide(s, n, voltCreator(parts), deleteVolt, n, s.check(parts))
	}
}

func newAllocVolt(n int) side {
	s := newVoltCrowd(n)
	return crowdSide(s, n, createVolt, (*voltStore).renew, n, s.checkMatching)
}

func newDeleteVolt(parts int) func(n int) side {
	create := voltCreator(parts)
	return func(n int) side {
		s := newVoltCrowd(n)
		create(s)
		return crowdSide(s, n, deleteVolt, create, 0, s.check(parts))
	}
}
