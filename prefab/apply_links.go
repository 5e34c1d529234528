package prefab

import (
	"slices"

	"github.com/vastgo/vast"
)

// link is a change of the link of an entity. after is zero if the entity loses its link.
type link struct {
	r             vast.Relation
	hierarchy     bool
	source, after vast.Entity
}

// linksOf returns the changes of links that carry c over to instances: one for each entity that still has the
// old target, if its instance has the new one. base is the change of the base's link.
func (f *family) linksOf(c *change) (links []link, base link) {
	for _, e := range c.on {
		root, ok := f.instanceOf(e)
		if !ok {
			continue
		}
		to := f.members(root)
		before, after := f.counterpart(c.ends[0], to), f.counterpart(c.ends[1], to)
		if after.IsZero() != c.ends[1].IsZero() {
			continue // the instance lacks the new target
		}
		if target, _ := c.link.Target(e); target == before {
			links = append(links, link{c.link, c.hierarchy, e, after})
		}
	}
	return links, link{c.link, c.hierarchy, f.bases[c.node], c.ends[1]}
}

// setLinks changes links and returns the number of changed links. Each link changes in one step, so a source
// always has its old target or its new target. In a hierarchy, a link waits while the new target lies below
// the source. If the new target lies there in the end, because the program has changed other links, the old
// link stays.
func setLinks(links []link) (n int) {
	for {
		waiting := links[:0]
		for _, l := range links {
			if l.closes() {
				waiting = append(waiting, l)
			} else if n++; l.after.IsZero() {
				l.r.Remove(l.source)
			} else {
				l.r.Set(l.source, l.after)
			}
		}
		if len(waiting) == 0 || len(waiting) == len(links) {
			return n
		}
		links = waiting
	}
}

// closes reports whether the link would close a circle in a hierarchy.
func (l link) closes() bool {
	if !l.hierarchy || l.after.IsZero() {
		return false
	}
	if l.after == l.source {
		return true
	}
	for above := range l.r.Ancestors(l.after) {
		if above == l.source {
			return true
		}
	}
	return false
}

// isPlaceOfNew reports whether a change links copies of a new node to their parents. old is the number of
// bases without those of new nodes.
func (c *change) isPlaceOfNew(old int) bool {
	return c.node >= old && c.kind == changedLink && c.hierarchy
}

// deepest returns an upper bound for the depth that entities in and below instances have in r after the
// changes. It returns 0 if r is no hierarchy.
func (f *family) deepest(r vast.Relation, changes []change) (depth int) {
	if !slices.Contains(f.p.hierarchies, r) {
		return 0
	}
	for root := range f.p.of.Sources(f.bases[0]) {
		for _, e := range f.members(root) {
			depth = max(depth, r.Depth(e))
			for below := range r.Descendants(e) {
				depth = max(depth, r.Depth(below))
			}
		}
	}
	outside := 0
	for _, c := range changes {
		if _, inside := f.index[c.ends[1]]; c.kind == changedLink && c.link == r && !inside {
			outside = max(outside, r.Depth(c.ends[1])+1)
		}
	}
	return depth + outside + len(f.bases)
}
