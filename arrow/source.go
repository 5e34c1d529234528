package vastarrow

import (
	"errors"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/vastgo/vast"
)

// Source gives rows to [Write]. Entities and Rows make sources. A program can also give rows of its own.
type Source interface {
	// Schema returns the columns.
	Schema() *arrow.Schema
	// Records yields the rows in batches, or an error, which is the last that it yields. A batch is released
	// before the next is yielded: call Retain to keep it.
	Records() iter.Seq2[arrow.RecordBatch, error]
}

const (
	// entityColumn is the name of the column with the IDs of entities.
	entityColumn = "entity"
	// batchRows and batchBytes bound the rows that a Source yields at once.
	batchRows  = 64 << 10
	batchBytes = 64 << 20
)

// entities is the Source of the entities of a query.
type entities struct {
	query      vast.Query
	components []component
	schema     *arrow.Schema
	rowBytes   int
	changes    uint64 // World.Changes when the schema was made
}

// Entities returns a source with a row for each entity that matches a query. The columns are:
//
//   - entity, with [vast.Entity.ID]
//   - for a component, a column for each field, with a name such as position.x, or a column with the name of
//     the component if the component is one value
//   - for an array of numbers, one column of lists of fixed length; for other arrays of at most 16 elements,
//     the columns of each element, such as car.wheels.0.size
//   - for a tag, a column of booleans
//   - for a relation, a column with the ID of the target
//   - for the world's Names, a column of texts
//   - for slices, maps, pointers, interfaces and longer arrays, a column of JSON texts
//
// The parts of a name are in snake case, as in package vastsql: HomeTown.X is home_town.x. If columns share a
// name, all but the first have a suffix such as #7. An entity without a component has nulls in its columns.
// Times before 1677 or after 2262 are nulls.
//
// Entities returns an error if a column belongs to vast.Edges, whose targets do not fit into one column. It
// panics if the columns belong to several worlds.
//
// Call Entities and read the source on the goroutine that owns the world, as in World.Visit. If the structure
// of the world changes after Entities, the source yields an error, because its schema says which columns have
// nulls. In a loop over the records such a change panics, as in Query.Runs.
//
// The source copies the components. Complexity of Entities: one step for each run and column. Complexity of
// the loop: a copy of the components. Components in a SparseColumn or HeapColumn also take an allocation
// each.
func Entities(q vast.Query, cols ...vast.AnyColumn) (Source, error) {
	components, err := describeAll(cols)
	if err != nil {
		return nil, err
	}
	s := &entities{query: q, components: components, rowBytes: 8}
	list := []arrow.Field{{Name: entityColumn, Type: arrow.PrimitiveTypes.Uint64}}
	for i, partial := range lacking(q, components) {
		c := &components[i]
		for _, l := range c.leaves {
			list = append(list, l.field(partial || l.kind == kindTime)) // times out of range are nulls
			s.rowBytes += l.size()
		}
	}
	if len(components) > 0 {
		s.changes = components[0].world.Changes()
	}
	s.schema = arrow.NewSchema(list, nil)
	return s, nil
}

// lacking returns for each component whether an entity of the query lacks it. A tag is never null.
func lacking(q vast.Query, components []component) []bool {
	partial := make([]bool, len(components))
	for run := range q.Runs() {
		for i := range components {
			c := &components[i]
			partial[i] = partial[i] || c.role != roleTag && c.has(run, 0, run.Len()) < run.Len()
		}
	}
	return partial
}

func (l *leaf) field(nullable bool) arrow.Field {
	return arrow.Field{Name: l.name, Type: l.arrowType(), Nullable: nullable}
}

func (s *entities) Schema() *arrow.Schema { return s.schema }

func (s *entities) Records() iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if len(s.components) > 0 && s.components[0].world.Changes() != s.changes {
			yield(nil, errors.New("vastarrow: the structure of the world has changed since Entities made "+
				"the source: "+
				"call Entities right before Write"))
			return
		}
		most := max(1, min(batchRows, batchBytes/s.rowBytes))
		b := s.newBatch(most)
		for run := range s.query.Runs() {
			for lo := 0; lo < run.Len(); {
				n := min(run.Len()-lo, most-b.ids.rows)
				if b.boxed {
					n = min(n, 256) // texts may be long
				}
				if err := b.collect(s, run, lo, n); err != nil {
					yield(nil, err)
					return
				}
				lo += n
				if b.ids.rows == most || b.textBytes() >= batchBytes {
					if !yieldBatch(yield, b.finish(s.schema)) {
						return
					}
					b = s.newBatch(most)
				}
			}
		}
		if b.ids.rows > 0 {
			yieldBatch(yield, b.finish(s.schema))
		}
	}
}

func yieldBatch(yield func(arrow.RecordBatch, error) bool, r arrow.RecordBatch) bool {
	defer r.Release()
	return yield(r, nil)
}

// batch is a record that is being filled.
type batch struct {
	ids     filler
	fillers [][]filler // for each component, a filler for each leaf
	boxed   bool       // whether a leaf is text
}

func (s *entities) newBatch(most int) *batch {
	b := &batch{ids: newFiller(&leaf{name: entityColumn, kind: kindEntity}, most)}
	for i := range s.components {
		fillers := s.components[i].newFillers(most)
		b.boxed = b.boxed || slices.ContainsFunc(fillers, func(f filler) bool { return f.texts != nil })
		b.fillers = append(b.fillers, fillers)
	}
	return b
}

func (c *component) newFillers(most int) []filler {
	fillers := make([]filler, len(c.leaves))
	for i := range c.leaves {
		fillers[i] = newFiller(&c.leaves[i], most)
	}
	return fillers
}

func (b *batch) collect(s *entities, run vast.Run, lo, n int) error {
	for i := range n {
		b.ids.addNumber(run.Entity(lo + i).ID())
	}
	for i := range s.components {
		if err := s.components[i].collect(b.fillers[i], run, lo, n); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) textBytes() (n int) {
	if !b.boxed {
		return 0
	}
	for _, fillers := range b.fillers {
		for i := range fillers {
			n += fillers[i].textBytes()
		}
	}
	return n
}

func (b *batch) finish(schema *arrow.Schema) arrow.RecordBatch {
	rows := b.ids.rows
	arrays := []arrow.Array{b.ids.finish()}
	for _, fillers := range b.fillers {
		for i := range fillers {
			arrays = append(arrays, fillers[i].finish())
		}
	}
	return newRecord(schema, arrays, rows)
}

// newRecord returns the record of arrays and takes over the references to them.
func newRecord(schema *arrow.Schema, arrays []arrow.Array, rows int) arrow.RecordBatch {
	r := array.NewRecordBatch(schema, arrays, int64(rows))
	for _, a := range arrays {
		a.Release()
	}
	return r
}
