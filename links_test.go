package vast

import (
	"reflect"
	"slices"
	"testing"
)

func TestLinksWithoutTypes(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	childOf := NewRelation(w, "ChildOf", RelationOptions{})
	roads, plain := NewEdges[velocity](w, "Roads", EdgesOptions{}), NewColumn[Entity](w)
	es := entitiesIn(w.Archetype(), 5)
	childOf.Set(es[1], es[0])
	roads.Add(es[0], es[2], velocity{X: 2})
	roads.Add(es[0], es[1], velocity{X: 1})
	roads.Add(es[3], es[1], velocity{X: 3})
	var relations, edges []string
	for _, col := range w.Columns() {
		if r, ok := RelationOf(col); ok {
			relations = append(relations, r.Name())
			if to, ok := r.Target(es[1]); !ok || to != es[0] || r != childOf {
				t.Errorf("the target is %v", to)
			}
		}
		if e, ok := EdgesOf(col); ok {
			edges = append(edges, e.Name())
		}
	}
	if !slices.Equal(relations, []string{"ChildOf"}) || !slices.Equal(edges, []string{"Roads"}) {
		t.Errorf("relations %q, edges %q", relations, edges)
	}
	if _, ok := EdgesOf(plain); ok {
		t.Error("a column of entities is taken for edges")
	}
	if r, ok := RelationOf(plain); ok || r != (Relation{}) {
		t.Error("a column of entities is taken for a relation")
	}

	any, _ := EdgesOf(roads)
	if any.Type() != reflect.TypeFor[velocity]() || any.CountOut(es[0]) != 2 || any.CountIn(es[1]) != 2 || any.CountOut(es[1]) != 0 {
		t.Errorf("%v, %d out, %d in", any.Type(), any.CountOut(es[0]), any.CountIn(es[1]))
	}
	if w.Query(any).Count() != 2 || w.Query(any.Targets()).Count() != 2 {
		t.Error("AnyEdges are another column than the edges")
	}
	collect := func(seq func(func(Entity, reflect.Value) bool)) (got []farEnd) {
		for e, v := range seq {
			got = append(got, farEnd{e, v.Interface().(velocity).X})
			v.Field(0).SetFloat(100) // a copy
		}
		return got
	}
	if got := collect(any.Out(es[0])); !slices.Equal(got, []farEnd{{es[2], 2}, {es[1], 1}}) {
		t.Errorf("out: %v", got)
	}
	if got := collect(any.In(es[1])); !slices.Equal(got, []farEnd{{es[0], 1}, {es[3], 3}}) {
		t.Errorf("in: %v", got)
	}
	says(t, func() { AnyEdges{}.Name() }, "the zero AnyEdges belong to no world: get them from EdgesOf")
	says(t, func() { w.Query(AnyEdges{}) }, "was not made")
	w.Close()
	if any.CountOut(es[0]) != 0 || len(collect(any.Out(es[0]))) != 0 {
		t.Error("a closed world has edges")
	}
}

type farEnd struct {
	e Entity
	x float64
}

func TestSourcesAfter(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	childOf := NewRelation(w, "ChildOf", RelationOptions{})
	es := entitiesIn(w.Archetype(), 102)
	parent, children := es[0], es[2:]
	for _, e := range children {
		childOf.Set(e, parent)
	}
	for i, e := range children {
		if got := slices.Collect(childOf.SourcesAfter(e)); !slices.Equal(got, children[i+1:]) {
			t.Fatalf("after %d: %v", i, got)
		}
	}
	childOf.Set(children[50], es[1])
	for _, e := range []Entity{children[50], parent, {}} {
		for after := range childOf.SourcesAfter(e) {
			t.Errorf("%v after %v", after, e)
		}
	}
	says(t, func() {
		for range childOf.SourcesAfter(children[3]) {
			childOf.Remove(children[0])
		}
	}, "the sources of a target were walked over")
}

func TestNamesOf(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 64})
	defer w.Close()
	if _, ok := NamesOf(w); ok || len(w.Columns()) != 0 {
		t.Error("a world without names has some")
	}
	made := NewNames(w)
	if n, ok := NamesOf(w); !ok || n != made {
		t.Error("the names are not the world's")
	}
}
