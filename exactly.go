package vast

// Exactly returns the query that also leaves out the entities that have any component that it does not name, in
// [World.Query], [Query.Any] or [Query.Optional]; columns registered later are others too. Without any column it matches
// the entities that have no component at all.
//
// Complexity: one step for each 64-slot word that matches otherwise, and one for each component that the entities there
// were born with or were given and that the query does not name. How many columns the world has does not matter.
func (q Query) Exactly() Query {
	if q.q == nil {
		panic(zeroQuery)
	}
	q.q.world.mustBeOpen("Query.Exactly")
	made := *q.q
	made.exact = true
	made.build()
	return Query{&made}
}

// named returns the numbers of the columns that entities of an exact query may have, as a set of bits.
func (q *query) named() (ids []uint64) {
	for _, group := range append(q.any[:len(q.any):len(q.any)], q.with, q.optional) {
		for _, c := range group {
			for int(c.id/64) >= len(ids) {
				ids = append(ids, 0)
			}
			ids[c.id/64] |= 1 << (c.id % 64)
		}
	}
	return ids
}

// foreign reports whether a component keeps entities out of an exact query.
func (q *query) foreign(c *column) bool {
	return !c.internal && (int(c.id/64) >= len(q.ids) || q.ids[c.id/64]>>(c.id%64)&1 == 0)
}

// others returns which slots of mask in a word, which hold entities, have components that an exact query does not name.
// It looks where the world knows that there may be some: at the columns that the word's entities were born with, and at
// those added there.
func (q *query) others(word uint32, mask uint64) (m uint64) {
	w := q.world
	o := w.owner(word)
	for _, c := range w.extents[o.extent].archetype.columns {
		if q.foreign(c) {
			if m |= mask & c.set.Word(uint(word)); m == mask {
				return m
			}
		}
	}
	for extra := o.extra; extra != 0; extra &= extra - 1 {
		for id := int(trailingZeros(extra)); id < len(w.columns); id += 64 {
			if c := w.columns[id]; word < c.slots/64 && q.foreign(c) {
				m |= mask & c.set.Word(uint(word))
			}
		}
	}
	return m
}

// pure returns the first stretch among the slots [lo, hi), which all hold entities, where none has components that an exact
// query does not name; hi and hi where there is none.
func (q *query) pure(lo, hi uint32) (uint32, uint32) {
	found := false
	for at := lo; at < hi; {
		word, mask, end := wordOf(at, hi)
		others := q.others(word, mask)
		if !found {
			if mask &^= others; mask == 0 {
				at = end
				continue
			}
			found = true
			lo = word*64 + trailingZeros(mask)
			others &= ^uint64(0) << (lo % 64)
		}
		if others != 0 {
			return lo, word*64 + trailingZeros(others)
		}
		at = end
	}
	if !found {
		return hi, hi
	}
	return lo, hi
}
