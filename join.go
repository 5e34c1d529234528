package vast

import (
	"fmt"
	"slices"
)

// Links is a [Relation] or [Edges]. Only this package implements it.
type Links interface {
	AnyColumn
	TargetColumn() AnyColumn
}

// join is a condition on the targets or the ancestors of an entity.
type join struct {
	links    linked
	relation *relation // links, if they are a relation
	from, to *column   // the columns of sources and of targets
	query    *query    // an entity must have a target, or an ancestor, that matches this query
	up       bool      // whether the join asks for an ancestor, not for a target
}

// Where returns the query that also asks for a target that matches another query. With a [Relation] an entity
// has one target. With [Edges] one of its targets must match. The query of the targets may have conditions of
// its own, so conditions reach over several links:
//
//	inRich := w.Query(ship).Where(dockedAt, w.Query(port).Where(ownedBy, w.Query(rich)))
//
// Where panics if rel is nil, if rel or targets belongs to another world, and if the query excludes rel by
// [Query.Without].
//
// A loop looks at the targets when it begins. If the loop writes, disables or enables targets, it may yield
// their sources or not.
//
// Complexity: running the query runs the query of the targets first. Then it takes one step for each source
// of the matching targets, for each source of the other targets of a relation, or for each entity that meets
// the other conditions, whichever it expects to be fastest. If all targets match, or none, it takes no step.
// If few entities meet the other conditions, running the query looks at the targets of each entity instead,
// and does not run the query of the targets. [Query.Plan] shows the choice. For each Where, a loop keeps 2
// bits for each slot of the world, in memory that the world reuses until [World.Trim]. [Query.Batches]
// allocates this memory.
func (q Query) Where(rel Links, targets Query) Query {
	return q.join("Query.Where", rel, targets, false)
}

// Up returns the query that also asks for an ancestor that has all the given components. The ancestors of an
// entity are its target in rel, the target's target, and so on. [Relation.Nearest] finds the nearest such
// ancestor of an entity. Up panics if no column is given, if the relation has RelationOptions.Cyclic, and if
// a column or the relation has a fault that [World.Query] or [Query.Where] rejects.
//
// The rules of Where hold. Complexity: running the query takes one step for each entity with a target, or one
// step for each ancestor of the entities that meet the other conditions, whichever it expects to be faster.
func (q Query) Up(rel Relation, cols ...AnyColumn) Query {
	const method = "Query.Up"
	if q.q == nil {
		panic(zeroQuery)
	}
	rel.made().mustBeHierarchy("Up")
	if len(cols) == 0 {
		panic("vast: Query.Up: no column is given: name at least one, or ask for the relation")
	}
	q.q.world.mustBeOpen(method)
	ancestors := q.q.world.allTerms()
	ancestors.name(method, asked, cols...)
	return q.join(method, rel, ancestors.compile(), true)
}

// join returns the query with one more join.
func (q Query) join(method string, rel Links, targets Query, up bool) Query {
	made := q.clone(method)
	if rel == nil {
		panic(fmt.Sprintf("vast: %s: there is no relation: give a Relation or Edges", method))
	}
	ends := rel.TargetColumn()
	made.name(method, implied, rel)
	made.world.mustOwn(method, targets)
	chosen := targets.clone(method)
	chosen.name(method, implied, ends)
	j := &join{links: rel.column().links(), from: rel.column(), to: ends.column(), up: up}
	j.query = chosen.compile().q
	j.relation, _ = j.links.(*relation)
	made.joins = append(slices.Clip(made.joins), j)
	return made.compile()
}

// liftJoins makes the joins ignore what each Disabled switches off.
func (q *query) liftJoins() {
	lifted := make([]*join, len(q.joins))
	for i, j := range q.joins {
		one := *j
		one.query = Query{j.query}.lift("Query").q
		lifted[i] = &one
	}
	q.joins = lifted
}

// flush updates the marks for Query.Changed and the bits of groups (see kept) that the query and its joins
// use.
func (q *query) flush() {
	if q.flushes {
		q.flushDirty()
	}
	for _, j := range q.joins {
		j.query.flush()
	}
}

// has reports whether the entity in a slot matches the query. The caller has called flush.
func (q *query) has(slot uint32) bool {
	if q.epoch != q.world.epoch {
		q = q.renew()
	}
	word, mask := slot/64, uint64(1)<<(slot%64)
	if mask &= q.filter.All(uint(word)); mask == 0 || q.plain {
		return mask != 0
	}
	return q.inRange(uint(word), mask) != 0 && q.hasListed(slot) && q.hasTargets(slot) && q.hasJoins(slot) &&
		q.others(word, mask) == 0
}

// hasListed reports whether the query has no list, or a list that names the entity in a slot.
func (q *query) hasListed(slot uint32) bool {
	if q.list == nil {
		return true
	}
	_, found := slices.BinarySearchFunc(q.list, Entity{slot, *q.world.generation(slot)}, bySlot)
	return found
}

// hasJoins reports whether an entity meets the query's joins.
func (q *query) hasJoins(slot uint32) bool {
	for _, j := range q.joins {
		if !j.leads(slot, members{q: j.query}) {
			return false
		}
	}
	return true
}

// members is a set of slots: the slots of the bits, or the matches of the query if q is not nil.
type members struct {
	bits []uint64
	q    *query
}

func (m members) has(slot uint32) bool {
	if m.q != nil {
		return m.q.has(slot)
	}
	return m.bits[slot/64]>>(slot%64)&1 != 0
}

// leads reports whether a target of the source, or an ancestor if the join goes up, is in the set.
func (j *join) leads(source uint32, to members) bool {
	if !j.up {
		return j.links.leads(source, to)
	}
	k := j.relation
	for k.sources.hasAt(source) {
		source = k.target(source).slot
		if to.has(source) {
			return true
		}
	}
	return false
}

// leads reports whether the target of a source is in the set.
func (k *relation) leads(source uint32, to members) bool {
	return k.sources.hasAt(source) && to.has(k.target(source).slot)
}

// leads reports whether one of the targets of a source is in the set.
func (s *edges[T]) leads(source uint32, to members) bool {
	if !s.sources.hasAt(source) {
		return false
	}
	for h := s.ends(s.sources, source).first; !h.IsZero(); {
		one := s.pool.Get(h)
		if to.has(one.to) {
			return true
		}
		h = one.nextOut
	}
	return false
}

// markSources sets the bits of the sources of a target.
func (k *relation) markSources(bits []uint64, target uint32) {
	for slot := k.family(target).first; slot != none; slot = k.link(slot).next {
		bits[slot/64] |= 1 << (slot % 64)
	}
}

func (s *edges[T]) markSources(bits []uint64, target uint32) {
	for h := s.ends(s.targets, target).first; !h.IsZero(); {
		one := s.pool.Get(h)
		bits[one.from/64] |= 1 << (one.from % 64)
		h = one.nextIn
	}
}

func (k *relation) countSources(target uint32) int { return int(k.family(target).count) }
func (s *edges[T]) countSources(target uint32) int { return int(s.ends(s.targets, target).count) }
