package vast

import (
	"iter"
	"math/bits"
	"slices"
)

// InDepthOrder yields the entities that match the query and have a target, in runs of one depth, the lowest
// depth first. So each entity comes after its target, and one pass can compute values that depend on the
// target's value, such as a place in the world from a place on the ship. Nothing is sorted, because the order
// is kept as links are made. Within a depth, runs ascend by slot. Roots have no target and are not yielded;
// [Relation.Slice] returns the targets of a run. The rules of [Query.Runs] hold. InDepthOrder panics if the
// query is of another world, and for a relation with RelationOptions.Cyclic.
//
// Complexity: one step for each run, and for each 64-slot word and depth with entities of that depth.
// Entities deeper than 63 are found by their links, which costs a sort of the slots of each such depth.
// InDepthOrder allocates only for such depths, and for queries that are more than conditions on components,
// such as those with [Query.To].
func (r Relation) InDepthOrder(q Query) iter.Seq[Run] {
	return func(yield func(Run) bool) { r.made().inDepthOrder(q, yield) }
}

func (k *relation) inDepthOrder(q Query, yield func(Run) bool) {
	k.mustBeHierarchy("InDepthOrder")
	w := k.world
	var start walk
	k.sources.startAll("Relation.InDepthOrder", q, &start)
	d := depthWalk{relation: k, q: q.q}
	if !q.q.plain {
		d.chosen = make([]uint64, w.frontier)
		for word, mask := range q.Words() {
			d.chosen[word] |= mask
		}
	}
	for d.next() {
		for lo := d.lo; lo < d.hi; {
			hi := uint32(q.q.alike(uint(lo), uint(d.hi)))
			if !yield(Run{start: lo, n: hi - lo, gens: w.gens}) {
				return
			}
			w.unchanged(start.changes, "entities were walked over in the order of their depth")
			lo = hi
		}
	}
}

// depthWalk is the state of one walk in the order of depth.
type depthWalk struct {
	relation *relation
	q        *query
	chosen   []uint64 // for a query that is more than a filter, its matches by word
	lo, hi   uint32   // the current run

	level int      // the current depth - 1; relation.levels has a set for it below deep-1
	at    uint     // the next slot in the level's set; for a level without a set, the next index in slots
	slots []uint32 // of a level without a set, in ascending order
	above []uint32 // slots of the level before
	word  uint32   // the current word
	mask  uint64   // its matches that were not yielded yet
}

// next moves to the next run and reports whether there is one.
func (d *depthWalk) next() bool {
	for d.mask == 0 {
		if !d.nextWord() && !d.nextLevel() {
			return false
		}
	}
	first := uint32(bits.TrailingZeros64(d.mask))
	d.lo = d.word*64 + first
	d.hi = d.lo + d.takeFrom(first)
	for d.hi%64 == 0 && d.nextWord() && d.word*64 == d.hi && d.mask&1 != 0 {
		d.hi += d.takeFrom(0)
	}
	return true
}

// takeFrom removes the run that begins at a bit from the mask and returns its length.
func (d *depthWalk) takeFrom(bit uint32) uint32 {
	n := uint32(bits.TrailingZeros64(^(d.mask >> bit)))
	d.mask &^= (1<<n - 1) << bit
	return n
}

// nextWord moves to the next word of the current depth in which the query has matches, and reports whether
// there is one.
func (d *depthWalk) nextWord() bool {
	for {
		if d.level < deep-1 {
			if d.level >= len(d.relation.levels) {
				return false
			}
			set := d.relation.levels[d.level]
			if d.at = set.Next(d.at); d.at >= uint(set.Len()) {
				return false
			}
			d.word = uint32(d.at / 64)
			d.mask = set.Word(d.at / 64)
			d.at = d.at&^63 + 64
		} else {
			if d.at >= uint(len(d.slots)) {
				return false
			}
			d.word, d.mask = d.slots[d.at]/64, 0
			for ; d.at < uint(len(d.slots)) && d.slots[d.at]/64 == d.word; d.at++ {
				d.mask |= 1 << (d.slots[d.at] % 64)
			}
		}
		if !d.q.plain {
			d.mask &= d.chosen[d.word]
		} else {
			d.mask &= d.q.filter.All(uint(d.word))
		}
		if d.mask != 0 {
			return true
		}
	}
}

// nextLevel moves to the next depth and reports whether there is one.
func (d *depthWalk) nextLevel() bool {
	k := d.relation
	d.level++
	d.at = 0
	if d.level < deep-1 || len(k.levels) < deep {
		return d.level < len(k.levels)
	}
	d.above, d.slots = d.slots, d.above[:0]
	if d.level == deep-1 { // the level above has a set of its own
		set := k.levels[deep-2]
		for slot := set.Next(0); slot < uint(set.Len()); slot = set.Next(slot + 1) {
			d.slots = k.appendSources(d.slots, uint32(slot))
		}
	}
	for _, slot := range d.above {
		d.slots = k.appendSources(d.slots, slot)
	}
	slices.Sort(d.slots)
	return len(d.slots) > 0
}

// appendSources appends the slots of the sources of a slot's entity.
func (k *relation) appendSources(to []uint32, slot uint32) []uint32 {
	for s := k.first(slot); s != none; s = k.link(s).next {
		to = append(to, s)
	}
	return to
}
