package vast

import (
	"iter"
	"reflect"
)

// RelationOf returns the relation that a column is, and whether it is one: for tools, to which [World.Columns] gives
// columns without their types. The column of [Relation.Targets] is none.
func RelationOf(col AnyColumn) (Relation, bool) {
	s, ok := columnOf("RelationOf", col).store.(*sourceStore)
	return Relation{(*relation)(s)}, ok
}

// AnyEdges are [Edges] of whatever value, for tools that know nothing of its type. They are a column as Edges are. Get them
// from [EdgesOf].
type AnyEdges struct {
	s anyEdges
}

// anyEdges is the storage of Edges without the type of their values.
type anyEdges interface {
	linked
	valueType() reflect.Type
	countOf(c *column, e Entity) int
	// walkValues is edges.walk with copies of the values.
	walkValues(c *column, e Entity, yield func(Entity, reflect.Value) bool)
}

// EdgesOf returns the edges that a column is, and whether it is such. The column of [Edges.Targets] is none.
func EdgesOf(col AnyColumn) (AnyEdges, bool) {
	c := columnOf("EdgesOf", col)
	for _, l := range c.world.relations {
		if s, ok := l.(anyEdges); ok {
			if sources, _ := s.columns(); sources == c {
				return AnyEdges{s}, true
			}
		}
	}
	return AnyEdges{}, false
}

// made returns the edges' storage. It panics for the zero AnyEdges.
func (e AnyEdges) made() anyEdges {
	if e.s == nil {
		panic("vast: the zero AnyEdges belong to no world: get them from EdgesOf")
	}
	return e.s
}

func (e AnyEdges) sources() *column { c, _ := e.made().columns(); return c }
func (e AnyEdges) targets() *column { _, c := e.made().columns(); return c }

func (e AnyEdges) column() *column {
	if e.s == nil {
		return nil
	}
	return e.sources()
}

// Name returns the edges' name.
func (e AnyEdges) Name() string { return e.sources().name }

// Type returns the type of the edges' values.
func (e AnyEdges) Type() reflect.Type { return e.made().valueType() }

// Targets is [Edges.Targets].
func (e AnyEdges) Targets() AnyColumn { return related{e.targets()} }

// CountOut is [Edges.CountOut].
func (e AnyEdges) CountOut(from Entity) int { return e.made().countOf(e.sources(), from) }

// CountIn is [Edges.CountIn].
func (e AnyEdges) CountIn(to Entity) int { return e.made().countOf(e.targets(), to) }

// Out is [Edges.Out] with copies of the values. It allocates for each of them.
func (e AnyEdges) Out(from Entity) iter.Seq2[Entity, reflect.Value] {
	return func(yield func(Entity, reflect.Value) bool) { e.made().walkValues(e.sources(), from, yield) }
}

// In is [Edges.In] with copies of the values. It allocates for each of them.
func (e AnyEdges) In(to Entity) iter.Seq2[Entity, reflect.Value] {
	return func(yield func(Entity, reflect.Value) bool) { e.made().walkValues(e.targets(), to, yield) }
}

func (s *edges[T]) valueType() reflect.Type         { return reflect.TypeFor[T]() }
func (s *edges[T]) countOf(c *column, e Entity) int { return s.count(c, e) }

func (s *edges[T]) walkValues(c *column, e Entity, yield func(Entity, reflect.Value) bool) {
	s.walk(c, e, func(other Entity, p *T) bool {
		v := *p
		return yield(other, reflect.ValueOf(&v).Elem())
	})
}
