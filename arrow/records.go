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
// entity, and with one difference: if the components of a vast.Column consist of several numbers of one type,
// as struct{ X, Y float64 } does, they are one column of lists of fixed length, with the name of the
// component.
//
// For such structs, and for single numbers and arrays of numbers in a vast.Column, the record shares the
// memory of the world: nothing is copied. Other components are copied. If some entities of a run lack a
// component, the rows of these entities are null in the columns of the component, and the components of the
// run are copied, too. To share memory although some entities lack a component, name its column in
// Query.Optional: then all entities of a run have the component, or all lack it.
//
// Release each record. A record is valid until it is released, and must be released before the structure of
// the world changes and before the next World.Admit. Shared memory shows values that are written later.
//
// In builds with the tag invariants, the record gets copies in place of shared memory. The bytes of these
// copies become 0xdb when the record is released. If a record with such copies is not released in time, these
// builds panic: in Release, in the next step of the loop, or on another goroutine during World.Admit or
// World.Close.
//
// The rules of Query.Runs hold for the loop. Records panics if Entities would return an error or panic, and
// the loop panics if a value cannot be JSON text.
func Records(q vast.Query, cols ...vast.AnyColumn) iter.Seq2[vast.Run, arrow.RecordBatch] {
	components, err := describeAll(cols, true)
	if err != nil {
		panic(err.Error())
	}
	var list []arrow.Field
	for i := range components {
		c := &components[i]
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
