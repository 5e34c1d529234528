package main

import (
	"fmt"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// vastCrowd is a world of Vast for the works that create and delete entities.
type vastCrowd struct {
	world     *vast.World
	archetype *vast.Archetype
	columns   []vast.AnyColumn
	all       vast.Query // matches Position and Velocity
	vel       vast.Column[Velocity]
	entities  []vast.Entity
}

// newVastCrowd makes an empty world of Vast, without the query. parts is the number of components of an
// entity.
func newVastCrowd(entities []vast.Entity, parts int) *vastCrowd {
	w := newSizedVastWorld(len(entities))
	pos, vel := vast.NewColumn[Position](w), vast.NewColumn[Velocity](w)
	columns := append([]vast.AnyColumn{pos, vel}, extraVast(w, parts-twoParts)...)
	return &vastCrowd{world: w, archetype: w.Archetype(columns...), columns: columns, vel: vel,
		entities: entities}
}

func (c *vastCrowd) find() *vastCrowd {
	c.all = c.world.Query(c.columns[:twoParts]...)
	return c
}

func (c *vastCrowd) renew() {
	closeVast(c.world)()
	*c = *newVastCrowd(c.entities, len(c.columns))
}

// check checks that the world holds n entities, all of them in c.entities.
func (c *vastCrowd) check(n int) error {
	matching := c.world.Query(c.columns...).Count()
	return checkCrowd(n, matching, c.world.Len(), c.entities, c.world.Alive, c.vel.Get)
}

// checkMatching checks the entities that a query finds. It does not read c.entities: a batch call does not
// set this slice, and after renew the slice still has the entities of the old world.
func (c *vastCrowd) checkMatching(n int) error {
	made := *c.find()
	made.entities = nil
	for e := range c.all.All() {
		made.entities = append(made.entities, e)
	}
	return made.check(n)
}

type arkTen = ecs.Map10[Position, Velocity, C1, C2, C3, C4, C5, C6, C7, C8]

// arkCrowd is a world of Ark for the works that create and delete entities.
type arkCrowd struct {
	world    *ecs.World
	parts    int
	two      *ecs.Map2[Position, Velocity]
	ten      *arkTen // nil if the entities have two components
	all      *ecs.Filter2[Position, Velocity]
	entities []ecs.Entity
}

// newArkCrowd makes an empty world of Ark, without the filter. parts is the number of components of an
// entity.
func newArkCrowd(entities []ecs.Entity, parts int) *arkCrowd {
	w := ecs.NewWorld(initialCapacity)
	c := &arkCrowd{world: w, parts: parts, two: ecs.NewMap2[Position, Velocity](w), entities: entities}
	if parts == tenParts {
		c.ten = c.ten.New(w)
	}
	return c
}

func (c *arkCrowd) find() *arkCrowd {
	c.all = ecs.NewFilter2[Position, Velocity](c.world).Register()
	return c
}

func (c *arkCrowd) renew() {
	*c = *newArkCrowd(c.entities, c.parts)
}

// complete returns the filter for the entities that have all components.
func (c *arkCrowd) complete() *ecs.Filter2[Position, Velocity] {
	complete := ecs.NewFilter2[Position, Velocity](c.world)
	if c.ten != nil {
		complete.With(ecs.C[C1](), ecs.C[C2](), ecs.C[C3](), ecs.C[C4](), ecs.C[C5](), ecs.C[C6](),
			ecs.C[C7](), ecs.C[C8]())
	}
	return complete
}

// check checks that the world holds n entities, all of them in c.entities.
func (c *arkCrowd) check(n int) error {
	return checkCrowd(n, countArk(c.complete()), c.world.Stats().Entities.Used, c.entities, c.world.Alive,
		func(e ecs.Entity) *Velocity {
			_, v := c.two.Get(e)
			return v
		})
}

// checkMatching checks the entities that a query finds, see vastCrowd.checkMatching.
func (c *arkCrowd) checkMatching(n int) error {
	made := *c
	made.entities = nil
	query := ecs.NewFilter2[Position, Velocity](c.world).Query()
	for query.Next() {
		made.entities = append(made.entities, query.Entity())
	}
	return made.check(n)
}

// checkCrowd checks that a world holds n entities, and that the X values of their velocities add up to zero.
// matching is the number of entities that a query finds, and total the number of entities in the world. Both
// must be n, and n of the given entities must be alive.
func checkCrowd[E any](n, matching, total int, entities []E, isAlive func(E) bool,
	velocity func(E) *Velocity) error {
	alive, sum := 0, 0.0
	for _, e := range entities {
		if isAlive(e) {
			alive++
			sum += velocity(e).X
		}
	}
	if matching != n || total != n || alive != n || sum != 0 {
		return fmt.Errorf("want %d entities: %d match, %d are in the world, %d are alive; their velocities "+
			"add up to %v, want 0", n, matching, total, alive, sum)
	}
	return nil
}

// crowdSide makes a side from the function work, which creates or deletes n entities, and from the function
// undo, which reverses the work. The number want is the number of entities that the world must have after the
// work: n or 0. After undo, the world must have n - want entities.
func crowdSide[C any](c *C, n int, work, undo func(*C), want int, check func(n int) error) side {
	return side{
		units:  n,
		sample: timeWork(c, work, undo),
		check: func(int) error {
			work(c)
			if err := check(want); err != nil {
				return fmt.Errorf("after the work: %w", err)
			}
			undo(c)
			if err := check(n - want); err != nil {
				return fmt.Errorf("after undoing the work: %w", err)
			}
			return nil
		},
	}
}

func (c *vastCrowd) side(work, undo func(*vastCrowd), want int, check func(n int) error) side {
	made := crowdSide(c, len(c.entities), work, undo, want, check)
	made.close = func() { closeVast(c.world)() } // reads c.world late, because renew replaces it
	return made
}

func (c *arkCrowd) side(work, undo func(*arkCrowd), want int, check func(n int) error) side {
	return crowdSide(c, len(c.entities), work, undo, want, check)
}
