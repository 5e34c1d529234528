package main

import (
	"math/rand/v2"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// These works visit one entity at a time, on Vast with [vast.Query.Slots], or in query2comp_all with
// [vast.Query.All].
//
// Works query2comp_slots, sparse_added_slots: query2comp and sparse_added.
//
// Work query2comp_all: query2comp with Get.
//
// Work query7comp_slots: query n entities with Position, Velocity and C1 … C5. Add the velocity, and the X of
// the other components, to the position.
//
// Works churned2, churned7: query two or seven components of n entities. The world had ten times as many
// entities, in eight archetypes; the others were deleted in random order. The deletions leave holes on Vast.
// Ark moves the last entity of a table into each hole.
//
// Works packed2, packed7: churned2 and churned7 after [vast.Archetype.Pack] of each archetype.
//
// Work sparse_regrouped: sparse_added_slots after [vast.World.Regroup] of the query.

//go:noinline
func moveVastSlots(s *vastQuery) {
	pos, vel := s.pos, s.vel
	for e := range s.query.Slots() {
		p, v := pos.At(e), vel.At(e)
		p.X += v.X
		p.Y += v.Y
	}
}

//go:noinline
func moveVastAll(s *vastQuery) {
	pos, vel := s.pos, s.vel
	for e := range s.query.All() {
		p, v := pos.Get(e), vel.Get(e)
		p.X += v.X
		p.Y += v.Y
	}
}

// sevenExtras is the number of components of query7comp_slots besides Position and Velocity.
const sevenExtras = 5

type sevenVast struct {
	vastQuery
	c1 vast.Column[C1]
	c2 vast.Column[C2]
	c3 vast.Column[C3]
	c4 vast.Column[C4]
	c5 vast.Column[C5]
}

// newSevenVast makes an empty world with room for n entities.
func newSevenVast(n int) *sevenVast {
	w := newSizedVastWorld(n)
	s := &sevenVast{vastQuery: vastQuery{world: w, pos: vast.NewColumn[Position](w),
		vel: vast.NewColumn[Velocity](w)}}
	s.c1, s.c2, s.c3 = vast.NewColumn[C1](w), vast.NewColumn[C2](w), vast.NewColumn[C3](w)
	s.c4, s.c5 = vast.NewColumn[C4](w), vast.NewColumn[C5](w)
	s.query = w.Query(s.pos, s.vel, s.c1, s.c2, s.c3, s.c4, s.c5)
	return s
}

//go:noinline
func moveSevenVast(s *sevenVast) {
	pos, vel, c1, c2, c3, c4, c5 := s.pos, s.vel, s.c1, s.c2, s.c3, s.c4, s.c5
	for e := range s.query.Slots() {
		p, v := pos.At(e), vel.At(e)
		p.X += v.X + c1.At(e).X + c2.At(e).X + c3.At(e).X + c4.At(e).X + c5.At(e).X
		p.Y += v.Y
	}
}

func (s *sevenVast) side(n int) side {
	made := moveSide(s, moveSevenVast, n, n, s.query.Count, func(visit func(*Position)) {
		for e := range s.query.Slots() {
			visit(s.pos.At(e))
		}
	})
	made.close = closeVast(s.world)
	return made
}

func newSeven(n int) side {
	s := newSevenVast(n)
	i := 0
	s.world.Archetype(s.pos, s.vel, s.c1, s.c2, s.c3, s.c4, s.c5).NewN(n, func(run vast.Run) {
		for _, e := range run.All() {
			*s.vel.Get(e) = velocityOf(i)
			i++
		}
	})
	return s.side(n)
}

type sevenArk struct {
	world  *ecs.World
	filter *ecs.Filter7[Position, Velocity, C1, C2, C3, C4, C5]
}

func newSevenArkWorld() *sevenArk {
	w := ecs.NewWorld(initialCapacity)
	return &sevenArk{w, ecs.NewFilter7[Position, Velocity, C1, C2, C3, C4, C5](w).Register()}
}

//go:noinline
func moveSevenArk(s *sevenArk) {
	query := s.filter.Query()
	for query.Next() {
		p, v, c1, c2, c3, c4, c5 := query.Get()
		p.X += v.X + c1.X + c2.X + c3.X + c4.X + c5.X
		p.Y += v.Y
	}
}

func (s *sevenArk) side(n int) side {
	count := func() int {
		q := s.filter.Query()
		defer q.Close()
		return q.Count()
	}
	return moveSide(s, moveSevenArk, n, n, count, func(visit func(*Position)) {
		q := ecs.NewFilter1[Position](s.world).Query()
		for q.Next() {
			visit(q.Get())
		}
	})
}

func newSevenArk(n int) side {
	s := newSevenArkWorld()
	i := 0
	ecs.NewMap7[Position, Velocity, C1, C2, C3, C4, C5](s.world).NewBatchFn(n,
		func(_ ecs.Entity, _ *Position, v *Velocity, _ *C1, _ *C2, _ *C3, _ *C4, _ *C5) {
			*v = velocityOf(i)
			i++
		})
	return s.side(n)
}

const (
	churnedEvery  = 10 // after the deletions, one entity in churnedEvery remains
	churnedExtras = 3  // number of components whose subsets make the archetypes
)

var churnedSizes = []int{100_000}

// churn creates churnedEvery·n entities, and deletes all but n of them in random order.
func churn[E any](n int, create func(i int) E, remove func(E)) {
	entities := []E{}
	for i := range churnedEvery * n {
		entities = append(entities, create(i))
	}
	r := rand.New(rand.NewPCG(1, uint64(n)))
	r.Shuffle(len(entities), func(i, j int) { entities[i], entities[j] = entities[j], entities[i] })
	for _, e := range entities[n:] {
		remove(e)
	}
}

// churn fills the world with entities that have the columns base and a subset of extras, and deletes all but
// n. If pack is true, churn then packs the archetypes. At the end it sets the velocities of the remaining
// entities.
func (s *vastQuery) churn(n int, base, extras []vast.AnyColumn, pack bool) {
	archetypes := archetypesVast(s.world, base, extras)
	churn(n, func(i int) vast.Entity { return archetypes[i%len(archetypes)].New() },
		func(e vast.Entity) { s.world.Delete(e) })
	for _, a := range archetypes {
		if pack {
			a.Pack(vast.MoveOptions{})
		}
	}
	i := 0
	for e := range s.query.Slots() {
		*s.vel.At(e) = velocityOf(i)
		i++
	}
}

func newChurnedVast(pack bool) func(n int) side {
	return func(n int) side {
		w := newSizedVastWorld(churnedEvery * n)
		s := &vastQuery{world: w, pos: vast.NewColumn[Position](w), vel: vast.NewColumn[Velocity](w),
			move: moveVastSlots}
		s.query = w.Query(s.pos, s.vel)
		s.churn(n, []vast.AnyColumn{s.pos, s.vel}, extraVast(w, churnedExtras), pack)
		return s.side(n, n)
	}
}

func newChurnedSevenVast(pack bool) func(n int) side {
	return func(n int) side {
		s := newSevenVast(churnedEvery * n)
		w := s.world
		extras := []vast.AnyColumn{vast.NewColumn[C6](w), vast.NewColumn[C7](w), vast.NewColumn[C8](w)}
		s.churn(n, []vast.AnyColumn{s.pos, s.vel, s.c1, s.c2, s.c3, s.c4, s.c5}, extras, pack)
		return s.side(n)
	}
}

func churnArk(w *ecs.World, n int, base, extras []ecs.ID) {
	sets := subsets(base, extras)
	churn(n, func(i int) ecs.Entity { return w.Unsafe().NewEntity(sets[i%len(sets)]...) }, w.RemoveEntity)
}

func newChurnedArk(n int) side {
	w := ecs.NewWorld(initialCapacity)
	base := []ecs.ID{ecs.ComponentID[Position](w), ecs.ComponentID[Velocity](w)}
	churnArk(w, n, base, extraArk(w, churnedExtras))
	s := &arkQuery{world: w, filter: ecs.NewFilter2[Position, Velocity](w).Register()}
	query, i := s.filter.Query(), 0
	for query.Next() {
		_, v := query.Get()
		*v = velocityOf(i)
		i++
	}
	return s.side(moveArk, n, n)
}

func newChurnedSevenArk(n int) side {
	s := newSevenArkWorld()
	w := s.world
	base := append([]ecs.ID{ecs.ComponentID[Position](w), ecs.ComponentID[Velocity](w)},
		extraArk(w, sevenExtras)...)
	churnArk(w, n, base, []ecs.ID{ecs.ComponentID[C6](w), ecs.ComponentID[C7](w), ecs.ComponentID[C8](w)})
	query, i := s.filter.Query(), 0
	for query.Next() {
		_, v, _, _, _, _, _ := query.Get()
		*v = velocityOf(i)
		i++
	}
	return s.side(n)
}
