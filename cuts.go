package vast

import (
	"math"
	"math/bits"
	"sync/atomic"
)

func (q *query) ranged() bool { return q.lo > 0 || q.hi != math.MaxUint }

// cuts reports whether the query cuts the runs of its source into parts.
func (q *query) cuts() bool { return q.sifts() || len(q.optional) > 0 }

// nextPart moves the cursor to the next part of the source's runs and reports whether there is one.
func (k *walk) nextPart() bool {
	for {
		for lo := k.cursor.Hi; lo < k.end; {
			hi := k.q.alike(lo, k.end)
			if k.q.sifts() {
				from, to := k.pure(uint32(lo), uint32(hi))
				if from == to {
					lo = hi
					continue
				}
				lo, hi = uint(from), uint(to)
			}
			k.cursor.Lo, k.cursor.Hi = lo, hi
			return true
		}
		if !k.nextWhole() {
			k.release()
			return false
		}
		k.end, k.cursor.Hi = k.cursor.Hi, k.cursor.Lo
	}
}

// nextBetween is the cursor's Next, limited to the query's range.
func (k *walk) nextBetween() bool {
	for k.cursor.Next() {
		k.cursor.Lo, k.cursor.Hi = max(k.cursor.Lo, k.q.lo), min(k.cursor.Hi, k.q.hi)
		if k.cursor.Lo < k.cursor.Hi {
			return true
		}
	}
	return false
}

// inRange clears the bits of mask whose slots lie outside the query's range. mask is a set of slots of one
// word.
func (q *query) inRange(word uint, mask uint64) uint64 {
	if lo := q.lo; lo > word*64 {
		mask &= ^uint64(0) << (lo - word*64) // zero if the range begins after the word
	}
	if hi := q.hi; hi < word*64+64 {
		mask &= 1<<(max(hi, word*64)-word*64) - 1
	}
	return mask
}

// alike returns the end of the longest range of slots in [lo, hi) that begins at lo and whose entities all
// have equal sets of optional components.
func (q *query) alike(lo, hi uint) uint {
	if len(q.optional) == 0 {
		return hi
	}
	// Test lo's word in all columns first: an end inside this word is nearer than any end in a later word.
	for _, c := range q.optional {
		var here uint64
		if lo < uint(c.slots) {
			here = c.set.Load64(lo / 64)
		}
		if here>>(lo%64)&1 != 0 {
			here = ^here
		}
		if other := here >> (lo % 64); other != 0 {
			hi = min(hi, lo+uint(bits.TrailingZeros64(other)))
		}
	}
	word := lo/64*64 + 64
	if hi <= word {
		return hi
	}
	for _, c := range q.optional {
		switch {
		case c.set.Test(lo):
			hi = min(hi, c.set.NextClear(word))
		default:
			if next := c.set.Next(word); next < uint(c.slots) {
				hi = min(hi, next)
			}
		}
	}
	return hi
}

// nameIDs returns a bit set: the ids of the columns that an exact query allows.
func (q *query) nameIDs() (ids []uint64) {
	for _, c := range q.columns(asked, implied, oneOf, optional) {
		for int(c.id/64) >= len(ids) {
			ids = append(ids, 0)
		}
		ids[c.id/64] |= 1 << (c.id % 64)
	}
	return ids
}

// foreign reports whether an exact query excludes the entities that have column c. It excludes no entity for
// the tag of a Disabled and for an internal column, because these columns do not hold components.
func (q *query) foreign(c *column) bool {
	return !c.internal && !c.switches && (int(c.id/64) >= len(q.ids) || q.ids[c.id/64]>>(c.id%64)&1 == 0)
}

// others returns the slots of mask whose entities do not meet a condition of query.where, or have a component
// that an exact query does not name. mask is a set of slots of one word, and each of these slots must hold an
// entity. others reads the columns of the word's archetype and the columns that its entities gained after
// birth. o.extra holds the ids of gained columns modulo 64, so others reads every column with such a
// remainder.
func (q *query) others(word uint32, mask uint64) (m uint64) {
	if m = q.unmet(word, mask); m == mask || !q.exact {
		return m
	}
	w := q.world
	o := w.owner(word)
	for _, c := range w.extents[o.extent].archetype.columns {
		if q.foreign(c) {
			if m |= mask & c.set.Word(uint(word)); m == mask {
				return m
			}
		}
	}
	for rest := atomic.LoadUint64(&o.extra); rest != 0; rest &= rest - 1 {
		for id := int(trailingZeros(rest)); id < len(w.columns); id += 64 {
			if c := w.columns[id]; word < c.slots/64 && q.foreign(c) {
				m |= mask & c.set.Word(uint(word))
			}
		}
	}
	return m
}

// pure returns the first range of slots in [lo, hi) whose entities meet the joins and the conditions of
// query.where and, in an exact query, have only components that the query names. If there is no such range,
// pure returns hi, hi. Each slot in [lo, hi) must hold an entity.
func (k *walk) pure(lo, hi uint32) (uint32, uint32) {
	found := false
	for at := lo; at < hi; {
		word, mask, end := wordOf(at, hi)
		others := k.others(word, mask)
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
