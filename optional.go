package vast

import (
	"fmt"
	"math/bits"
	"slices"
)

// Optional returns the query whose runs are cut so that each has the given components throughout, or lacks them
// throughout: [Column.TrySlice] and [Tag.In] tell which. It matches the same entities. Columns that the query asks for by
// [Query.Any] may be named, to use them as slices. It panics when a column is of another world, is named twice, is left
// out by the query, or is one that every match has anyway. Complexity: a few steps more for each run and column; a run of
// one word finds its border in one.
func (q Query) Optional(cols ...AnyColumn) Query {
	if q.q == nil {
		panic(zeroQuery)
	}
	w := q.q.world
	w.mustBeOpen("Query.Optional")
	optional := w.columnsOf("Query.Optional", cols)
	for _, c := range optional {
		switch {
		case slices.Contains(q.q.with, c):
			panic(fmt.Sprintf("vast: Query.Optional: the query asks for %s, so every match has it", c.name))
		case slices.Contains(q.q.minus, c):
			panic(fmt.Sprintf("vast: Query.Optional: the query leaves %s out: name it in one of the two", c.name))
		case slices.Contains(q.q.optional, c):
			panic(fmt.Sprintf("vast: Query.Optional: %s is optional already", c.name))
		}
	}
	made := *q.q
	made.optional = slices.Concat(q.q.optional, optional)
	made.build()
	return Query{&made}
}

// TrySlice is [Column.Slice] for a run of a query with [Query.Optional]: nil where the run's entities lack the component.
// It looks at the run's first entity only.
func (c Column[T]) TrySlice(r Run) []T {
	if !c.c.in(r) {
		return nil
	}
	return c.Slice(r)
}

// In reports whether the entities of a run of a query with [Query.Optional] have the tag. It looks at the run's first
// entity only.
func (t Tag) In(r Run) bool { return t.c.in(r) }

// In reports whether the entities of a run have the component, as [Tag.In] does.
func (c Column[T]) In(r Run) bool { return c.c.in(r) }

// In reports whether the entities of a run have the component, as [Tag.In] does.
func (c SparseColumn[T]) In(r Run) bool { return c.c.in(r) }

// In reports whether the entities of a run have the component, as [Tag.In] does.
func (c HeapColumn[T]) In(r Run) bool { return c.c.in(r) }

// in reports whether a run's first entity has the component.
func (c *column) in(r Run) bool {
	return r.n > 0 && r.start < c.slots && c.set.Word(uint(r.start/64))>>(r.start%64)&1 != 0
}

// alike returns how far, from lo on and up to hi, entities have the same optional components.
func (q *query) alike(lo, hi uint) uint {
	if len(q.optional) == 0 {
		return hi
	}
	// The word first, in all columns: with a border near, how far away the others' are does not matter.
	for _, c := range q.optional {
		var here uint64
		if lo < uint(c.slots) {
			here = c.set.Word(lo / 64)
		}
		if here>>(lo%64)&1 != 0 {
			here = ^here
		}
		if other := here >> (lo % 64); other != 0 {
			hi = min(hi, lo+uint(bits.TrailingZeros64(other)))
		}
	}
	word := lo/64*64 + 64
	if hi <= word {
		return hi
	}
	for _, c := range q.optional {
		switch {
		case c.set.Test(lo):
			hi = min(hi, c.set.NextClear(word))
		default:
			if next := c.set.Next(word); next < uint(c.slots) {
				hi = min(hi, next)
			}
		}
	}
	return hi
}
