package vast

import (
	"math"
	"slices"

	"github.com/vastgo/vast/internal/bitset"
)

// allTerms returns a query without conditions. Call compile before its use.
func (w *World) allTerms() *query { return &query{terms: terms{world: w, hi: math.MaxUint}} }

// compile computes the fields that depend on the conditions and on the world's Disabled tags.
func (q *query) compile() Query {
	q.epoch = q.world.epoch
	if len(q.world.disabled) == 0 {
		q.filter = q.makeFilter()
	} else {
		q.filter = q.makeFilterOfEnabled()
	}
	q.flushes = q.written != nil || q.kept != nil
	q.optional = q.columns(optional)
	if q.exact {
		q.ids = q.nameIDs()
	}
	q.source = q.chooseSource()
	q.plain = q.source == fromFilter && !q.ranged() && !q.cuts()
	return Query{q}
}

// renew returns the query for the world's present epoch: q, or a copy that was compiled later. Several
// goroutines may call renew at the same time. It panics if the world is closed.
func (q *query) renew() *query {
	w := q.world
	if q.epoch == w.epoch {
		return q
	}
	w.mustBeOpen("Query")
	if newer := q.newer.Load(); newer != nil && newer.epoch == w.epoch {
		return newer
	}
	newer := &query{terms: q.terms}
	newer.compile()
	q.newer.Store(newer)
	return newer
}

// makeFilter returns the query's filter for a world without Disabled tags.
func (q *query) makeFilter() bitset.Filter {
	// The required sets and the excluded sets share one array, because many programs make a query for each
	// loop, and one array takes one allocation.
	and := make([]*bitset.Set, 0, len(q.named)+len(q.written)+1)
	if q.kept != nil {
		and = append(and, q.kept.set)
	}
	named := q.named[q.keptNames:]
	for _, n := range named {
		if (n.role == asked || n.role == implied) && !slices.Contains(and, n.set) {
			and = append(and, n.set)
		}
	}
	for _, w := range q.written {
		and = append(and, w.marks)
	}
	groups := make([][]*bitset.Set, q.groups)
	for _, n := range named {
		if n.role == oneOf {
			groups[n.group] = append(groups[n.group], n.set)
		}
	}
	groups = slices.DeleteFunc(groups, func(group []*bitset.Set) bool {
		if len(group) == 1 {
			and = append(and, group[0]) // a group of one column asks for that column
		}
		return len(group) <= 1 // if the group is empty, the bits of q.kept decide it
	})
	if len(and) == 0 {
		and = append(and, q.world.live)
	}
	minus := and[len(and):]
	for _, n := range named {
		if n.role == leftOut {
			minus = append(minus, n.set)
		}
	}
	return bitset.NewFilter(and, minus, groups...)
}

// enabledSets collects the sets of a filter for a world with Disabled tags. The slots of the sets in excluded
// and in groups may be toggled while the query runs.
type enabledSets struct {
	q          *query
	and, minus []*bitset.Set
	anyOf      [][]*bitset.Set // groups without a set whose slots may be toggled
	excluded   []bitset.Part
	groups     [][]bitset.Part
}

// makeFilterOfEnabled returns the query's filter for a world with Disabled tags. A component counts as absent
// while a tag switches it off.
func (q *query) makeFilterOfEnabled() bitset.Filter {
	s := enabledSets{q: q}
	if q.kept != nil {
		s.and = append(s.and, q.kept.set)
	}
	groups := make([][]*column, q.groups)
	for i, n := range q.named {
		switch n.role {
		case asked, implied:
			s.require(n.column, q.keeps(i))
		case oneOf:
			groups[n.group] = append(groups[n.group], n.column)
		case leftOut:
			if !q.keeps(i) {
				s.exclude(n.column)
			}
		}
	}
	for _, group := range groups {
		s.add(group)
	}
	for _, w := range q.written {
		s.addSet(w.column, w.marks)
	}
	for _, c := range q.world.disabled {
		named := slices.ContainsFunc(q.named, func(n named) bool { return n.column == c })
		if len(c.switched) == 0 && !named && !q.lifted {
			s.exclude(c)
		}
	}
	if len(s.and) == 0 {
		s.and = append(s.and, q.world.live)
	}
	f := bitset.NewFilter(s.and, s.minus, s.anyOf...)
	if len(s.excluded)+len(s.groups) > 0 {
		f = f.WithParts(s.excluded, s.groups)
	}
	return f
}

// off returns the sets of the tags that switch components of the column off.
func (q *query) off(c *column) (sets []*bitset.Set) {
	if q.lifted {
		return nil
	}
	for _, tag := range c.off {
		sets = append(sets, tag.set)
	}
	return sets
}

// require makes the filter ask for components of the column that are not switched off. kept reports whether
// the kept bits (q.kept) already decide which entities have the component.
func (s *enabledSets) require(c *column, kept bool) {
	if !kept {
		s.addSet(c, c.set)
	}
	for _, set := range s.q.off(c) {
		s.excluded = append(s.excluded, bitset.Part{Set: set})
	}
}

// addSet makes the filter ask for a set of slots. If the column's presence bits may be toggled, the bits of
// the set may be toggled, too.
func (s *enabledSets) addSet(c *column, set *bitset.Set) {
	switch {
	case c.switches:
		s.groups = append(s.groups, []bitset.Part{{Set: set}})
	case !slices.Contains(s.and, set):
		s.and = append(s.and, set)
	}
}

// exclude makes the filter leave out components of the column that are not switched off.
func (s *enabledSets) exclude(c *column) {
	if off := s.q.off(c); off != nil || c.switches {
		s.excluded = append(s.excluded, bitset.Part{Set: c.set, Off: off})
		return
	}
	s.minus = append(s.minus, c.set)
}

// add makes the filter ask for components of at least one column of a group that are not switched off.
func (s *enabledSets) add(group []*column) {
	if len(group) == 1 {
		s.require(group[0], false)
		return
	}
	var sets []*bitset.Set
	var parts []bitset.Part
	toggled := false
	for _, c := range group {
		off := s.q.off(c)
		toggled = toggled || off != nil || c.switches
		sets, parts = append(sets, c.set), append(parts, bitset.Part{Set: c.set, Off: off})
	}
	if toggled {
		s.groups = append(s.groups, parts)
	} else {
		s.anyOf = append(s.anyOf, sets)
	}
}
