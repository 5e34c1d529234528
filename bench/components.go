package main

import (
	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// The component types of most works. Each holds two numbers, as in the public suite.
type (
	Position struct{ X, Y float64 }
	Velocity struct{ X, Y float64 }
)

// C1 … C10 make archetypes differ and make entities larger.
type (
	C1 struct{ X, Y float64 }
	C2 struct{ X, Y float64 }
	C3 struct{ X, Y float64 }
	C4 struct{ X, Y float64 }
	C5 struct{ X, Y float64 }
	C6 struct{ X, Y float64 }
	C7 struct{ X, Y float64 }
	C8 struct{ X, Y float64 }

	C9  struct{ X, Y float64 }
	C10 struct{ X, Y float64 }
)

// initialCapacity is the initial capacity of worlds in the public suite.
const initialCapacity = 1024

// Numbers of components of the entities that the works create and delete.
const (
	twoParts = 2  // Position and Velocity
	tenParts = 10 // Position, Velocity and C1 … C8
)

// entitiesByDefault entities fit into a world with default options, except on Windows and on the heap
// stand-in.
const entitiesByDefault = 12 << 20

// newSizedVastWorld returns a world with default options, or a larger world if the entities need more slots.
func newSizedVastWorld(entities int) *vast.World {
	var o vast.Options
	if entities > entitiesByDefault {
		o.MaxEntities = 2 * entities
	}
	return vast.NewWorld(o)
}

// closeVast returns a function that closes w. The function panics on an error, because an open world would
// leave less memory for later rows.
func closeVast(w *vast.World) func() {
	return func() {
		if err := w.Close(); err != nil {
			panic(err)
		}
	}
}

// extraVast registers the first n of C1 … C10.
func extraVast(w *vast.World, n int) []vast.AnyColumn {
	registrations := []func() vast.AnyColumn{
		func() vast.AnyColumn { return vast.NewColumn[C1](w) },
		func() vast.AnyColumn { return vast.NewColumn[C2](w) },
		func() vast.AnyColumn { return vast.NewColumn[C3](w) },
		func() vast.AnyColumn { return vast.NewColumn[C4](w) },
		func() vast.AnyColumn { return vast.NewColumn[C5](w) },
		func() vast.AnyColumn { return vast.NewColumn[C6](w) },
		func() vast.AnyColumn { return vast.NewColumn[C7](w) },
		func() vast.AnyColumn { return vast.NewColumn[C8](w) },
		func() vast.AnyColumn { return vast.NewColumn[C9](w) },
		func() vast.AnyColumn { return vast.NewColumn[C10](w) },
	}
	var columns []vast.AnyColumn
	for _, register := range registrations[:n] {
		columns = append(columns, register())
	}
	return columns
}

// extraArk registers the first n of C1 … C10.
func extraArk(w *ecs.World, n int) []ecs.ID {
	registrations := []func(*ecs.World) ecs.ID{
		ecs.ComponentID[C1], ecs.ComponentID[C2], ecs.ComponentID[C3], ecs.ComponentID[C4],
		ecs.ComponentID[C5], ecs.ComponentID[C6], ecs.ComponentID[C7], ecs.ComponentID[C8],
		ecs.ComponentID[C9], ecs.ComponentID[C10],
	}
	var ids []ecs.ID
	for _, register := range registrations[:n] {
		ids = append(ids, register(w))
	}
	return ids
}

// subset returns base followed by the extras whose bits are set in number.
func subset[T any](base, extras []T, number int) []T {
	chosen := append([]T(nil), base...)
	for bit, extra := range extras {
		if number>>bit&1 == 1 {
			chosen = append(chosen, extra)
		}
	}
	return chosen
}

// subsets returns base with every subset of extras.
func subsets[T any](base, extras []T) [][]T {
	var sets [][]T
	for number := range 1 << len(extras) {
		sets = append(sets, subset(base, extras, number))
	}
	return sets
}
