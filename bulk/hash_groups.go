package bulk

// When a key gets more than maxInSlots values, these values become a group. The key then has one slot, which
// holds the number of the group instead of a value. The values of all groups are in one tree, sorted by
// group.

// addToGroup adds a value to a group and reports whether the value is new.
func (x *HashIndex[K, V]) addToGroup(group uint32, v V) bool {
	if x.len >= x.plan.capacity {
		if x.many.has(group, v) {
			return false
		}
		x.mustHaveCapacity()
	}
	added, err := x.many.add(opAdd, group, v)
	if err != nil {
		panic(err)
	}
	if added {
		x.added()
		x.changed()
	}
	return added
}

// makeGroup moves the values of a key that has maxInSlots slots, and a new value v, into a group.
func (x *HashIndex[K, V]) makeGroup(h uint64, k K, v V) {
	x.mustHaveCapacity()
	if err := x.many.makeRoom(opAdd, maxInSlots+1); err != nil {
		panic(err)
	}
	// After the numbers of groups have wrapped around, the next number may be in use.
	for x.group++; x.many.contains(x.group); x.group++ {
	}
	for at, ok := x.find(h, k); ok; at, ok = x.findNext(h, k, at) {
		x.mustAddToGroup(x.valueAt(at))
		x.removeSlot(h, at)
	}
	x.mustAddToGroup(v)
	var standIn V
	i := x.vacancy(h)
	x.put(i, h, k, standIn, manyBit)
	at, _ := x.find(h, k)
	*x.groupIn(at) = x.group
	x.used++
	x.added()
	x.squeeze(maxInSlots * squeezeStep) // because slots became empty
	x.changed()
}

// mustAddToGroup adds a value to group x.group. The tree must have room for the value.
func (x *HashIndex[K, V]) mustAddToGroup(v V) {
	if _, err := x.many.add(opAdd, x.group, v); err != nil {
		panic(err)
	}
}

// removeFromGroup removes a value from a group, and reports whether the group had the value. at is the slot
// that stands for the group. If fewer than fewestInGroup values remain, they get slots again.
func (x *HashIndex[K, V]) removeFromGroup(h uint64, k K, at place, v V) bool {
	group := *x.groupIn(at)
	removed, near := x.many.removeBeside(group, v)
	if !removed {
		return false
	}
	x.len--
	// near counts a part of the other values. If near is large enough, hasFewer need not count all of them.
	if near < fewestInGroup && x.many.hasFewer(group, fewestInGroup) {
		x.endGroup(h, k, group)
	}
	// The table may be too empty, because a promise of Grow prevented squeezing when groups were made.
	x.squeeze(squeezeStep)
	x.changed()
	return true
}

// endGroup moves the values of a group, fewer than fewestInGroup, into slots. If there is no room for slots,
// the values stay in the group.
func (x *HashIndex[K, V]) endGroup(h uint64, k K, group uint32) {
	var left [fewestInGroup]V
	n := 0
	var values []V
	for leaf, at, ok := x.many.find(group); ok; at = 0 {
		values, leaf, ok = x.many.run(group, leaf, at)
		n += copy(left[n:], values)
	}
	if n > 0 && x.makeSlots(n) != nil {
		return
	}
	at, _ := x.find(h, k) // the slot may have moved
	x.removeSlot(h, at)
	for _, v := range left[:n] {
		x.many.remove(group, v)
		x.put(x.vacancy(h), h, k, v, 0)
		x.used++
	}
	if !x.squeeze(squeezeStep) && x.moving {
		_ = x.stretch(opAdd, n*stretchStep)
	}
}

// makeSlots makes room for n more slots.
func (x *HashIndex[K, V]) makeSlots(n int) error {
	if x.used+n > x.room {
		if err := x.enlarge(opAdd); err != nil {
			return err
		}
	}
	return x.makeSpare(opAdd, n)
}

// allOfGroup yields the values of a group and reports whether the loop continues. It panics with the name of
// the loop if the body changes the index.
func (x *HashIndex[K, V]) allOfGroup(loop string, group uint32, yield func(V) bool) bool {
	changes := x.changes
	var values []V
	for leaf, at, ok := x.many.find(group); ok; at = 0 {
		values, leaf, ok = x.many.run(group, leaf, at)
		for _, v := range values {
			more := yield(v)
			x.mustBeUnchanged(changes, loop)
			if !more {
				return false
			}
		}
	}
	return true
}

func (x *HashIndex[K, V]) firstOfGroup(group uint32) (v V, ok bool) {
	leaf, at, ok := x.many.find(group)
	if ok {
		v = x.many.values(leaf)[at]
	}
	return v, ok
}
