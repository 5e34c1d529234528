package bulk

// A key that gets more than maxInSlots values gets one slot for all of them. The slot holds the number of a
// group instead of a value. The values of all groups are in one tree, in the order of groups.

// addToGroup adds a value to a group.
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
	// The numbers of groups wrap around, so the next number may be in use.
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
	// All but one of the slots became empty.
	x.squeeze(maxInSlots * squeezeStep)
	x.changed()
}

// mustAddToGroup adds a value to the group that makeGroup is making. The tree has room for it.
func (x *HashIndex[K, V]) mustAddToGroup(v V) {
	if _, err := x.many.add(opAdd, x.group, v); err != nil {
		panic(err)
	}
}

// removeFromGroup removes a value from the group of a key; the parameter at is the group's slot. If fewer
// than fewestInGroup values remain, they get slots again.
func (x *HashIndex[K, V]) removeFromGroup(h uint64, k K, at place, v V) bool {
	group := *x.groupIn(at)
	removed, beside := x.many.removeBeside(group, v)
	if !removed {
		return false
	}
	x.len--
	if beside < fewestInGroup && x.many.hasFewer(group, fewestInGroup) {
		x.endGroup(h, k, group)
	}
	// The table may be too empty, because groups were made while a promise of Grow prevented squeezing.
	x.squeeze(squeezeStep)
	x.changed()
	return true
}

// endGroup moves the values of a key, fewer than fewestInGroup, from their group into slots. If no room can
// be made for them, they stay in the group.
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

// allOfGroup calls yield with the values of a group until yield returns false, and returns the last result of
// yield. loop names the loop in the panic if its body changes the index.
func (x *HashIndex[K, V]) allOfGroup(loop string, group uint32, yield func(V) bool) bool {
	changes := x.changes
	var values []V
	for leaf, at, ok := x.many.find(group); ok; at = 0 {
		values, leaf, ok = x.many.run(group, leaf, at)
		for _, v := range values {
			more := yield(v)
			x.mustBe(changes, loop)
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
