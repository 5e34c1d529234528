package vast

import (
	"fmt"
	"unsafe"
)

// keyColumn returns the column of MoveOptions.By, or nil. Its elements begin with a key of 4 bytes: the
// number of a shared value, or the slot of a target.
func (w *World) keyColumn(method string, o MoveOptions) *column {
	if o.By == nil {
		return nil
	}
	c := w.columnsOf(method, []AnyColumn{o.By})[0]
	_, shared := c.store.(*sharedStore)
	switch {
	case !shared && c.relation() == nil:
		panic(fmt.Sprintf("vast: %s: MoveOptions.By is %s: give a shared.Column or a Relation", method,
			c.name))
	case o.Most > 0:
		panic(fmt.Sprintf("vast: %s: MoveOptions has By and Most: leave Most out, because a part of the "+
			"entities cannot be brought together", method))
	}
	return c
}

// scattered returns the matches that should move so that entities with equal keys lie together. For each
// archetype, scattered returns all matches that have a key, in the order of keys. It leaves out an archetype
// that has at most two runs for each key on average.
func (w *World) scattered(q Query, by *column) (groups []group) {
	type keyed struct {
		slots []ranked
		runs  int // number of runs of equal keys
	}
	found := make(map[*Archetype]*keyed)
	var order []*Archetype // so that the result does not depend on the order of the map
	for word, mask := range q.Words() {
		if mask &= by.now(uint32(word)); mask == 0 {
			continue
		}
		a := w.extents[w.owner(uint32(word)).extent].archetype
		k := found[a]
		if k == nil {
			k = new(keyed)
			found[a], order = k, append(order, a)
		}
		for ; mask != 0; mask &= mask - 1 {
			slot := uint32(word)*64 + trailingZeros(mask)
			key := uint64(*(*uint32)(unsafe.Add(by.base, uintptr(slot)*uintptr(by.bytes))))
			if n := len(k.slots); n == 0 || k.slots[n-1].rank != key {
				k.runs++
			}
			k.slots = append(k.slots, ranked{key, slot})
		}
	}
	var buffer []ranked
	for _, a := range order {
		k := found[a]
		k.slots, buffer = sortRanked(k.slots, buffer)
		keys, g := 0, group{archetype: a}
		for i, r := range k.slots {
			if i == 0 || r.rank != k.slots[i-1].rank {
				keys++
			}
			g.slots = append(g.slots, r.slot)
		}
		if k.runs > 2*keys {
			groups = append(groups, g)
		}
	}
	return groups
}
