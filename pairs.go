package vast

import (
	"fmt"
	"iter"
)

// Pairs yields the slot of each entity that matches the query and has a target, with the slot of the target.
// [Column.At] finds the components of both:
//
//	for s, t := range mountedOn.Pairs(w.Query(turret).Where(mountedOn, w.Query(powered))) {
//		turret.At(s).Charge += powered.At(t).Output
//	}
//
// Use [Column.TryAt] for components that the query and its [Query.Where] do not ask for. The rules and the
// order of [Query.Slots] hold. Pairs panics if the query is of another world. Complexity: as Query.Slots, and
// a few instructions for each entity.
func (r Relation) Pairs(q Query) iter.Seq2[Slot, Slot] {
	return func(yield func(source, target Slot) bool) {
		k := r.made()
		w := k.world
		w.mustOwn("Relation.Pairs", q)
		var of walk
		of.start(q.q)
		for base, mask := of.nextPiece(); mask != 0; base, mask = of.nextPiece() {
			for ; mask != 0; mask &= mask - 1 {
				slot := uint32(base) + trailingZeros(mask)
				if !k.sources.hasAt(slot) {
					continue
				}
				if !yield(Slot{slot, w}, Slot{k.target(slot).slot, w}) {
					of.release()
					return
				}
				of.check()
			}
		}
	}
}

// Nearest returns the slot of the nearest ancestor that matches the query, and whether there is one. The
// ancestors of an entity are its target, the target's target, and so on. [Column.At] finds the ancestor's
// components, so entities can inherit a component:
//
//	painted := w.Query(paint)
//	for s := range w.Query(shape).Up(partOf, paint).Slots() {
//		t, _ := partOf.Nearest(s, painted)
//		draw(shape.At(s), paint.At(t))
//	}
//
// Nearest panics if the relation has RelationOptions.Cyclic, or if the slot or the query is of another world.
// Complexity: a few steps for each ancestor up to the result. With [Query.Where] and [Query.Up] in the query,
// Nearest tests these conditions for each ancestor separately.
func (r Relation) Nearest(s Slot, q Query) (ancestor Slot, ok bool) {
	k := r.made()
	k.mustBeHierarchy("Nearest")
	w := k.world
	w.mustOwn("Relation.Nearest", q)
	if s.world != w {
		panic(fmt.Sprintf("vast: Relation.Nearest: the slot belongs to another world than %q: take slots "+
			"from a walk of this world", w.options.Name))
	}
	of := q.q.renew()
	of.flush()
	for slot := s.n; k.sources.hasAt(slot); {
		if slot = k.target(slot).slot; of.has(slot) {
			return Slot{slot, w}, true
		}
	}
	return Slot{}, false
}

// mustOwn panics if the world is closed, or if a query is zero or of another world.
func (w *World) mustOwn(method string, q Query) {
	if w.closed {
		w.mustBeOpen(method)
	}
	if q.q == nil {
		panic(zeroQuery)
	}
	if q.q.world != w {
		panic(fmt.Sprintf("vast: %s: the query belongs to another world than %q: make it with the Query "+
			"method of this world", method, w.options.Name))
	}
}
