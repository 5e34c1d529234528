package probe

import (
	"iter"
	"reflect"

	"github.com/vastgo/vast"
)

// NamesOf returns the index of names of w, and whether w has one. Unlike [vast.World.Names], NamesOf does not
// make the index.
func NamesOf(w *vast.World) (*vast.Names, bool) { return engine.NamesOf(w) }

// RelationOf returns the relation whose column of sources is col, and whether there is one. For a
// [vast.Relation.TargetColumn], RelationOf returns false.
func RelationOf(col vast.AnyColumn) (vast.Relation, bool) { return engine.RelationOf(col) }

// AnyEdges are [vast.Edges] without the type of their values. [EdgesOf] returns them.
type AnyEdges struct {
	storage any
}

// EdgesOf returns the [vast.Edges] whose column of sources is col, and whether col is such a column. For a
// [vast.Edges.TargetColumn], EdgesOf returns false. Complexity: the number of relations and edges that the
// world has registered.
func EdgesOf(col vast.AnyColumn) (AnyEdges, bool) {
	s := engine.EdgesOf(col)
	return AnyEdges{s}, s != nil
}

func (e AnyEdges) mustBeMade() any {
	if e.storage == nil {
		panic("probe: the zero AnyEdges belong to no world: get them from EdgesOf")
	}
	return e.storage
}

// Name returns the edges' name.
func (e AnyEdges) Name() string { return e.SourceColumn().Name() }

// Type returns the type of the edges' values.
func (e AnyEdges) Type() reflect.Type { return engine.EdgesType(e.mustBeMade()) }

// SourceColumn returns the column of the entities that are the source of an edge, for queries.
func (e AnyEdges) SourceColumn() vast.AnyColumn { return engine.SourceColumn(e.mustBeMade()) }

// TargetColumn is [vast.Edges.TargetColumn].
func (e AnyEdges) TargetColumn() vast.AnyColumn { return engine.TargetColumn(e.mustBeMade()) }

// CountSources is [vast.Edges.CountSources].
func (e AnyEdges) CountSources(to vast.Entity) int { return engine.CountSources(e.mustBeMade(), to) }

// CountTargets is [vast.Edges.CountTargets].
func (e AnyEdges) CountTargets(from vast.Entity) int {
	return engine.CountTargets(e.mustBeMade(), from)
}

// Sources is [vast.Edges.Sources] with copies of the values. It allocates each copy.
func (e AnyEdges) Sources(to vast.Entity) iter.Seq2[vast.Entity, reflect.Value] {
	return func(yield func(vast.Entity, reflect.Value) bool) { engine.Sources(e.mustBeMade(), to, yield) }
}

// Targets is [vast.Edges.Targets] with copies of the values. It allocates each copy.
func (e AnyEdges) Targets(from vast.Entity) iter.Seq2[vast.Entity, reflect.Value] {
	return func(yield func(vast.Entity, reflect.Value) bool) { engine.Targets(e.mustBeMade(), from, yield) }
}
