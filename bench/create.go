package main

import (
	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work create2comp: create n entities with Position and Velocity in a world that has held n entities before.
// Both sides create the entities one at a time and keep them in a slice. In rows of batch peers, both sides
// create all entities with one call. Deleting the entities again is not timed.
//
// Work create10comp: the same with entities that also have C1 … C8.
//
// Work create2comp_alloc: create2comp in a new world each time, so that the work includes getting memory.
// Making the world, registering its component types and dropping it are not timed.

// createVast is the timed work for Vast, one entity at a time.
//
//go:noinline
func createVast(c *vastCrowd) {
	for i := range c.entities {
		c.entities[i] = c.archetype.New()
	}
}

// createVastBatch is the timed work for Vast, with one call.
//
//go:noinline
func createVastBatch(c *vastCrowd) {
	c.archetype.NewN(len(c.entities), nil)
}

// createArk is the timed work for Ark, one entity at a time. NewEntityFn without a function leaves the
// components zero and is Ark's fastest form.
//
//go:noinline
func createArk(c *arkCrowd) {
	for i := range c.entities {
		c.entities[i] = c.two.NewEntityFn(nil)
	}
}

// createArkBatch is the timed work for Ark, with one call.
//
//go:noinline
func createArkBatch(c *arkCrowd) {
	c.two.NewBatchFn(len(c.entities), nil)
}

// createArkTen is like createArk, for ten components.
//
//go:noinline
func createArkTen(c *arkCrowd) {
	for i := range c.entities {
		c.entities[i] = c.ten.NewEntityFn(nil)
	}
}

// createArkTenBatch is like createArkBatch, for ten components.
//
//go:noinline
func createArkTenBatch(c *arkCrowd) {
	c.ten.NewBatchFn(len(c.entities), nil)
}

// newCreateVast sets up createVast.
func newCreateVast(parts int) func(n int) side {
	return func(n int) side {
		c := newVastCrowd(make([]vast.Entity, n), parts).find()
		return c.side(createVast, deleteVastBatch, n, c.check)
	}
}

// newCreateVastBatch sets up createVastBatch.
func newCreateVastBatch(parts int) func(n int) side {
	return func(n int) side {
		c := newVastCrowd(make([]vast.Entity, n), parts).find()
		return c.side(createVastBatch, deleteVastBatch, n, c.checkMatching)
	}
}

// newCreateArk sets up createArk or createArkTen.
func newCreateArk(parts int) func(n int) side {
	return func(n int) side {
		c := newArkCrowd(make([]ecs.Entity, n), parts).find()
		return c.side(arkCreator(parts), deleteArkBatch, n, c.check)
	}
}

// arkCreator returns createArk or createArkTen, by the number of components.
func arkCreator(parts int) func(*arkCrowd) {
	if parts == tenParts {
		return createArkTen
	}
	return createArk
}

// newCreateArkBatch sets up createArkBatch or createArkTenBatch.
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

// newAllocVast sets up create2comp_alloc for Vast.
func newAllocVast(create func(*vastCrowd)) func(n int) side {
	return func(n int) side {
		c := newVastCrowd(make([]vast.Entity, n), twoParts)
		return c.side(create, (*vastCrowd).renew, n, c.checkMatching)
	}
}

// newAllocArk sets up create2comp_alloc for Ark.
func newAllocArk(create func(*arkCrowd)) func(n int) side {
	return func(n int) side {
		c := newArkCrowd(make([]ecs.Entity, n), twoParts)
		return c.side(create, (*arkCrowd).renew, n, c.checkMatching)
	}
}
