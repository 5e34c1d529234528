package vast

import (
	"errors"
	"reflect"
	"slices"

	"github.com/vastgo/vast/internal/state"
)

// Ready returns the number of a world's columns. It panics if a function of package store must not use the
// world now. writes says whether the function writes the world to a file. If so, Ready returns an error when
// some Commands have not been applied.
func (states) Ready(function string, w *World, writes bool) (columns int, err error) {
	w.mustBeOpen(function)
	w.mustRunAlone(function)
	w.mustBeDistinct()
	if writes && w.commands.pending() {
		return 0, errors.New("commands have been recorded and not applied: call World.Apply first")
	}
	return len(w.columns), nil
}

// Columns makes the checks of Ready, and returns the columns of a world in the order of their numbers.
func (s states) Columns(function string, w *World, writes bool) ([]state.Column, error) {
	if _, err := s.Ready(function, w, writes); err != nil {
		return nil, err
	}
	columns := make([]state.Column, len(w.columns))
	for i, c := range w.columns {
		columns[i] = c.state()
	}
	return columns, nil
}

// WorldOf returns the world of a query.
func (states) WorldOf(q Query) *World {
	if q.q == nil {
		panic(zeroQuery)
	}
	return q.q.world
}

// Births makes counts[i] entities of archetypes[i], for each i. An archetype may occur several times. Births
// works in these steps:
//
//  1. It makes room for all entities.
//  2. It calls grow, which makes room for data that the caller adds after Births.
//  3. It makes the entities, and calls born for each run of new entities.
//  4. It calls fill, which writes the components.
//  5. It calls the OnAdd hooks, which see the components of all new entities.
//
// grow, born and fill must not change the structure of the world. On an error nothing has changed, apart from
// memory that is now committed.
func (states) Births(archetypes []*Archetype, counts []int, grow func() error, born func(i int, r Run),
	fill func()) error {
	if err := growAll(archetypes, counts, grow); err != nil {
		return err
	}
	bear(archetypes, counts, true, born, fill)
	return nil
}

// bear does the steps 3 to 5 of Births. There must be room for all entities. If zero is false, bear does not
// clear the components of the new entities, so fill must overwrite all of them.
func bear(archetypes []*Archetype, counts []int, zero bool, born func(i int, r Run), fill func()) {
	type birth struct {
		archetype *Archetype
		Run
	}
	var few [4]birth // most calls have at most four runs, and need no other memory
	births := few[:0]
	defer func() {
		// The OnAdd hooks must run even after a panic, because the OnRemove hooks run when these entities are
		// deleted.
		for _, b := range births {
			b.archetype.tellBirths(b.start, b.start+b.n)
		}
	}()
	for i, a := range archetypes {
		a.world.mustNotBeInCallback(opNewN)
		for n := counts[i]; n > 0; {
			lo := a.seek(n)
			hi := min(a.world.live.Next(uint(lo)), uint(a.at.end()), uint(lo)+uint(n))
			run := a.take(lo, uint32(hi), zero)
			n -= run.Len()
			births = append(births, birth{a, run})
			born(i, run)
		}
	}
	fill()
}

// growAll makes room for the births of several archetypes, and then calls grow. On an error no archetype has
// grown.
func growAll(archetypes []*Archetype, counts []int, grow func() error) (err error) {
	totals := make(map[*Archetype]int, len(archetypes))
	for i, a := range archetypes {
		totals[a] += counts[i]
	}
	var grown []growth
	defer func() {
		if err != nil {
			for _, g := range grown {
				g.undo()
			}
		}
	}()
	for _, a := range archetypes {
		n, ok := totals[a]
		if !ok {
			continue // the archetype occurred before
		}
		delete(totals, a)
		g := growth{a, slices.Clone(a.extents), a.promised, len(a.extents) == 1 && a.extents[0].spare}
		if err := a.Grow(n); err != nil {
			return err
		}
		grown = append(grown, g)
	}
	if err := growShared(archetypes, counts); err != nil {
		return err
	}
	return grow()
}

// growth records the state of an archetype before Archetype.Grow.
type growth struct {
	*Archetype
	before   []*extent
	promised int
	spare    bool // the archetype had one extent, and this extent was spare
}

// undo reverses Archetype.Grow: it gives the new extents back to the world and withdraws the new promises.
func (g *growth) undo() {
	a := g.Archetype
	for _, x := range slices.Clone(a.extents) {
		if !slices.Contains(g.before, x) {
			a.world.giveBack(x)
		}
	}
	if g.spare {
		a.extents[0].spare = true
	}
	if a.promised > g.promised {
		a.promise(g.promised)
	}
}

// GrowNames makes room for the names of all entities that fit into the world's present memory, so that
// setting these names cannot fail. The world must have Names.
func (states) GrowNames(w *World) error { return w.names.texts.c.grow(w.size) }

// GrowAdditions makes room for n additions of a component to entities in the slots below end, and for the
// components that these additions require. Later operations can take the room. On an error nothing has
// changed, apart from memory that is now committed.
func (states) GrowAdditions(col AnyColumn, end, n int) error {
	c := columnOf("GrowAdditions", col)
	if s, ok := c.store.(*sharedStore); ok { // each addition may bring a new value
		if err := s.table.Grow(n); err != nil {
			return err
		}
	}
	return c.makeRoom(uint32(end), n)
}

// Cyclic reports whether a relation is cyclic. sources is the column of the relation's sources.
func (states) Cyclic(sources any) bool { return sources.(*column).relation().cyclic }

// edgesOfAnyType is an edgeStore without the type of the values.
type edgesOfAnyType interface {
	grow(n int) error
	add(from, to Entity, v reflect.Value) bool
	get(from, to Entity) (v reflect.Value, ok bool)
	cut(from, to Entity) bool
}

// GrowEdges is [Edges.Grow]. sources is the column of the sources of the edges.
func (states) GrowEdges(sources any, n int) error {
	return sources.(*column).store.(edgesOfAnyType).grow(n)
}

// AddEdge is [Edges.Add], and returns false if Edges.Add returns nil. sources is the column of the sources of
// the edges. v must be addressable and have the type of the edges' values.
func (states) AddEdge(sources any, from, to Entity, v reflect.Value) bool {
	return sources.(*column).store.(edgesOfAnyType).add(from, to, v)
}

// EdgeValue returns a copy of the value of an edge, and whether the edge exists. sources is the column of the
// sources of the edges. Complexity: as [Edges.Get].
func (states) EdgeValue(sources any, from, to Entity) (v reflect.Value, ok bool) {
	return sources.(*column).store.(edgesOfAnyType).get(from, to)
}

// RemoveEdge is [Edges.Remove]. sources is the column of the sources of the edges.
func (states) RemoveEdge(sources any, from, to Entity) bool {
	return sources.(*column).store.(edgesOfAnyType).cut(from, to)
}

func (s edgeStore[T]) grow(n int) error { return Edges[T]{s.e}.Grow(n) }

func (s edgeStore[T]) add(from, to Entity, v reflect.Value) bool {
	return Edges[T]{s.e}.Add(from, to, *v.Addr().Interface().(*T)) != nil
}

func (s edgeStore[T]) get(from, to Entity) (v reflect.Value, ok bool) {
	p := Edges[T]{s.e}.Get(from, to)
	if p == nil {
		return v, false
	}
	return reflect.ValueOf(*p), true
}

func (s edgeStore[T]) cut(from, to Entity) bool { return Edges[T]{s.e}.Remove(from, to) }
