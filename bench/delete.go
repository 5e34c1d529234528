package main

// Work delete2comp: delete n entities with Position and Velocity, one by one in the order of their creation (ark), or by
// one call for all that match a query (ark-batch).
//
// Creating them again is not timed; they are created one by one in either case.

// deleteVast is the timed work, one by one.
//
//go:noinline
func deleteVast(c *vastCrowd) {
	for _, e := range c.entities {
		c.world.Delete(e)
	}
}

// deleteVastBatch is the timed work by one call.
//
//go:noinline
func deleteVastBatch(c *vastCrowd) {
	c.world.DeleteAll(c.all)
}

// deleteArk is the timed work, one by one.
//
//go:noinline
func deleteArk(c *arkCrowd) {
	for _, e := range c.entities {
		c.world.RemoveEntity(e)
	}
}

// deleteArkBatch is the timed work by one call.
//
//go:noinline
func deleteArkBatch(c *arkCrowd) {
	c.world.RemoveEntities(c.all.Batch(), nil)
}

// newDeleteVast sets the work up for Vast, one by one.
func newDeleteVast(n int) side {
	return deleteVastSide(n, deleteVast)
}

// newDeleteVastBatch sets the work up for Vast, by one call.
func newDeleteVastBatch(n int) side {
	return deleteVastSide(n, deleteVastBatch)
}

// deleteVastSide fills a world of Vast.
func deleteVastSide(n int, work func(*vastCrowd)) side {
	c := newVastCrowd(n)
	createVast(c)
	return crowdSide(c, n, work, createVast, 0, c.check, closeVast(c.world))
}

// newDeleteArk sets the work up for Ark, one by one.
func newDeleteArk(n int) side {
	return deleteArkSide(n, deleteArk)
}

// newDeleteArkBatch sets the work up for Ark, by one call.
func newDeleteArkBatch(n int) side {
	return deleteArkSide(n, deleteArkBatch)
}

// deleteArkSide fills a world of Ark.
func deleteArkSide(n int, work func(*arkCrowd)) side {
	c := newArkCrowd(n)
	createArk(c)
	return crowdSide(c, n, work, createArk, 0, c.check, nil)
}
