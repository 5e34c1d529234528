package main

import (
	"fmt"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work clone2comp: make n copies of an entity with Position and Velocity, one at a time. Ark's CopyEntity
// makes no check that the entity is alive. The rows of the peer self
// compare copies made one at a time with one call of Vast that makes all copies. The deletion of the copies
// is not timed.
//
// Work clone10comp: clone2comp with an entity that also has C1 … C8.
//
// The functions with go:noinline are the timed work.

type vastClones struct {
	*vastCrowd
	original vast.Entity
}

//go:noinline
func cloneVast(c *vastClones) {
	for i := range c.entities {
		c.entities[i] = c.world.Clone(c.original)
	}
}

//go:noinline
func cloneVastN(c *vastClones) {
	c.world.CloneN(c.original, len(c.entities), nil)
}

type arkClones struct {
	*arkCrowd
	original ecs.Entity
}

//go:noinline
func cloneArk(c *arkClones) {
	for i := range c.entities {
		c.entities[i] = c.world.CopyEntity(c.original)
	}
}

// clonedX is the Velocity.X of the original.
const clonedX = 3

// checkClones checks that the world has n copies of the original besides the original. sum is the sum of
// Velocity.X of all entities, and total is their number.
func checkClones(n, total int, sum float64) error {
	if total != n+1 || sum != float64(n+1)*clonedX {
		return fmt.Errorf("want %d entities whose velocities add up to %d: there are %d, and they add up to "+
			"%v", n+1, (n+1)*clonedX, total, sum)
	}
	return nil
}

func (c *vastClones) check(n int) error {
	sum := 0.0
	for s := range c.all.Slots() {
		sum += float64(c.vel.At(s).X)
	}
	return checkClones(n, c.all.Count(), sum)
}

func (c *vastClones) deleteClones() {
	var copies []vast.Entity
	for e := range c.all.All() {
		if e != c.original {
			copies = append(copies, e)
		}
	}
	for _, e := range copies {
		c.world.Delete(e)
	}
}

func (c *arkClones) check(n int) error {
	sum, total := 0.0, 0
	query := c.all.Query()
	for query.Next() {
		_, v := query.Get()
		sum += float64(v.X)
		total++
	}
	return checkClones(n, total, sum)
}

func (c *arkClones) deleteClones() {
	var copies []ecs.Entity
	query := c.all.Query()
	for query.Next() {
		if query.Entity() != c.original {
			copies = append(copies, query.Entity())
		}
	}
	for _, e := range copies {
		c.world.RemoveEntity(e)
	}
}

func newCloneVast(parts int, work func(*vastClones)) func(n int) side {
	return func(n int) side {
		c := &vastClones{vastCrowd: newVastCrowd(make([]vast.Entity, n+1), parts).find()}
		c.entities = c.entities[:n]
		c.original = c.archetype.New()
		c.vel.Get(c.original).X = clonedX
		made := crowdSide(c, n, work, (*vastClones).deleteClones, n, c.check)
		made.close = closeVast(c.world)
		return made
	}
}

func newCloneArk(parts int) func(n int) side {
	return func(n int) side {
		c := &arkClones{arkCrowd: newArkCrowd(make([]ecs.Entity, n), parts).find()}
		if parts == tenParts {
			c.original = c.ten.NewEntityFn(nil)
		} else {
			c.original = c.two.NewEntityFn(nil)
		}
		_, v := c.two.Get(c.original)
		v.X = clonedX
		return crowdSide(c, n, cloneArk, (*arkClones).deleteClones, n, c.check)
	}
}

func cloneMatches(parts int) []match {
	return []match{
		{peerArk, newCloneVast(parts, cloneVast), newCloneArk(parts), newEmptyArk},
		{peerSelf, newCloneVast(parts, cloneVastN), newCloneVast(parts, cloneVast), newEmptyVast},
	}
}
