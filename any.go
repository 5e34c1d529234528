package vast

import (
	"fmt"
	"slices"
)

// Any returns the query that also asks for at least one of the given components. Called again, it asks for one of the
// other group too. It panics when no column is given, and when a column is of another world, is named twice, is left out
// by the query, or is one that it asks for already, so that there would be nothing to choose.
//
// Entities of one run may differ in which of the given components they have: [Column.Slice] is for the columns of
// [World.Query] only, and [Column.Get] for these, unless [Query.Optional] names them too.
func (q Query) Any(cols ...AnyColumn) Query {
	if q.q == nil {
		panic(zeroQuery)
	}
	w := q.q.world
	w.mustBeOpen("Query.Any")
	group := w.columnsOf("Query.Any", cols)
	if len(group) == 0 {
		panic("vast: Query.Any: no entity has one of no columns: name at least one")
	}
	for _, c := range group {
		if slices.Contains(q.q.with, c) {
			panic(fmt.Sprintf("vast: Query.Any: the query asks for %s, so there is nothing to choose", c.name))
		}
		if slices.Contains(q.q.minus, c) {
			panic(fmt.Sprintf("vast: Query.Any: the query leaves %s out: name it in one of the two", c.name))
		}
	}
	made := *q.q
	made.any = append(slices.Clip(q.q.any), group)
	made.build()
	return Query{&made}
}
