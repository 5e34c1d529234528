package main

import (
	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// These functions set up the fixed cost of a query: the work of query2comp in a world without a match. The
// world holds one entity with only Position and one with only Velocity, which the query must reject. extras
// is the number of other component types in the world.

// newEmptyVast sets up a query of Vast that matches nothing.
func newEmptyVast(extras int) side {
	w := vast.NewWorld(vast.Options{})
	s := &vastQuery{world: w, pos: vast.NewColumn[Position](w), vel: vast.NewColumn[Velocity](w)}
	extraVast(w, extras)
	s.query = w.Query(s.pos, s.vel)
	w.Archetype(s.pos).New()
	w.Archetype(s.vel).New()
	return s.side(1, 0)
}

// newEmptyArk sets up a query of Ark, one entity at a time, that matches nothing.
func newEmptyArk(extras int) side {
	return emptyArk(extras).side(moveArk, 1, 0)
}

// newEmptyArkTables sets up a query of Ark, table by table, that matches nothing.
func newEmptyArkTables(extras int) side {
	return emptyArk(extras).side(moveArkTables, 1, 0)
}

// emptyArk makes the world of Ark and its filter.
func emptyArk(extras int) *arkQuery {
	w := ecs.NewWorld(initialCapacity)
	extraArk(w, extras)
	ecs.NewMap1[Position](w).NewEntityFn(nil)
	ecs.NewMap1[Velocity](w).NewEntityFn(nil)
	return &arkQuery{world: w, filter: ecs.NewFilter2[Position, Velocity](w).Register()}
}

// newEmptySlice sets up a loop over empty slices. It ignores its argument, because slices have no component
// types.
func newEmptySlice(int) side {
	s := &slicesQuery{}
	return s.side()
}
