package bulk

import (
	"cmp"
	"fmt"
)

// Grow commits memory for the next n insertions, so that they cannot fail. The memory stays committed until
// these insertions were made, or until Trim or Clear. An empty index gets a table for n pairs, so that
// filling the index does not stretch the table. Grow panics when n is negative.
//
// It returns an [*vm.Error] wrapping [vm.ErrCapacity] (Options.Capacity), [vm.ErrLimit] (Options.MaxBytes or
// Options.Limit) or another error of [vm.Region.Commit]; then the index holds the same pairs.
func (x *HashIndex[K, V]) Grow(n int) error {
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on %s: a number of pairs is zero or more", n, x.plan.name))
	}
	x.mustBeOpen()
	if n > x.plan.capacity-x.len {
		return x.plan.full(opGrow, n, x.len)
	}
	if n == 0 {
		return nil
	}
	// An insertion adds at most maxInSlots+1 values to groups: its own value, and maxInSlots values of the
	// same key that leave their slots. The other two bounds: groups take only values that are in slots now or
	// are inserted, and they never have more pairs than the capacity.
	promised := x.many.span.promised
	if err := x.many.promise(min(n*(maxInSlots+1), x.used+n, x.plan.capacity-x.many.len)); err != nil {
		return err
	}
	level := levelFor(x.used + n)
	// Grow commits four times the usual number of buckets behind the last home bucket (see type buckets), so
	// that the promised insertions need no more memory there.
	if err := x.commit(opGrow, bucketCounts[level]+4*spareBuckets); err != nil {
		x.many.span.promised = promised
		_ = x.many.giveBack()
		return err
	}
	x.span.promised = max(x.span.promised, x.span.committed)
	x.promise.add(n)
	if x.used == 0 && level > x.level {
		x.clearTable()
		x.start(level)
	}
	return nil
}

// forget drops the promise of Grow.
func (x *HashIndex[K, V]) forget() {
	x.promise, x.span.promised, x.many.span.promised = promise{}, 0, 0
}

// clearTable empties the buckets and resets the table.
func (x *HashIndex[K, V]) clearTable() {
	if x.level != noLevel {
		for i := range x.firstUnreached(x.homes()) {
			*x.control(i) = 0
		}
	}
	x.reset()
}

// Trim gives back the unused memory that Grow committed. It returns an error as [vm.Region.Decommit] does;
// then the index works as before. Complexity: a few steps for each pair, to squeeze the table, if there is
// unused memory.
func (x *HashIndex[K, V]) Trim() error {
	x.mustBeOpen()
	x.forget()
	err := x.many.giveBack()
	if x.level == noLevel {
		return cmp.Or(err, x.span.shrink(0))
	}
	for x.squeeze(int(x.large)) {
	}
	return cmp.Or(err, x.shrink())
}

// Clear removes all pairs and gives the memory back.
func (x *HashIndex[K, V]) Clear() {
	x.mustBeOpen()
	x.many.clear()
	x.clearTable()
	x.len = 0
	x.forget()
	_ = x.span.shrink(0)
	x.changed()
}

// Reserved returns the bytes of addresses that the index takes; 0 after Close.
func (x *HashIndex[K, V]) Reserved() int {
	if x.ended != nil {
		return 0
	}
	return x.region.Size()
}

// Committed returns the bytes of memory that the index may touch; 0 after Close.
func (x *HashIndex[K, V]) Committed() int { return x.region.Committed() }

// Resident returns how many bytes of the index are in memory. The operating system supplies the count; see
// [vm.Region.Resident].
func (x *HashIndex[K, V]) Resident() (int, error) { return x.region.Resident() }

// Close gives the memory and the addresses back. Afterwards the methods of the index panic, except Len and
// the methods that count bytes. A second Close does nothing.
func (x *HashIndex[K, V]) Close() error {
	if x.ended != nil {
		return nil
	}
	if err := x.region.Close(); err != nil {
		return err
	}
	// In a table without memory every search ends in bucket 0 and then reaches the test for Close.
	x.reset()
	x.ended, x.len = &closedError{x.plan.name}, 0
	x.many = tree[uint32, V]{}
	return nil
}
