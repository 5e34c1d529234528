package main

import (
	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work delete2comp: delete n entities with Position and Velocity, one at a time, in the order of their
// creation. In rows of the peers whose field batch is true (peers.go), both sides delete all entities with
// one call.
//
// Work delete10comp: delete2comp with entities that also have C1 … C8.
//
// The functions with go:noinline are the timed work. Between samples the entities are created again, untimed.

//go:noinline
func deleteVast(c *vastCrowd) {
	for _, e := range c.entities {
		c.world.Delete(e)
	}
}

//go:noinline
func deleteVastBatch(c *vastCrowd) {
	c.world.DeleteAll(c.all)
}

//go:noinline
func deleteArk(c *arkCrowd) {
	for _, e := range c.entities {
		c.world.RemoveEntity(e)
	}
}

//go:noinline
func deleteArkBatch(c *arkCrowd) {
	c.world.RemoveEntities(c.all.Batch(), nil)
}

func newDeleteVast(parts int, work func(*vastCrowd)) func(n int) side {
	return func(n int) side {
		c := newVastCrowd(make([]vast.Entity, n), parts).find()
		createVast(c)
		return c.side(work, createVast, 0, c.check)
	}
}

func newDeleteArk(parts int, work func(*arkCrowd)) func(n int) side {
	create := arkCreator(parts)
	return func(n int) side {
		c := newArkCrowd(make([]ecs.Entity, n), parts).find()
		create(c)
		return c.side(work, create, 0, c.check)
	}
}
