package vast

import (
	"cmp"
	"fmt"
	"slices"
)

// condition is a target that the entities of a query are to have.
type condition struct {
	relation *relation
	target   Entity
}

// To returns the query that also asks for those whose target in the relation is the given one. Called again it asks for a
// target in another relation too. It panics when the relation is of another world, is left out by the query, or has a
// target in it already. A target that is stale has no sources, so nothing matches.
//
// Running such a query costs a step for each source of the target, however many there are of others, and yields in the
// order in which they were related, not by slot; what is consecutive in both comes as one run. [Query.First] is the first
// in that order. [Query.Words], [Query.Batches] and [Relation.InDepthOrder] go by slot, and look at all entities that have
// a target.
func (q Query) To(rel Relation, target Entity) Query {
	if q.q == nil {
		panic(zeroQuery)
	}
	w := q.q.world
	w.mustBeOpen("Query.To")
	c := w.columnsOf("Query.To", []AnyColumn{rel})[0]
	if slices.Contains(q.q.minus, c) {
		panic(fmt.Sprintf("vast: Query.To: the query leaves %s out, so nothing is left", c.name))
	}
	for _, other := range q.q.to {
		if other.relation == rel.r {
			panic(fmt.Sprintf("vast: Query.To: the query asks for a target in %s already, and no entity has two", c.name))
		}
	}
	made := *q.q
	if !slices.Contains(made.with, c) {
		made.with = append(slices.Clip(made.with), c)
	}
	made.to = append(slices.Clip(made.to), condition{rel.r, target})
	made.build()
	return Query{&made}
}

// relatedWalk is the part of a walk over the sources of a target.
type relatedWalk struct {
	list   *condition // whose sources are walked over
	mask   uint64     // what the query's other conditions choose in word
	word   uint32     // the one that mask was read from; none before the first
	next   uint32     // the next source; by slot, the next slot of the filter's run; of a pinned query the next run
	end    uint32     // by slot, the end of that run
	bySlot bool       // whether it goes by slot instead of by links
}

// startRelated chooses the target with the fewest sources.
func (k *walk) startRelated() {
	k.related = relatedWalk{word: none, next: none}
	fewest := none
	for i := range k.q.to {
		t := &k.q.to[i]
		if !t.relation.targets.has(t.target) {
			k.related.list, k.related.next = t, none
			return
		}
		if f := t.relation.family(t.target.slot); i == 0 || f.count < fewest {
			k.related.list, k.related.next, fewest = t, f.first, f.count
		}
	}
}

// nextRelated is next for a query with targets. It reads a source's link before the source is handed out.
func (k *walk) nextRelated() bool {
	r := &k.related
	if r.bySlot {
		return k.nextBySlot()
	}
	relation := r.list.relation
	for r.next != none {
		lo := r.next
		r.next = relation.link(lo).next
		if !k.matches(lo) {
			continue
		}
		hi := lo + 1
		for r.next == hi && k.matches(hi) {
			r.next = relation.link(hi).next
			hi++
		}
		k.cursor.Lo, k.cursor.Hi = uint(lo), uint(hi)
		return true
	}
	return false
}

// matches reports whether a source of the list fulfils the query's other conditions.
func (k *walk) matches(slot uint32) bool {
	r := &k.related
	if word := slot / 64; word != r.word {
		r.word, r.mask = word, k.q.filter.All(uint(word))
	}
	return r.mask>>(slot%64)&1 != 0 && (len(k.q.to) == 1 || k.hasTargets(slot))
}

// hasTargets reports whether a slot's entity, which has targets in all relations that the query asks for, has the right ones.
func (k *walk) hasTargets(slot uint32) bool {
	for i := range k.q.to {
		if t := &k.q.to[i]; *t.relation.target(slot) != t.target {
			return false
		}
	}
	return true
}

// nextBySlot is nextRelated in ascending order, through all that the filter chooses.
func (k *walk) nextBySlot() bool {
	r := &k.related
	if r.word == none { // at the beginning
		r.word, r.next, r.end = 0, 0, 0
	}
	for {
		for r.next < r.end && !k.hasTargets(r.next) {
			r.next++
		}
		if r.next < r.end {
			lo := r.next
			for r.next < r.end && k.hasTargets(r.next) {
				r.next++
			}
			k.cursor.Lo, k.cursor.Hi = uint(lo), uint(r.next)
			return true
		}
		if !k.nextBetween() {
			return false
		}
		r.next, r.end = uint32(k.cursor.Lo), uint32(k.cursor.Hi)
	}
}

// keepRelated returns those of the slots of mask in a word whose entities have the targets that the query asks for.
func (k *walk) keepRelated(word uint, mask uint64) uint64 {
	for m := mask; m != 0; m &= m - 1 {
		if !k.hasTargets(uint32(word)*64 + trailingZeros(m)) {
			mask &^= m & -m
		}
	}
	return mask
}

// pin returns a query for what q matches now, by slot, whatever changes while it runs.
func (q Query) pin() Query {
	made := query{world: q.q.world, filter: q.q.filter, apart: true, pinned: []Run{}}
	for run := range q.Runs() {
		made.pinned = append(made.pinned, run)
	}
	slices.SortFunc(made.pinned, func(a, b Run) int { return cmp.Compare(a.start, b.start) })
	return Query{&made}
}

// nextPinned is next for a query that was pinned.
func (k *walk) nextPinned() bool {
	r := &k.related
	if r.end == uint32(len(k.q.pinned)) {
		return false
	}
	run := k.q.pinned[r.end]
	r.end++
	k.cursor.Lo, k.cursor.Hi = uint(run.start), uint(run.start+run.n)
	return true
}
