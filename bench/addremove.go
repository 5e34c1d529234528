package main

import (
	"fmt"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work add_remove: n entities with Position. Add a zero Velocity to each of them, then remove it from each; a row's time
// is for both, an entity.

// vastEdit is Vast's state of the work.
type vastEdit struct {
	world    *vast.World
	pos      vast.Column[Position]
	vel      vast.Column[Velocity]
	entities []vast.Entity
}

// addRemoveVast is the timed work.
//
//go:noinline
func addRemoveVast(s *vastEdit) {
	vel := s.vel
	for _, e := range s.entities {
		vel.Add(e, Velocity{})
	}
	for _, e := range s.entities {
		vel.Remove(e)
	}
}

// arkEdit is Ark's state of the work.
type arkEdit struct {
	world    *ecs.World
	vel      *ecs.Map1[Velocity]
	entities []ecs.Entity
}

// addRemoveArk is the timed work. AddFn without a function adds a zero component and is Ark's fastest form.
//
//go:noinline
func addRemoveArk(s *arkEdit) {
	vel := s.vel
	for _, e := range s.entities {
		vel.AddFn(e, nil)
	}
	for _, e := range s.entities {
		vel.Remove(e)
	}
}

// checkEdits compares what is left with what n entities with positions 0 … n−1 must leave: half way through, all of them
// have a velocity; at the end none has, and the positions are as they were.
func checkEdits(n, half, end int, sum float64) error {
	if want := float64(n) * float64(n-1) / 2; half != n || end != 0 || sum != want {
		return fmt.Errorf("%d of %d have a velocity after adding, %d after removing; the positions add up to %v, not %v",
			half, n, end, sum, want)
	}
	return nil
}

// newAddRemoveVast sets the work up for Vast.
func newAddRemoveVast(n int) side {
	w := newSizedVastWorld(n)
	s := &vastEdit{world: w, pos: vast.NewColumn[Position](w), vel: vast.NewColumn[Velocity](w)}
	archetype := w.Archetype(s.pos)
	for i := range n {
		e := archetype.New()
		s.pos.Get(e).X = float64(i)
		s.entities = append(s.entities, e)
	}
	return side{
		units:  n,
		sample: timeAll(s, addRemoveVast),
		check: func(int) error {
			both := w.Query(s.pos, s.vel)
			end := both.Count()
			for _, e := range s.entities {
				s.vel.Add(e, Velocity{})
			}
			half := both.Count()
			sum := 0.0
			for e := range both.All() {
				sum += s.pos.Get(e).X + s.vel.Get(e).X
			}
			return checkEdits(n, half, end, sum)
		},
		close: closeVast(w),
	}
}

// newAddRemoveArk sets the work up for Ark.
func newAddRemoveArk(n int) side {
	w := ecs.NewWorld(arkCapacity)
	s := &arkEdit{world: w, vel: ecs.NewMap1[Velocity](w)}
	positions := ecs.NewMap1[Position](w)
	for i := range n {
		s.entities = append(s.entities, positions.NewEntity(&Position{X: float64(i)}))
	}
	return side{
		units:  n,
		sample: timeAll(s, addRemoveArk),
		check: func(int) error {
			both := ecs.NewFilter2[Position, Velocity](w)
			end := countArk(both)
			for _, e := range s.entities {
				s.vel.AddFn(e, nil)
			}
			half := countArk(both)
			sum := 0.0
			query := both.Query()
			for query.Next() {
				p, v := query.Get()
				sum += p.X + v.X
			}
			return checkEdits(n, half, end, sum)
		},
	}
}

// countArk counts what a filter matches.
func countArk(f *ecs.Filter2[Position, Velocity]) int {
	query := f.Query()
	defer query.Close()
	return query.Count()
}
