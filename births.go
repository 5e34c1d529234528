package vast

import (
	"errors"
	"reflect"
	"slices"

	"github.com/vastgo/vast/internal/state"
)

// Columns returns the columns of a world for a function of package store, in the order of their numbers. If
// the function writes the world, Columns returns an error if Commands have not been applied.
func (states) Columns(function string, w *World, writes bool) ([]state.Column, error) {
	w.mustBeOpen(function)
	w.mustRunAlone(function)
	w.mustBeDistinct()
	if writes && w.commands.pending() {
		return nil, errors.New("commands have been recorded and not applied: call World.Apply first")
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

// Births makes counts[i] entities of each archetype, and calls born for each run of them. Once all exist, it
// calls fill, to write their components, and then the callbacks of the births. So a callback sees components
// that refer to other entities of the call. born and fill must not change the structure of the world. On an
// error nothing has changed.
func (states) Births(archetypes []*Archetype, counts []int, born func(i int, r Run), fill func()) error {
	var grown []growth
	for i, a := range archetypes {
		g := growth{a, slices.Clone(a.extents), a.promised, len(a.extents) == 1 && a.extents[0].spare}
		if err := a.Grow(counts[i]); err != nil {
			for _, g := range grown {
				g.undo()
			}
			return err
		}
		grown = append(grown, g)
	}
	type birth struct {
		of *Archetype
		Run
	}
	var births []birth
	defer func() {
		// The OnAdd hooks must run even after a panic: when these entities are deleted, their OnRemove hooks
		// run.
		for _, b := range births {
			b.of.tellBirths(b.start, b.start+b.n)
		}
	}()
	for i, a := range archetypes {
		a.world.mustNotBeInCallback(opNewN)
		for n := counts[i]; n > 0; {
			lo := a.seek(n)
			hi := min(a.world.live.Next(uint(lo)), uint(a.at.end()), uint(lo)+uint(n))
			run := a.take(lo, uint32(hi))
			n -= run.Len()
			births = append(births, birth{a, run})
			born(i, run)
		}
	}
	fill()
	return nil
}

// growth is what an archetype had before Archetype.Grow.
type growth struct {
	*Archetype
	before   []*extent
	promised int
	spare    bool // whether its only extent was spare
}

// undo gives back the extents that were drawn since, so that other archetypes can draw them, and withdraws
// the promises that were made since.
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

// Cyclic reports whether a relation is cyclic. The parameter is the column that holds the relation's sources.
func (states) Cyclic(sources any) bool { return sources.(*column).relation().cyclic }

// edgesOfAnyType is an edgeStore without the type of the values.
type edgesOfAnyType interface {
	grow(n int) error
	add(from, to Entity, v reflect.Value) bool
}

// GrowEdges is [Edges.Grow] for the edges whose sources a column holds.
func (states) GrowEdges(sources any, n int) error {
	return sources.(*column).store.(edgesOfAnyType).grow(n)
}

// AddEdge is [Edges.Add] for the edges whose sources a column holds. v must be addressable and have the type
// of their values.
func (states) AddEdge(sources any, from, to Entity, v reflect.Value) bool {
	return sources.(*column).store.(edgesOfAnyType).add(from, to, v)
}

func (s edgeStore[T]) grow(n int) error { return Edges[T]{s.e}.Grow(n) }

func (s edgeStore[T]) add(from, to Entity, v reflect.Value) bool {
	return Edges[T]{s.e}.Add(from, to, *v.Addr().Interface().(*T)) != nil
}
