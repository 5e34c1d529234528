package vast

import (
	"fmt"
	"strings"
)

// Plan describes how a loop over the query would run now, one line for each step. The first line says where
// the entities come from, and how many entities and 64-slot words the next steps look at. The line of a
// [Query.Where] or [Query.Up] says how the loop tests the condition, and why in this way. Indented lines
// describe the query of the targets. The text is for people; its form may change. The rules of [Query.Runs]
// hold.
//
// Complexity: Plan starts a loop over the query and over each query of targets, and takes one step for each
// 64-slot word that it counts.
func (q Query) Plan() string {
	var b strings.Builder
	q.q.plan(&b, "")
	return b.String()
}

// plan writes the steps of a walk over the query.
func (q *query) plan(b *strings.Builder, indent string) {
	var k walk
	k.start(q)
	defer k.release()
	q = k.q
	entities, words := k.size()
	fmt.Fprintf(b, "%s%s; entities: %d, words: %d\n", indent, q.conditions(), entities, words)
	if k.joined != nil {
		for i := range k.joined.conditions {
			c := &k.joined.conditions[i]
			fmt.Fprintf(b, "%s%s\n", indent, c.describe())
			if c.way == byEntity {
				fmt.Fprintf(b, "%s    %s\n", indent, c.query.conditions())
			} else {
				c.query.plan(b, indent+"    ")
			}
		}
	}
	if len(q.where) > 0 {
		fmt.Fprintf(b, "%sshared values: compare the values of each entity\n", indent)
	}
	if q.exact {
		fmt.Fprintf(b, "%sexactly: look for columns that the query does not name, in each word\n", indent)
	}
	if len(q.optional) > 0 {
		fmt.Fprintf(b, "%soptional: cut runs where %s begins or ends\n", indent, namesOf(q.optional, " or "))
	}
}

// size returns the numbers of entities and of words that the walk's source gives to the steps after it.
func (k *walk) size() (entities, words int) {
	from := *k
	from.joined, from.end = nil, 0
	last := ^uint(0) // no word
	for from.nextWhole() {
		lo, hi := from.cursor.Lo, from.cursor.Hi
		entities += int(hi - lo)
		words += int((hi-1)/64 - lo/64 + 1)
		if lo/64 == last {
			words--
		}
		last = (hi - 1) / 64
	}
	return entities, words
}

// conditions describes the source of the query and the conditions that the source meets.
func (q *query) conditions() string {
	var s []string
	switch {
	case q.source == fromList:
		s = append(s, fmt.Sprintf("list of length %d", len(q.list)))
	case q.source == fromLinks:
		s = append(s, "links")
	case q.kept != nil:
		s = append(s, "bits of a group")
	default:
		s = append(s, "presence bits")
	}
	if columns := q.columns(asked, implied); len(columns) > 0 {
		s = append(s, namesOf(columns, ", "))
	}
	for group := range q.groups {
		var columns []*column
		for _, n := range q.named {
			if n.role == oneOf && n.group == group {
				columns = append(columns, n.column)
			}
		}
		s = append(s, "any of "+namesOf(columns, ", "))
	}
	if columns := q.columns(leftOut); len(columns) > 0 {
		s = append(s, "without "+namesOf(columns, ", "))
	}
	for _, t := range q.targets {
		s = append(s, fmt.Sprintf("%s to %v", t.relation.sources.name, t.target))
	}
	for _, w := range q.written {
		s = append(s, w.column.name+" changed")
	}
	if q.ranged() {
		s = append(s, fmt.Sprintf("slots from %d to below %d", q.lo, min(q.hi, uint(q.world.frontier)*64)))
	}
	return strings.Join(s, "; ")
}

// namesOf returns the names of columns.
func namesOf(columns []*column, separator string) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return strings.Join(names, separator)
}

// describe returns the way of the condition, and why the walk chose it.
func (c *condition) describe() string {
	what := "where " + c.from.name
	if c.up {
		what = "up " + c.from.name
	}
	found := fmt.Sprintf("%s: %d of %d targets match", what, c.matching, c.to.len())
	switch c.way {
	case byEntity:
		ends := "targets"
		if c.up {
			ends = "ancestors"
		}
		return fmt.Sprintf("%s: look at the %s of each entity, in %d steps in a world of %d words", what,
			ends, c.steps, c.to.world.frontier)
	case byTargetBit:
		return fmt.Sprintf("%s; test each entity, because marking pays for up to %d sources", found,
			c.candidates/sourceSteps)
	case bySources, byOthers:
		whose := "the matching"
		if c.way == byOthers {
			whose = "the other"
		}
		return fmt.Sprintf("%s; mark the %d sources of %s targets, because that pays for up to %d", found,
			c.steps, whose, c.candidates/sourceSteps)
	case byAncestors:
		return fmt.Sprintf("%s; test the ancestors of each entity in up to %d steps, because there are %d "+
			"sources", found, c.steps, c.from.len())
	case byLevels:
		return fmt.Sprintf("%s; mark the entities below them in %d steps, because each of %d entities may "+
			"have %d ancestors", found, c.steps, c.candidates, len(c.relation.levels))
	case always:
		return found + ", so all entities do: no further step"
	}
	return found + ", so no entity does: no further step"
}
