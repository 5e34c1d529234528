package main

import "github.com/vastgo/vast"

// Work "without": query Position and Velocity in entities that do not have C1, with the functions of
// query2comp. n entities have Position, Velocity and C2, and match. Another n entities have Position,
// Velocity and C1. The two kinds are created alternately. The peer "self" is Vast with another query:
// Position, Velocity and C2. It finds the same entities.

func newVastWithoutC1(n int) side {
	return newHalfVast(n, func(s *vastQuery, c1, _ vast.AnyColumn) vast.Query {
		return s.world.Query(s.pos, s.vel).Without(c1)
	})
}

func newVastWithC2(n int) side {
	return newHalfVast(n, func(s *vastQuery, _, c2 vast.AnyColumn) vast.Query {
		return s.world.Query(s.pos, s.vel, c2)
	})
}

func newHalfVast(n int, makeQuery func(s *vastQuery, c1, c2 vast.AnyColumn) vast.Query) side {
	w := newSizedVastWorld(2 * n)
	s := &vastQuery{world: w, pos: vast.NewColumn[Position](w), vel: vast.NewColumn[Velocity](w)}
	extras := extraVast(w, withoutExtras)
	s.query = makeQuery(s, extras[0], extras[1])
	other, matching := w.Archetype(s.pos, s.vel, extras[0]), w.Archetype(s.pos, s.vel, extras[1])
	for i := range n {
		*s.vel.Get(matching.New()) = velocityOf(i)
		other.New()
	}
	return s.side(2*n, n)
}

// withoutExtras is the number of component types besides Position and Velocity.
const withoutExtras = 2
