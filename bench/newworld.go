package main

import (
	"fmt"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work new_world: make a world and drop it, as the public suite does.
//
// Work first_entity: make a world with Position and Velocity, create one entity with both, and free the
// world. This work complements new_world, because a world of Vast reserves no memory before its first use.
// Vast's time includes closing the world. The garbage collector frees Ark's worlds. Ark's time includes the
// collector's work, if the collector runs during the timed work.
//
// Work small_world: first_entity with n entities, which are created one at a time. The times are per world.

// worlds keeps the last world, so that the compiler does not remove the work.
type worlds[W any] struct {
	last W
	made int
}

// makeVast is the timed work of new_world.
//
//go:noinline
func makeVast(s *worlds[*vast.World]) {
	s.last = vast.NewWorld(vast.Options{})
	s.made++
}

// makeFirstVast is the timed work of first_entity.
//
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

// makeArk is the timed work of new_world.
//
//go:noinline
func makeArk(s *worlds[*ecs.World]) {
	s.last = ecs.NewWorld()
	s.made++
}

// makeFirstArk is the timed work of first_entity.
//
//go:noinline
func makeFirstArk(s *worlds[*ecs.World]) {
	w := ecs.NewWorld()
	mapper := ecs.NewMap2[Position, Velocity](w)
	if w.Alive(mapper.NewEntityFn(nil)) {
		s.made++
	}
	s.last = w
}

// checkMade checks the number of worlds, or of their entities.
func checkMade(made, want int) error {
	if made != want {
		return fmt.Errorf("%d worlds or entities were made, want %d", made, want)
	}
	return nil
}

// small is a series of worlds of n entities.
type small[W any] struct {
	worlds[W]
	n int
}

// makeSmallVast is the timed work of small_world.
//
//go:noinline
func makeSmallVast(s *small[*vast.World]) {
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

// makeSmallArk is the timed work of small_world.
//
//go:noinline
func makeSmallArk(s *small[*ecs.World]) {
	w := ecs.NewWorld()
	mapper := ecs.NewMap2[Position, Velocity](w)
	for range s.n {
		if w.Alive(mapper.NewEntityFn(nil)) {
			s.made++
		}
	}
	s.last = w
}

// smallSide returns a function that sets up a side. The work of the side makes one world with n entities.
func smallSide[W any](work func(*small[W])) func(int) side {
	return func(n int) side {
		s := &small[W]{n: n}
		return side{units: 1, sample: timeAll(s, work),
			check: func(done int) error { return checkMade(s.made, done*n) }}
	}
}

// worldsSide returns a function that sets up a side. The work of the side makes one world.
func worldsSide[W any](work func(*worlds[W])) func(int) side {
	return func(int) side {
		s := &worlds[W]{}
		return side{units: 1, sample: timeAll(s, work),
			check: func(done int) error { return checkMade(s.made, done) }}
	}
}
