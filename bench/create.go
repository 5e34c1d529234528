package main

import (
	"fmt"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work create2comp: create n entities with Position and Velocity in a world that has held as many before, one by one and
// keeping them in a slice (ark), or by one call (ark-batch).
//
// Deleting them again is not timed.

// vastCrowd is a world of Vast with entities that are created and deleted.
type vastCrowd struct {
	world     *vast.World
	archetype *vast.Archetype
	all       vast.Query
	vel       vast.Column[Velocity]
	entities  []vast.Entity
}

// createVast is the timed work, one by one.
//
//go:noinline
func createVast(c *vastCrowd) {
	for i := range c.entities {
		c.entities[i] = c.archetype.New()
	}
}

// createVastBatch is the timed work by one call.
//
//go:noinline
func createVastBatch(c *vastCrowd) {
	c.archetype.NewN(len(c.entities), nil)
}

// arkCrowd is a world of Ark with entities that are created and deleted.
type arkCrowd struct {
	world    *ecs.World
	mapper   *ecs.Map2[Position, Velocity]
	all      *ecs.Filter2[Position, Velocity]
	entities []ecs.Entity
}

// createArk is the timed work, one by one. NewEntityFn without a function leaves the components zero and is Ark's fastest form.
//
//go:noinline
func createArk(c *arkCrowd) {
	for i := range c.entities {
		c.entities[i] = c.mapper.NewEntityFn(nil)
	}
}

// createArkBatch is the timed work by one call.
//
//go:noinline
func createArkBatch(c *arkCrowd) {
	c.mapper.NewBatchFn(len(c.entities), nil)
}

// newVastCrowd prepares a world of Vast for n entities, empty.
func newVastCrowd(n int) *vastCrowd {
	w := newSizedVastWorld(n)
	pos, vel := vast.NewColumn[Position](w), vast.NewColumn[Velocity](w)
	return &vastCrowd{
		world: w, archetype: w.Archetype(pos, vel), all: w.Query(pos, vel), vel: vel,
		entities: make([]vast.Entity, n),
	}
}

// newArkCrowd prepares a world of Ark for n entities, empty.
func newArkCrowd(n int) *arkCrowd {
	w := ecs.NewWorld(arkCapacity)
	return &arkCrowd{
		world: w, mapper: ecs.NewMap2[Position, Velocity](w),
		all:      ecs.NewFilter2[Position, Velocity](w).Register(),
		entities: make([]ecs.Entity, n),
	}
}

// checkCrowd compares a world with one that holds n entities with zero components: as many must match and be in the world,
// and as many of the entities that were handed out must be alive.
func checkCrowd(n, matching, total, alive int, sum float64) error {
	if matching != n || total != n || alive != n || sum != 0 {
		return fmt.Errorf("of %d entities, %d match, %d are in the world, %d are alive; their velocities add up to %v, not 0",
			n, matching, total, alive, sum)
	}
	return nil
}

// check compares the world with one of n entities, which are those that were handed out last.
func (c *vastCrowd) check(n int) error {
	alive, sum := 0, 0.0
	for _, e := range c.entities {
		if c.world.Alive(e) {
			alive++
			sum += c.vel.Get(e).X
		}
	}
	return checkCrowd(n, c.all.Count(), c.world.Len(), alive, sum)
}

// checkMatching is check for entities that were made by one call: a query tells which they are.
func (c *vastCrowd) checkMatching(n int) error {
	c.entities = c.entities[:0]
	for e := range c.all.All() {
		c.entities = append(c.entities, e)
	}
	return c.check(n)
}

// check compares the world with one of n entities, which are those that were handed out last.
func (c *arkCrowd) check(n int) error {
	alive, sum := 0, 0.0
	for _, e := range c.entities {
		if c.world.Alive(e) {
			alive++
			_, v := c.mapper.Get(e)
			sum += v.X
		}
	}
	return checkCrowd(n, countArk(c.all), c.world.Stats().Entities.Used, alive, sum)
}

// checkMatching is check for entities that were made by one call: a query tells which they are.
func (c *arkCrowd) checkMatching(n int) error {
	c.entities = c.entities[:0]
	query := c.all.Query()
	for query.Next() {
		c.entities = append(c.entities, query.Entity())
	}
	return c.check(n)
}

// crowdSide makes a side out of a world, of work that changes how many of the n entities are in it, and of its opposite.
// After the work there are so many of them, after undoing it the rest.
func crowdSide[C any](c *C, n int, work, undo func(*C), after int, check func(n int) error, closeWorld func()) side {
	return side{
		units:  n,
		sample: timeWork(c, work, undo),
		check: func(int) error {
			// Once more, slowly, looking at either state.
			work(c)
			if err := check(after); err != nil {
				return fmt.Errorf("after the work: %w", err)
			}
			undo(c)
			if err := check(n - after); err != nil {
				return fmt.Errorf("after undoing it: %w", err)
			}
			return nil
		},
		close: closeWorld,
	}
}

// newCreateVast sets the work up for Vast, one by one.
func newCreateVast(n int) side {
	c := newVastCrowd(n)
	return crowdSide(c, n, createVast, deleteVastBatch, n, c.check, closeVast(c.world))
}

// newCreateVastBatch sets the work up for Vast, by one call.
func newCreateVastBatch(n int) side {
	c := newVastCrowd(n)
	return crowdSide(c, n, createVastBatch, deleteVastBatch, n, c.checkMatching, closeVast(c.world))
}

// newCreateArk sets the work up for Ark, one by one.
func newCreateArk(n int) side {
	c := newArkCrowd(n)
	return crowdSide(c, n, createArk, deleteArkBatch, n, c.check, nil)
}

// newCreateArkBatch sets the work up for Ark, by one call.
func newCreateArkBatch(n int) side {
	c := newArkCrowd(n)
	return crowdSide(c, n, createArkBatch, deleteArkBatch, n, c.checkMatching, nil)
}
