package probe_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

func TestLinksWithoutTypes(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1024})
	childOf := vast.NewRelation(w, "ChildOf", vast.RelationOptions{})
	roads, plain := vast.NewEdges[velocity](w, "Roads", vast.EdgesOptions{}), vast.NewColumn[vast.Entity](w)
	var es []vast.Entity
	for range 5 {
		es = append(es, w.Archetype().New())
	}
	childOf.Set(es[1], es[0])
	roads.Add(es[0], es[2], velocity{X: 2})
	roads.Add(es[0], es[1], velocity{X: 1})
	roads.Add(es[3], es[1], velocity{X: 3})
	var relations, edges []string
	for _, col := range probe.Columns(w) {
		if r, ok := probe.RelationOf(col); ok {
			relations = append(relations, r.Name())
			if to, ok := r.Target(es[1]); !ok || to != es[0] || r != childOf {
				t.Errorf("the relation is %v and the target %v, want ChildOf and %v", r.Name(), to, es[0])
			}
		}
		if e, ok := probe.EdgesOf(col); ok {
			edges = append(edges, e.Name())
		}
	}
	if !slices.Equal(relations, []string{"ChildOf"}) || !slices.Equal(edges, []string{"Roads"}) {
		t.Errorf("relations %q, edges %q", relations, edges)
	}
	if _, ok := probe.EdgesOf(plain); ok {
		t.Error("EdgesOf returns edges for a plain column of entities")
	}
	if r, ok := probe.RelationOf(plain); ok || r != (vast.Relation{}) {
		t.Error("RelationOf returns a relation for a plain column of entities")
	}

	anyRoads, _ := probe.EdgesOf(roads)
	if anyRoads.Type() != reflect.TypeFor[velocity]() || anyRoads.CountTargets(es[0]) != 2 ||
		anyRoads.CountSources(es[1]) != 2 || anyRoads.CountTargets(es[1]) != 0 {
		t.Errorf("the values have the type %v, entity 0 has %d targets, entity 1 has %d sources",
			anyRoads.Type(), anyRoads.CountTargets(es[0]), anyRoads.CountSources(es[1]))
	}
	if w.Query(anyRoads.SourceColumn()).Count() != 2 || w.Query(anyRoads.TargetColumn()).Count() != 2 {
		t.Error("a column of AnyEdges matches the wrong number of entities")
	}
	collect := func(seq func(func(vast.Entity, reflect.Value) bool)) (got []farEnd) {
		for e, v := range seq {
			got = append(got, farEnd{e, v.Interface().(velocity).X})
			v.Field(0).SetFloat(100) // v is a copy
		}
		return got
	}
	if got := collect(anyRoads.Targets(es[0])); !slices.Equal(got, []farEnd{{es[2], 2}, {es[1], 1}}) {
		t.Errorf("the targets are %v", got)
	}
	if got := collect(anyRoads.Sources(es[1])); !slices.Equal(got, []farEnd{{es[0], 1}, {es[3], 3}}) {
		t.Errorf("the sources are %v", got)
	}
	says(t, func() { probe.AnyEdges{}.Name() }, "the zero AnyEdges belong to no world: get them from EdgesOf")
	w.Close()
	if anyRoads.CountTargets(es[0]) != 0 || len(collect(anyRoads.Targets(es[0]))) != 0 {
		t.Error("a closed world has edges")
	}
}

type farEnd struct {
	e vast.Entity
	x float64
}

func TestNamesOf(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	if _, ok := probe.NamesOf(w); ok || len(probe.Columns(w)) != 0 {
		t.Error("a world without names has an index of names, or a column")
	}
	made := w.Names()
	if n, ok := probe.NamesOf(w); !ok || n != made {
		t.Error("NamesOf does not return the names of the world")
	}
}
