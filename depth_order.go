package vast

import (
	"iter"
	"math/bits"
	"slices"
)

// InDepthOrder yields the entities that match the query and have a target, in runs whose entities all have one depth, the
// lowest depth first: so each comes after its target, and what is computed from the target's value, such as a place in the
// world from one on the ship, can be computed in one pass. Nothing is sorted: the order is kept as links are made. Within a
// depth runs ascend by slot. Roots have no target and are not among them; [Relation.Slice] returns the targets of a run.
// The rules of [Query.Runs] hold. It panics when the query is of another world, and for a relation with
// RelationOptions.Cyclic.
//
// Complexity: one step for each run, and for each 64-slot word and depth with entities of that depth. What lies deeper than
// 63 is found by its links, which costs a sort of each depth's slots. It allocates nothing, but for such depths and for
// queries that are more than conditions on components, as [Query.To] is.
func (r Relation) InDepthOrder(q Query) iter.Seq[Run] {
	r.r.mustBeHierarchy("InDepthOrder")
	return func(yield func(Run) bool) {
		k := r.r
		var start walk
		k.sources.startAll("Relation.InDepthOrder", q, &start)
		d := depthWalk{relation: k, q: q.q, changes: k.world.changes, yield: yield}
		if q.q.apart {
			d.chosen = make([]uint64, k.world.frontier)
			for word, mask := range q.Words() {
				d.chosen[word] |= mask
			}
		}
		for i, set := range k.levels {
			if i == deep-1 {
				d.followDeep(k.levels[i-1].Next(0))
				return
			}
			for slot := set.Next(0); slot < uint(set.Len()); slot = set.Next(slot&^63 + 64) {
				if !d.word(uint32(slot/64), set.Word(slot/64)) {
					return
				}
			}
			if !d.flush() {
				return
			}
		}
	}
}

// depthWalk is the state of one walk in the order of depths.
type depthWalk struct {
	relation *relation
	q        *query
	chosen   []uint64 // by word, of a query that is more than a filter
	changes  uint64
	yield    func(Run) bool
	lo, hi   uint32 // the run that is being joined; empty where they are equal
}

// word adds those of the slots of mask in a word that the query chooses, and reports whether to go on. Words come in
// ascending order.
func (d *depthWalk) word(word uint32, mask uint64) bool {
	if d.q.apart {
		mask &= d.chosen[word]
	} else {
		mask &= d.q.filter.All(uint(word))
	}
	for mask != 0 {
		first := uint32(bits.TrailingZeros64(mask))
		after := mask + 1<<first // carries through the run
		lo, hi := word*64+first, word*64+64
		if after != 0 {
			hi = word*64 + uint32(bits.TrailingZeros64(after))
		}
		mask &= after
		if lo == d.hi && d.lo < d.hi {
			d.hi = hi
			continue
		}
		if !d.flush() {
			return false
		}
		d.lo, d.hi = lo, hi
	}
	return true
}

// flush yields the run that was joined and reports whether to go on.
func (d *depthWalk) flush() bool {
	w := d.relation.world
	if d.lo == d.hi {
		return true
	}
	run := Run{start: d.lo, n: d.hi - d.lo, gens: w.gens}
	d.lo, d.hi = 0, 0
	if !d.yield(run) {
		return false
	}
	w.unchanged(d.changes, "entities were walked over in the order of their depth")
	return true
}

// followDeep goes on below the last level that has a set of its own; slot is the first of that level, or beyond it.
func (d *depthWalk) followDeep(slot uint) {
	k := d.relation
	var depth, next []uint32
	for above := k.levels[deep-2]; slot < uint(above.Len()); slot = above.Next(slot + 1) {
		depth = k.appendSources(depth, uint32(slot))
	}
	for len(depth) > 0 {
		slices.Sort(depth)
		for i := 0; i < len(depth); {
			word, mask := depth[i]/64, uint64(0)
			for ; i < len(depth) && depth[i]/64 == word; i++ {
				mask |= 1 << (depth[i] % 64)
			}
			if !d.word(word, mask) {
				return
			}
		}
		if !d.flush() {
			return
		}
		next = next[:0]
		for _, slot := range depth {
			next = k.appendSources(next, slot)
		}
		depth, next = next, depth
	}
}

// appendSources appends the slots of the sources of a slot's entity.
func (k *relation) appendSources(to []uint32, slot uint32) []uint32 {
	for s := k.first(slot); s != none; s = k.link(s).next {
		to = append(to, s)
	}
	return to
}
