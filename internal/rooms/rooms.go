// Package rooms lets package vast do with the memory of a bulk.Pool what the pool's users cannot: take growth
// back, and trim without taking room that was promised.
package rooms

// Pool is the memory of a bulk.Pool.
type Pool interface {
	// Free returns how many insertions cannot fail.
	Free() int
	// Left returns how many insertions there can be at most, with more memory.
	Left() int
	// Committed returns how much is committed.
	Committed() Committed
	// Restore gives back what was committed since Committed returned c. Nothing may have been inserted
	// meanwhile.
	Restore(c Committed)
	// Trim is the pool's own, but for the room of the next keep insertions, which stays.
	Trim(keep int) error
}

// Committed is how much memory a pool has: bytes, and bits of its set of live slots.
type Committed struct {
	Elements    int
	Generations [3]int
	Live        int
}

// Of returns the memory of a *bulk.Pool, of whatever type. Package bulk sets it.
var Of func(pool any) Pool
