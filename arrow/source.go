package vastarrow

import (
	"errors"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/state"
)

// Source gives rows to [Write]. The functions [Entities] and [Rows] make sources. A program can also
// implement a Source for other rows.
type Source interface {
	// Schema returns the columns.
	Schema() *arrow.Schema
	// Records yields the rows in batches. After an error, it yields nothing more. Records releases a batch at
	// the end of the step of the loop: call Retain to keep the batch for longer.
	Records() iter.Seq2[arrow.RecordBatch, error]
}

const (
	// entityColumn is the name of the column with the IDs of entities.
	entityColumn = "entity"
	// batchRows and batchBytes bound the rows in a batch of entities.
	batchRows  = 64 << 10
	batchBytes = 64 << 20
)

var errChanged = errors.New("vastarrow: the structure of the world has changed since Entities made the " +
	"source: call Entities right before Write")

// internals holds the method of package vast that a source needs in addition to those of package probe.
var internals = state.Vast.(interface {
	WorldOf(q vast.Query) *vast.World
})

// entities is the Source of the entities of a query.
type entities struct {
	query      vast.Query
	components []component
	schema     *arrow.Schema
	rowBytes   int
	world      *vast.World
	changes    uint64 // World.Changes when the schema was made
}

// Entities returns a source with a row for each entity that matches a query. The columns are:
//
//   - entity, with [vast.Entity.ID]
//   - for a component, a column for each field, with a name such as position.x, or a column with the name of
//     the component if the component is one value
//   - for an array of numbers, one column of lists of fixed length; for other arrays of at most 16 elements,
//     the columns of each element, such as car.wheels.0.size
//   - for a tag or an empty struct, a column of booleans
//   - for a relation, a column with the ID of the target
//   - for the world's Names, a column of texts
//   - for slices, maps, pointers, interfaces, and arrays of more than 16 elements that are not numbers, a
//     column of JSON texts
//
// The parts of a name are in snake case, as in package vastsql: HomeTown.X is home_town.x. If columns share a
// name, all but the first have a suffix such as #7. An entity without a component has nulls in the columns of
// this component; a tag is false. Times before 1677 or after 2262 are nulls.
//
// Entities returns an error if a column belongs to vast.Edges or is the TargetColumn of a relation: an entity
// can have several such links, which do not fit into one column. Entities panics if the columns belong to
// several worlds.
//
// Call Entities and read the source on the goroutine that owns the world, for example in World.Visit. If the
// structure of the world changes after Entities, or in the loop over the records, the source yields an error:
// its schema says which columns have nulls, and may be wrong after the change.
//
// The source copies the components. Complexity of Entities: that of probe.Occupied for each run and column.
// Complexity of the loop: a copy of the components. Components in a SparseColumn, HeapColumn or
// shared.Column, and components with JSON texts, also take an allocation each.
func Entities(q vast.Query, cols ...vast.AnyColumn) (Source, error) {
	components, err := describeAll(cols, false)
	if err != nil {
		return nil, err
	}
	w := internals.WorldOf(q)
	s := &entities{query: q, components: components, rowBytes: 8, world: w, changes: w.Changes()}
	list := []arrow.Field{{Name: entityColumn, Type: arrow.PrimitiveTypes.Uint64}}
	for i, partial := range lacking(q, components) {
		c := &components[i]
		for _, l := range c.leaves {
			list = append(list, l.field(partial || l.kind == kindTime)) // times out of range are nulls
			s.rowBytes += l.size()
		}
	}
	s.schema = arrow.NewSchema(list, nil)
	return s, nil
}

// lacking returns for each component whether an entity of the query lacks it. For tags, which are never null,
// it returns false.
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
		if s.world.Changes() != s.changes {
			yield(nil, errChanged)
			return
		}
		most := max(1, min(batchRows, batchBytes/s.rowBytes))
		b := s.newBatch(most)
		for run := range s.query.Runs() {
			for lo := 0; lo < run.Len(); {
				n := min(run.Len()-lo, most-b.ids.rows)
				if b.hasTexts {
					n = min(n, 256) // texts may be long: check textBytes often
				}
				if err := b.collect(s, run, lo, n); err != nil {
					yield(nil, err)
					return
				}
				lo += n
				if b.ids.rows == most || b.textBytes() >= batchBytes {
					if !s.yield(yield, b) {
						return
					}
					b = s.newBatch(most)
				}
			}
		}
		if b.ids.rows > 0 {
			s.yield(yield, b)
		}
	}
}

// yield yields a batch, and then an error if the structure of the world has changed. It returns whether the
// loop goes on.
func (s *entities) yield(yield func(arrow.RecordBatch, error) bool, b *batch) bool {
	if !yieldBatch(yield, b.finish(s.schema)) {
		return false
	}
	if s.world.Changes() != s.changes {
		yield(nil, errChanged)
		return false
	}
	return true
}

func yieldBatch(yield func(arrow.RecordBatch, error) bool, r arrow.RecordBatch) bool {
	defer r.Release()
	return yield(r, nil)
}

// batch is a record that is being filled.
type batch struct {
	ids      filler
	fillers  [][]filler // for each component, a filler for each leaf
	hasTexts bool       // whether a leaf is text or JSON
}

func (s *entities) newBatch(most int) *batch {
	b := &batch{ids: newFiller(&leaf{name: entityColumn, kind: kindEntity}, most)}
	for i := range s.components {
		fillers := s.components[i].newFillers(most)
		b.hasTexts = b.hasTexts || slices.ContainsFunc(fillers, func(f filler) bool { return f.texts != nil })
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
	if !b.hasTexts {
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

// newRecord returns a record of the arrays and releases the caller's references to them.
func newRecord(schema *arrow.Schema, arrays []arrow.Array, rows int) arrow.RecordBatch {
	r := array.NewRecordBatch(schema, arrays, int64(rows))
	for _, a := range arrays {
		a.Release()
	}
	return r
}
