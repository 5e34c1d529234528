package vast

import (
	"fmt"
	"iter"
	"strings"
)

// mustBeHierarchy panics if the relation may have circles, because following the links of a circle never
// ends.
func (k *relation) mustBeHierarchy(what string) {
	if k.cyclic {
		k.noHierarchy(what)
	}
}

//go:noinline
func (k *relation) noHierarchy(what string) {
	panic(fmt.Sprintf("vast: Relation.%s: %s was made with RelationOptions.Cyclic, so following its links "+
		"may never end: use Target and Sources", what, k.sources.name))
}

// Ancestors yields the target of e, then the target's target, and so on up to the root. If the structure of
// the world changes, the next step panics, as in [Relation.Sources].
func (r Relation) Ancestors(e Entity) iter.Seq[Entity] {
	return func(yield func(Entity) bool) { r.made().ancestors(e, yield) }
}

func (k *relation) ancestors(e Entity, yield func(Entity) bool) {
	k.mustBeHierarchy("Ancestors")
	before := k.world.changes
	for k.sources.has(e) {
		e = *k.target(e.slot)
		if !yield(e) {
			return
		}
		k.world.unchanged(before, "ancestors were walked over")
	}
}

// Descendants yields the sources of e, the sources of these sources, and so on, depth first. Each entity
// comes after its target. The sources of a target come in the order of Sources. Descendants needs no stack.
// If the structure of the world changes, the next step panics, as in [Relation.Sources].
func (r Relation) Descendants(e Entity) iter.Seq[Entity] {
	return func(yield func(Entity) bool) { r.made().descendants(e, yield) }
}

func (k *relation) descendants(e Entity, yield func(Entity) bool) {
	k.mustBeHierarchy("Descendants")
	if !k.targets.has(e) {
		return
	}
	before := k.world.changes
	for slot := k.first(e.slot); slot != none; slot = k.following(slot, e.slot, true) {
		if !yield(k.entity(slot)) {
			return
		}
		k.world.unchanged(before, "descendants were walked over")
	}
}

// Root returns the last of e's ancestors, e itself if e has no ancestors, or the zero Entity if e is stale.
// Complexity: linear in the number of ancestors.
func (r Relation) Root(e Entity) Entity {
	k := r.made()
	k.mustBeHierarchy("Root")
	if !k.world.Alive(e) {
		return Entity{}
	}
	for k.sources.has(e) {
		e = *k.target(e.slot)
	}
	return e
}

// Depth returns the number of e's ancestors. It returns 0 for a root and for a stale entity. Complexity:
// constant for a depth of 63 or less, otherwise linear in the number of ancestors at depth 64 or deeper.
func (r Relation) Depth(e Entity) int {
	k := r.made()
	k.mustBeHierarchy("Depth")
	if !k.sources.has(e) {
		return 0
	}
	slot, n := e.slot, 0
	for k.link(slot).level == deep {
		slot = k.target(slot).slot
		n++
	}
	return n + int(k.link(slot).level)
}

// mustNotClose panics if a link from source to target would close a circle, that is, if source is target or
// an ancestor of target.
func (k *relation) mustNotClose(source, target Entity) {
	slot := target.slot
	for slot != source.slot && k.level(slot) > 0 {
		slot = k.target(slot).slot
	}
	if slot == source.slot {
		panic(k.circle(source, target))
	}
}

// circle returns the message about the circle that a link from source to target would close.
func (k *relation) circle(source, target Entity) string {
	path := []Entity{source, target}
	for e := target; e != source; {
		e = *k.target(e.slot)
		path = append(path, e)
	}
	const maxShown = 8 // longer paths are shortened in the middle
	var s strings.Builder
	for i, e := range path {
		switch left := len(path) - i; {
		case len(path) > maxShown && i == maxShown/2:
			fmt.Fprintf(&s, " → … %d more", len(path)-maxShown)
		case len(path) > maxShown && i > maxShown/2 && left > maxShown/2:
		default:
			if i > 0 {
				s.WriteString(" → ")
			}
			s.WriteString(e.String())
		}
	}
	return fmt.Sprintf("vast: Relation.Set: %s: %s is a circle, and a hierarchy has none: remove another "+
		"link first, or make the relation with RelationOptions.Cyclic", k.sources.name, s.String())
}
