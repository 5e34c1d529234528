package main

import (
	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work query32arch: query n entities with Position and Velocity. Entity i also has subset number i mod 32 of
// C1 … C5, so the entities lie in up to 32 archetypes.
//
// Work query256arch: query n entities with Position and Velocity. Another 4·n entities have Position, and
// entity i of these also has subset number i mod 256 of C1 … C8. So these entities lie in up to 256
// archetypes. The query does not match these archetypes.
//
// The queries use the functions of query2comp. Names with Inner belong to query32arch, names with Outer to
// query256arch.

// The numbers of component types besides Position and Velocity.
const (
	innerExtras = 5
	outerExtras = 8
)

func newInnerVast(n int) side {
	w := newSizedVastWorld(n)
	s := &vastQuery{world: w, pos: vast.NewColumn[Position](w), vel: vast.NewColumn[Velocity](w)}
	archetypes := archetypesVast(w, []vast.AnyColumn{s.pos, s.vel}, extraVast(w, innerExtras))
	s.query = w.Query(s.pos, s.vel)
	for i := range n {
		e := archetypes[i%len(archetypes)].New()
		*s.vel.Get(e) = velocityOf(i)
	}
	return s.side(n, n)
}

func newOuterVast(n int) side {
	w := newSizedVastWorld(5 * n)
	s := &vastQuery{world: w, pos: vast.NewColumn[Position](w), vel: vast.NewColumn[Velocity](w)}
	archetypes := archetypesVast(w, []vast.AnyColumn{s.pos}, extraVast(w, outerExtras))
	s.query = w.Query(s.pos, s.vel)
	matching := w.Archetype(s.pos, s.vel)
	for i := range n {
		e := matching.New()
		*s.vel.Get(e) = velocityOf(i)
	}
	for i := range 4 * n {
		archetypes[i%len(archetypes)].New()
	}
	return s.side(5*n, n)
}

// archetypesVast returns one archetype for each subset of extras. Each archetype has the columns base and the
// columns of the subset.
func archetypesVast(w *vast.World, base, extras []vast.AnyColumn) []*vast.Archetype {
	var archetypes []*vast.Archetype
	for _, set := range subsets(base, extras) {
		archetypes = append(archetypes, w.Archetype(set...))
	}
	return archetypes
}

func newInnerArk(n int) side {
	return innerArk(n).side(moveArk, n, n)
}

func newInnerArkTables(n int) side {
	return innerArk(n).side(moveArkTables, n, n)
}

func newOuterArk(n int) side {
	return outerArk(n).side(moveArk, 5*n, n)
}

func newOuterArkTables(n int) side {
	return outerArk(n).side(moveArkTables, 5*n, n)
}

func innerArk(n int) *arkQuery {
	w := ecs.NewWorld(initialCapacity)
	base := []ecs.ID{ecs.ComponentID[Position](w), ecs.ComponentID[Velocity](w)}
	sets := subsets(base, extraArk(w, innerExtras))
	velocities := ecs.NewMap1[Velocity](w)
	for i := range n {
		e := w.Unsafe().NewEntity(sets[i%len(sets)]...)
		*velocities.Get(e) = velocityOf(i)
	}
	return &arkQuery{world: w, filter: ecs.NewFilter2[Position, Velocity](w).Register()}
}

func outerArk(n int) *arkQuery {
	w := ecs.NewWorld(initialCapacity)
	base := []ecs.ID{ecs.ComponentID[Position](w)}
	i := 0
	ecs.NewMap2[Position, Velocity](w).NewBatchFn(n, func(_ ecs.Entity, _ *Position, v *Velocity) {
		*v = velocityOf(i)
		i++
	})
	sets := subsets(base, extraArk(w, outerExtras))
	for i := range 4 * n {
		w.Unsafe().NewEntity(sets[i%len(sets)]...)
	}
	return &arkQuery{world: w, filter: ecs.NewFilter2[Position, Velocity](w).Register()}
}
