package vast

// Between returns the query that matches only the slots from lo to below hi, so that a walk over a large world can be cut
// into parts, such as one for each [World.Visit], and gone on with where it ended. Called again, slots must be in both
// ranges. Any range is allowed: where it holds no slots nothing matches. [World.Slots] says where slots end.
//
// The query may be used as any other. It goes by slot, also with [Query.To], where it looks at all entities in the range
// that have a target. Complexity: Between copies the query's few words; what running it costs does not depend on what lies
// outside the range, but for what [Query.Changed] says of its start.
func (q Query) Between(lo, hi int) Query {
	if q.q == nil {
		panic(zeroQuery)
	}
	q.q.world.mustBeOpen("Query.Between")
	made := *q.q
	made.ranged, made.apart = true, true
	made.lo = max(made.lo, uint(max(lo, 0)))
	made.hi = max(min(made.hi, uint(max(hi, 0))), made.lo)
	return Query{&made}
}

// startBetween sets the cursor before the query's range, or before the part of it that lies in the words [lo, end).
func (k *walk) startBetween(lo, end uint) {
	k.cursor.StartAt(&k.q.filter, max(lo, k.q.lo/64), min(end, k.q.hi/64+1))
	k.related.bySlot = true
}

// nextBetween is the cursor's Next, kept to the query's range.
func (k *walk) nextBetween() bool {
	for k.cursor.Next() {
		k.cursor.Lo, k.cursor.Hi = max(k.cursor.Lo, k.q.lo), min(k.cursor.Hi, k.q.hi)
		if k.cursor.Lo < k.cursor.Hi {
			return true
		}
	}
	return false
}

// inRange returns the slots of mask in a word that lie in the query's range.
func (q *query) inRange(word uint, mask uint64) uint64 {
	if lo := q.lo; lo > word*64 {
		mask &= ^uint64(0) << (lo - word*64) // none where the range begins behind the word
	}
	if hi := q.hi; hi < word*64+64 {
		mask &= 1<<(max(hi, word*64)-word*64) - 1
	}
	return mask
}
