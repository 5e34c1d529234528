package vast

import (
	"iter"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/internal/rooms"
)

// EdgesOptions are the options of [NewEdges]. The zero value is valid.
type EdgesOptions struct {
	// OnDelete says what happens to the sources when one of their targets is deleted. With Orphan, only the
	// edge is removed. Default: Orphan. Deleting a source always removes its edges.
	OnDelete OnDelete
	// Capacity is the maximum number of edges. NewEdges reserves addresses for all of them. If regions are Go
	// heap memory ([vm.HeapStandIn]), these addresses take memory.
	// Default: four times the world's MaxEntities.
	Capacity int
}

// Edges link each source to any number of targets. Each edge has a value of type T, such as the length of a
// road between two towns. An entity may have an edge to itself, and cycles are allowed. An edge is removed
// when its source or its target is deleted. Edges are a small value; copy them freely. Make them with
// [NewEdges]. If the edges need no data, use Edges[struct{}].
//
// Edges are also the column of the sources: World.Query(roads) matches all entities that are the source of an
// edge. [Edges.TargetColumn] is the column of the targets. Edges lie in a [bulk.Pool]: a pointer to the value
// of an edge is valid as long as the edge exists.
//
// Adding and removing edges changes the structure of the world; the rules of [World] and [Query.Runs] apply.
type Edges[T any] struct {
	e *edges[T]
}

// edge is in two lists: the edges out of its source, and the edges into its target.
type edge[T any] struct {
	from, to         uint32 // slots
	nextOut, prevOut bulk.Handle[edge[T]]
	nextIn, prevIn   bulk.Handle[edge[T]]
	value            T
}

// ends describes an entity's list of edges, which is not empty.
type ends[T any] struct {
	first, last bulk.Handle[edge[T]]
	count       uint32
}

// edges is the storage of Edges.
type edges[T any] struct {
	world    *World
	sources  *column // element: ends of the list of edges out of the entity
	targets  *column // element: ends of the list of edges into the entity
	pool     *bulk.Pool[edge[T]]
	onDelete OnDelete
}

// NewEdges registers edges with the world. name appears in statistics and messages. T must not contain Go
// pointers, as in [NewColumn]. NewEdges reserves addresses, and panics with a [*vm.Error] if too few are
// left.
func NewEdges[T any](w *World, name string, o EdgesOptions) Edges[T] {
	w.mustTakeColumns("NewEdges")
	layout.Check[T]("vast: NewEdges")
	mustKnow("NewEdges", o.OnDelete)
	if o.Capacity == 0 {
		o.Capacity = 4 * w.options.MaxEntities
	}
	pool, err := bulk.NewPool[edge[T]](bulk.Options{
		Name: w.options.Name, Capacity: o.Capacity, Limit: w.options.Limit, Pages: w.options.Pages,
	})
	if err != nil {
		panic(err)
	}
	w.markPool(rooms.Of(pool))
	e := &edges[T]{world: w, pool: pool, onDelete: o.OnDelete}
	typ := reflect.TypeFor[ends[T]]()
	if e.sources, e.targets, err = w.registerLinked(name, typ, typ); err != nil {
		_ = pool.Close()
		panic(err)
	}
	e.sources.recorded = reflect.TypeFor[laterEdge[T]]()
	e.sources.later, e.sources.adding, e.sources.removing = e.later, opAddEdge, opRemoveEdge
	e.sources.keep(edgeStore[T]{e: e})
	e.targets.keep(inPlace{})
	w.relations = append(w.relations, e)
	return Edges[T]{e}
}

func (e Edges[T]) made() *edges[T] {
	if e.e == nil {
		panic("vast: the zero Edges belong to no world: make edges with NewEdges")
	}
	return e.e
}

func (e Edges[T]) column() *column {
	if e.e == nil {
		return nil
	}
	return e.e.sources
}

// TargetColumn returns the column of the entities that are the target of an edge, for queries.
func (e Edges[T]) TargetColumn() AnyColumn { return columnOfAnyType{e.made().targets} }

// Name returns the edges' name.
func (e Edges[T]) Name() string { return e.made().sources.name }

// Len returns the number of edges. It is 0 after the world's Close.
func (e Edges[T]) Len() int { return e.made().pool.Len() }

// Add makes an edge, or overwrites the value of an existing edge, and returns the address of the value. If an
// entity is stale, Add returns nil. Add panics if the world is closed. If Add gets no memory, it panics with
// a [*vm.Error]; see [Edges.Grow]. Complexity: as [Edges.Get].
func (e Edges[T]) Add(from, to Entity, v T) *T {
	s := e.made()
	if !s.world.Alive(from) || !s.world.Alive(to) {
		s.world.mustBeOpen("Edges.Add")
		return nil
	}
	if h := s.find(from, to); !h.IsZero() {
		p := &s.pool.Get(h).value
		*p = v
		s.written(from.slot)
		return p
	}
	if invariants.Enabled {
		s.sources.touch(true) // before the first change, because touch may panic
	}
	s.world.mustNotBeInCallback(opAddEdge)
	if err := s.room(from.slot, to.slot); err != nil {
		panic(err)
	}
	one := edge[T]{from: from.slot, to: to.slot, value: v}
	if s.sources.has(from) {
		p := s.enter(one)
		s.written(from.slot)
		s.world.changedAll(opAddEdge, 1)
		return &p.value
	}
	p := s.enter(one)
	s.sources.add(from)
	s.sources.tellAdded(from.slot)
	return &p.value
}

// Get returns the value of an edge, or nil if there is no edge. Complexity: the number of edges out of the
// source or the number of edges into the target, whichever is smaller.
func (e Edges[T]) Get(from, to Entity) *T {
	s := e.made()
	h := s.find(from, to)
	if h.IsZero() {
		return nil
	}
	return &s.pool.Get(h).value
}

// Has reports whether there is an edge between two entities. Complexity: as [Edges.Get].
func (e Edges[T]) Has(from, to Entity) bool { return !e.made().find(from, to).IsZero() }

// Remove removes an edge and reports whether there was one. Complexity: as [Edges.Get].
func (e Edges[T]) Remove(from, to Entity) bool {
	s := e.made()
	h := s.find(from, to)
	if h.IsZero() {
		return false
	}
	s.world.mustNotBeInCallback(opRemoveEdge)
	if s.ends(s.sources, from.slot).count == 1 {
		return s.sources.remove(from)
	}
	s.unlink(h)
	s.written(from.slot)
	s.world.changedAll(opRemoveEdge, 1)
	return true
}

// Grow commits memory, so that the next n additions of edges cannot fail. This holds for entities in slots
// for which the world already has memory. Grow returns a [*vm.Error] as [Archetype.Grow] does.
func (e Edges[T]) Grow(n int) error {
	s := e.made()
	s.world.mustBeOpen("Edges.Grow")
	return s.reach(s.world.size, s.world.size, n)
}

// RemoveTargets removes all edges out of an entity and reports whether there were any. Complexity: the number
// of removed edges.
func (e Edges[T]) RemoveTargets(from Entity) bool { return e.made().sources.remove(from) }

// CountTargets returns the number of edges out of an entity. Complexity: constant.
func (e Edges[T]) CountTargets(from Entity) int { return e.made().count(e.made().sources, from) }

// CountSources returns the number of edges into an entity. Complexity: constant.
func (e Edges[T]) CountSources(to Entity) int { return e.made().count(e.made().targets, to) }

// Targets yields the targets of the edges out of an entity, with the values of the edges, in the order in
// which the edges were made. The loop may write values. If the loop changes the structure of the world, its
// next step panics.
func (e Edges[T]) Targets(from Entity) iter.Seq2[Entity, *T] {
	return func(yield func(Entity, *T) bool) { e.made().walk(e.made().sources, from, yield) }
}

// Sources yields the sources of the edges into an entity, with the values of the edges, in the order in which
// the edges were made. The rules of [Edges.Targets] apply.
func (e Edges[T]) Sources(to Entity) iter.Seq2[Entity, *T] {
	return func(yield func(Entity, *T) bool) { e.made().walk(e.made().targets, to, yield) }
}

// laterEdge holds the arguments of AddLater, without the source.
type laterEdge[T any] struct {
	to    Entity
	value T
}

// AddLater records a command that makes or overwrites an edge as [Edges.Add] does. Both entities may be
// placeholders.
func (e Edges[T]) AddLater(cs *Commands, from, to Entity, v T) {
	one := laterEdge[T]{to, v}
	*(*laterEdge[T])(cs.recordFor(e.made().sources, commandAdd, from, unsafe.Sizeof(one))) = one
}

// RemoveLater records a command that removes an edge as [Edges.Remove] does.
func (e Edges[T]) RemoveLater(cs *Commands, from, to Entity) {
	*(*Entity)(cs.recordFor(e.made().sources, commandRemove, from, unsafe.Sizeof(to))) = to
}

func (s *edges[T]) later(cs *Commands, kind commandKind, from Entity, v unsafe.Pointer) bool {
	to := cs.resolve(*(*Entity)(v))
	if kind == commandRemove {
		return Edges[T]{s}.Remove(from, to)
	}
	return Edges[T]{s}.Add(from, to, (*laterEdge[T])(v).value) != nil
}

func (s *edges[T]) count(c *column, e Entity) int {
	if !c.has(e) {
		return 0
	}
	return int(s.ends(c, e.slot).count)
}

// walk yields the entities at the other ends of e's edges. If c is the column of sources, walk follows the
// edges out of e. If c is the column of targets, walk follows the edges into e.
func (s *edges[T]) walk(c *column, e Entity, yield func(Entity, *T) bool) {
	if !c.has(e) {
		return
	}
	before := s.world.changes
	for h := s.ends(c, e.slot).first; !h.IsZero(); {
		one := s.pool.Get(h)
		other := one.to
		h = one.nextOut
		if c == s.targets {
			other, h = one.from, one.nextIn
		}
		if !yield(Entity{slot: other, generation: *s.world.generation(other)}, &one.value) {
			return
		}
		s.world.unchanged(before, "edges were walked over")
	}
}

// ends returns the ends of a slot's list of edges in column c, which is the column of sources or of targets.
// The conversion is sound for the usable slots of the column.
func (s *edges[T]) ends(c *column, slot uint32) *ends[T] {
	return (*ends[T])(unsafe.Add(c.base, uintptr(slot)*unsafe.Sizeof(ends[T]{})))
}

// find returns the edge between two entities, or the zero Handle. It searches the shorter of the two lists.
func (s *edges[T]) find(from, to Entity) bulk.Handle[edge[T]] {
	if !s.sources.has(from) || !s.targets.has(to) {
		return bulk.Handle[edge[T]]{}
	}
	out, in := s.ends(s.sources, from.slot), s.ends(s.targets, to.slot)
	if out.count <= in.count {
		for h := out.first; !h.IsZero(); {
			one := s.pool.Get(h)
			if one.to == to.slot {
				return h
			}
			h = one.nextOut
		}
		return bulk.Handle[edge[T]]{}
	}
	for h := in.first; !h.IsZero(); {
		one := s.pool.Get(h)
		if one.from == from.slot {
			return h
		}
		h = one.nextIn
	}
	return bulk.Handle[edge[T]]{}
}
