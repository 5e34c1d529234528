package vastarrow

import (
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Records yields the runs of a query, each with the components of the run's entities as a record. Row i
// belongs to run.Entity(i). The columns of the record are those that Entities describes, without the column
// entity, and with one difference: a component of a Column that is a struct of like numbers, such as
// struct{ X, Y float64 }, is one column of lists of fixed length with the name of the component.
//
// A component of a Column that is a number, an array of numbers or a struct of like numbers shares its memory
// with the world: nothing is copied. Fields of other structs lie apart in memory and are copied. Entities
// that lack a component have nulls; the component is then copied, too. Name it in Query.Optional to share
// memory again: a run then has the component or lacks it.
//
// Release each record. A record is valid until it is released, and must be released before the structure of
// the world changes and before the next World.Admit. A record shows values that are written later. In builds
// with the tag invariants, records share no memory: a released record holds the bytes 0xdb, and a record
// that is not released in time causes a panic, in its Release, in the next step of the loop, or on another
// goroutine in World.Admit.
//
// The rules of Query.Runs hold for the loop. Records panics if a column cannot be in a record, as Entities
// describes, and the loop panics if a value cannot be JSON text.
func Records(q vast.Query, cols ...vast.AnyColumn) iter.Seq2[vast.Run, arrow.RecordBatch] {
	components, err := describeAll(cols)
	if err != nil {
		panic(err.Error())
	}
	var list []arrow.Field
	for i := range components {
		c := &components[i]
		c.merge()
		for _, l := range c.leaves {
			list = append(list, l.field(c.role != roleTag))
		}
	}
	schema := arrow.NewSchema(list, nil)
	return func(yield func(vast.Run, arrow.RecordBatch) bool) {
		for run := range q.Runs() {
			b := borrow(components)
			arrays := make([]arrow.Array, 0, len(list))
			for i := range components {
				arrays = components[i].appendArrays(arrays, run, b)
			}
			if !yield(run, newRecord(schema, arrays, run.Len())) {
				return
			}
			b.check()
		}
	}
}

// appendArrays appends the arrays of a component of a run.
func (c *component) appendArrays(arrays []arrow.Array, run vast.Run, b *borrowed) []arrow.Array {
	n := run.Len()
	if c.role == roleDense && len(c.leaves) == 1 && c.has(run, 0, n) == n {
		if l := &c.leaves[0]; l.kind.sameInMemory() && l.size() == c.stride {
			return append(arrays, newArray(l, n, b.buffer(probe.Bytes(c.col, run)), nil, 0))
		}
	}
	fillers := c.newFillers(n)
	if err := c.collect(fillers, run, 0, n); err != nil {
		panic(fmt.Sprintf("%v, or use Entities, which returns this error", err))
	}
	for i := range fillers {
		arrays = append(arrays, fillers[i].finish())
	}
	return arrays
}
