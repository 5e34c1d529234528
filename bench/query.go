package main

import (
	"fmt"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work query2comp: query n entities with Position and Velocity, and add the velocity to the position. The
// world has 10·n older entities with Position alone.
//
// The sides of the comparison that loop over slices run identical loops: they cut the velocities to the
// length of the positions, to avoid a bounds check. The other sides visit one entity at a time.

type vastQuery struct {
	world *vast.World
	query vast.Query
	pos   vast.Column[Position]
	vel   vast.Column[Velocity]
	move  func(*vastQuery) // the timed work; nil for moveVast
}

//go:noinline
func moveVast(s *vastQuery) {
	pos, vel := s.pos, s.vel
	for run := range s.query.Runs() {
		p, v := pos.Slice(run), vel.Slice(run)
		v = v[:len(p)]
		for i := range p {
			p[i].X += v[i].X
			p[i].Y += v[i].Y
		}
	}
}

// arkQuery has a filter that is registered with the world, because registration makes queries faster.
type arkQuery struct {
	world  *ecs.World
	filter *ecs.Filter2[Position, Velocity]
}

//go:noinline
func moveArk(s *arkQuery) {
	query := s.filter.Query()
	for query.Next() {
		p, v := query.Get()
		p.X += v.X
		p.Y += v.Y
	}
}

//go:noinline
func moveArkTables(s *arkQuery) {
	query := s.filter.Query()
	for query.NextTable() {
		p, v := query.GetColumns()
		v = v[:len(p)]
		for i := range p {
			p[i].X += v[i].X
			p[i].Y += v[i].Y
		}
	}
}

type slicesQuery struct {
	pos []Position
	vel []Velocity
}

//go:noinline
func moveSlices(s *slicesQuery) {
	p, v := s.pos, s.vel
	v = v[:len(p)]
	for i := range p {
		p[i].X += v[i].X
		p[i].Y += v[i].Y
	}
}

// velocityOf returns the velocity of the i-th matching entity. X and Y are whole numbers, so that sums are
// exact.
func velocityOf(i int) Velocity {
	return Velocity{X: 1, Y: float64(i % 4)}
}

type tally struct {
	entities int     // number of entities in the world
	matching int     // number of entities that the query matches
	x, y     float64 // sum of all positions in the world
}

func (t *tally) add(p *Position) {
	t.entities++
	t.x += p.X
	t.y += p.Y
}

// check returns an error if the tally is wrong. done is the number of repetitions, each of which must have
// moved the matching entities and no others.
func (t tally) check(entities, matching, done int) error {
	want := tally{entities: entities, matching: matching}
	for i := range matching {
		v := velocityOf(i)
		want.x += v.X * float64(done)
		want.y += v.Y * float64(done)
	}
	if t != want {
		return fmt.Errorf("after %d queries: got %+v, want %+v", done, t, want)
	}
	return nil
}

// moveSide makes a side whose work moves the matching entities of a world. entities is the number of all
// entities, and matching the number of matching ones. count returns the number of entities that the query
// matches. visitAll visits the positions of all entities.
func moveSide[S any](s *S, work func(*S), entities, matching int, count func() int,
	visitAll func(visit func(*Position))) side {
	return side{
		units:  max(1, matching),
		sample: timeAll(s, work),
		check: func(done int) error {
			got := tally{matching: count()}
			visitAll(got.add)
			return got.check(entities, matching, done)
		},
	}
}

func (s *vastQuery) side(entities, matching int) side {
	move := s.move
	if move == nil {
		move = moveVast
	}
	made := moveSide(s, move, entities, matching, s.query.Count, func(visit func(*Position)) {
		for e := range s.world.Query(s.pos).All() {
			visit(s.pos.Get(e))
		}
	})
	made.close = closeVast(s.world)
	return made
}

func (s *arkQuery) side(work func(*arkQuery), entities, matching int) side {
	count := func() int { return countArk(s.filter) }
	return moveSide(s, work, entities, matching, count, func(visit func(*Position)) {
		all := ecs.NewFilter1[Position](s.world).Query()
		for all.Next() {
			visit(all.Get())
		}
	})
}

func newQueryVast(n int) side { return newQueryVastBy(nil)(n) }

func newQueryVastBy(move func(*vastQuery)) func(n int) side {
	return func(n int) side {
		w := newSizedVastWorld(11 * n)
		s := &vastQuery{world: w, pos: vast.NewColumn[Position](w), vel: vast.NewColumn[Velocity](w),
			move: move}
		s.query = w.Query(s.pos, s.vel)
		w.Archetype(s.pos).NewN(10*n, nil)
		i := 0
		w.Archetype(s.pos, s.vel).NewN(n, func(run vast.Run) {
			v := s.vel.Slice(run)
			for j := range v {
				v[j] = velocityOf(i)
				i++
			}
		})
		return s.side(11*n, n)
	}
}

func newQueryArk(n int) side {
	return newArkQuery(n).side(moveArk, 11*n, n)
}

func newQueryArkTables(n int) side {
	return newArkQuery(n).side(moveArkTables, 11*n, n)
}

func newArkQuery(n int) *arkQuery {
	w := ecs.NewWorld(initialCapacity)
	ecs.NewMap1[Position](w).NewBatchFn(10*n, nil)
	i := 0
	ecs.NewMap2[Position, Velocity](w).NewBatchFn(n, func(_ ecs.Entity, _ *Position, v *Velocity) {
		*v = velocityOf(i)
		i++
	})
	return &arkQuery{world: w, filter: ecs.NewFilter2[Position, Velocity](w).Register()}
}

// newQuerySlice leaves out the 10·n entities that do not match.
func newQuerySlice(n int) side {
	s := &slicesQuery{pos: make([]Position, n), vel: make([]Velocity, n)}
	for i := range s.vel {
		s.vel[i] = velocityOf(i)
	}
	return s.side()
}

func (s *slicesQuery) side() side {
	n := len(s.pos)
	return moveSide(s, moveSlices, n, n, func() int { return n }, func(visit func(*Position)) {
		for i := range s.pos {
			visit(&s.pos[i])
		}
	})
}
