package main

import (
	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work create2comp: create n entities with Position and Velocity in a world that has held n entities before.
// Both sides create the entities one at a time and keep them in a slice. If the field batch of the peer is
// set (see peers.go), both sides create all entities with one call. The deletion of the entities is not
// timed.
//
// Work create10comp: create2comp with entities that also have C1 … C8.
//
// Work create2comp_alloc: create2comp in a new world each time, so that the work includes getting memory.
// Making the world, registering its component types and dropping it are not timed.
//
// The functions with go:noinline are the timed work.

//go:noinline
func createVast(c *vastCrowd) {
	for i := range c.entities {
		c.entities[i] = c.archetype.New()
	}
}

//go:noinline
func createVastBatch(c *vastCrowd) {
	c.archetype.NewN(len(c.entities), nil)
}

// NewEntityFn without a function leaves the components zero and is Ark's fastest form.
//
//go:noinline
func createArk(c *arkCrowd) {
	for i := range c.entities {
		c.entities[i] = c.two.NewEntityFn(nil)
	}
}

//go:noinline
func createArkBatch(c *arkCrowd) {
	c.two.NewBatchFn(len(c.entities), nil)
}

//go:noinline
func createArkTen(c *arkCrowd) {
	for i := range c.entities {
		c.entities[i] = c.ten.NewEntityFn(nil)
	}
}

//go:noinline
func createArkTenBatch(c *arkCrowd) {
	c.ten.NewBatchFn(len(c.entities), nil)
}

func newCreateVast(parts int) func(n int) side {
	return func(n int) side {
		c := newVastCrowd(make([]vast.Entity, n), parts).find()
		return c.side(createVast, deleteVastBatch, n, c.check)
	}
}

func newCreateVastBatch(parts int) func(n int) side {
	return func(n int) side {
		c := newVastCrowd(make([]vast.Entity, n), parts).find()
		return c.side(createVastBatch, deleteVastBatch, n, c.checkMatching)
	}
}

func newCreateArk(parts int) func(n int) side {
	return func(n int) side {
		c := newArkCrowd(make([]ecs.Entity, n), parts).find()
		return c.side(arkCreator(parts), deleteArkBatch, n, c.check)
	}
}

func arkCreator(parts int) func(*arkCrowd) {
	if parts == tenParts {
		return createArkTen
	}
	return createArk
}

func newCreateArkBatch(parts int) func(n int) side {
	create := createArkBatch
	if parts == tenParts {
		create = createArkTenBatch
	}
	return func(n int) side {
		c := newArkCrowd(make([]ecs.Entity, n), parts).find()
		return c.side(create, deleteArkBatch, n, c.checkMatching)
	}
}

func newAllocVast(create func(*vastCrowd)) func(n int) side {
	return func(n int) side {
		c := newVastCrowd(make([]vast.Entity, n), twoParts)
		return c.side(create, (*vastCrowd).renew, n, c.checkMatching)
	}
}

func newAllocArk(create func(*arkCrowd)) func(n int) side {
	return func(n int) side {
		c := newArkCrowd(make([]ecs.Entity, n), twoParts)
		return c.side(create, (*arkCrowd).renew, n, c.checkMatching)
	}
}
