package main

import (
	"fmt"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work new_world: make a world and drop it, as the public suite does (see README.md).
//
// Work first_entity: make a world with Position and Velocity, create one entity with both, and free the
// world. This work complements new_world, because a world of Vast reserves no memory before its first use.
// Vast's time includes closing the world. The garbage collector frees Ark's worlds; Ark's time includes
// collections that run during the timed work.
//
// Work small_world: first_entity with n entities, which are created one at a time. The times are per world.

// The type worlds has a field for the last world, so that the compiler does not remove the work.
type worlds[W any] struct {
	last W
	made int
}

//go:noinline
func makeVast(s *worlds[*vast.World]) {
	s.last = vast.NewWorld(vast.Options{})
	s.made++
}

//go:noinline
func makeFirstVast(s *worlds[*vast.World]) {
	w := vast.NewWorld(vast.Options{})
	pos, vel := vast.NewColumn[Position](w), vast.NewColumn[Velocity](w)
	w.Archetype(pos, vel).New()
	s.made += w.Len()
	if err := w.Close(); err != nil {
		panic(err)
	}
}

//go:noinline
func makeArk(s *worlds[*ecs.World]) {
	s.last = ecs.NewWorld()
	s.made++
}

//go:noinline
func makeFirstArk(s *worlds[*ecs.World]) {
	w := ecs.NewWorld()
	mapper := ecs.NewMap2[Position, Velocity](w)
	if w.Alive(mapper.NewEntityFn(nil)) {
		s.made++
	}
	s.last = w
}

func checkMade(made, want int) error {
	if made != want {
		return fmt.Errorf("%d worlds or entities were made, want %d", made, want)
	}
	return nil
}

type smallWorlds[W any] struct {
	worlds[W]
	n int // number of entities of a world
}

//go:noinline
func makeSmallVast(s *smallWorlds[*vast.World]) {
	w := vast.NewWorld(vast.Options{})
	pos, vel := vast.NewColumn[Position](w), vast.NewColumn[Velocity](w)
	a := w.Archetype(pos, vel)
	for range s.n {
		if w.Alive(a.New()) {
			s.made++
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
}

//go:noinline
func makeSmallArk(s *smallWorlds[*ecs.World]) {
	w := ecs.NewWorld()
	mapper := ecs.NewMap2[Position, Velocity](w)
	for range s.n {
		if w.Alive(mapper.NewEntityFn(nil)) {
			s.made++
		}
	}
	s.last = w
}

func smallSide[W any](work func(*smallWorlds[W])) func(int) side {
	return func(n int) side {
		s := &smallWorlds[W]{n: n}
		return side{units: 1, sample: timeAll(s, work),
			check: func(done int) error { return checkMade(s.made, done*n) }}
	}
}

func worldsSide[W any](work func(*worlds[W])) func(int) side {
	return func(int) side {
		s := &worlds[W]{}
		return side{units: 1, sample: timeAll(s, work),
			check: func(done int) error { return checkMade(s.made, done) }}
	}
}
