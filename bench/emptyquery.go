package main

import (
	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// These functions set up an empty query: the work of query2comp in a world without a match. The time of an
// empty query is the fixed cost of a query. The world holds one entity with Position alone and one with
// Velocity alone. The parameter extras is the number of other component types in the world. newEmptySlice has
// no world: its slices are empty.

func newEmptyVast(extras int) side {
	w := vast.NewWorld(vast.Options{})
	s := &vastQuery{world: w, pos: vast.NewColumn[Position](w), vel: vast.NewColumn[Velocity](w)}
	extraVast(w, extras)
	s.query = w.Query(s.pos, s.vel)
	w.Archetype(s.pos).New()
	w.Archetype(s.vel).New()
	return s.side(1, 0)
}

func newEmptyArk(extras int) side {
	return emptyArk(extras).side(moveArk, 1, 0)
}

func newEmptyArkTables(extras int) side {
	return emptyArk(extras).side(moveArkTables, 1, 0)
}

func emptyArk(extras int) *arkQuery {
	w := ecs.NewWorld(initialCapacity)
	extraArk(w, extras)
	ecs.NewMap1[Position](w).NewEntityFn(nil)
	ecs.NewMap1[Velocity](w).NewEntityFn(nil)
	return &arkQuery{world: w, filter: ecs.NewFilter2[Position, Velocity](w).Register()}
}

func newEmptySlice(int) side {
	s := &slicesQuery{}
	return s.side()
}
