package probe_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

func TestSetValue(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 128})
	defer w.Close()
	dense, tag := vast.NewColumn[described](w), vast.NewTag(w, "Tag")
	sparse, text := vast.NewSparseColumn[position](w), vast.NewHeapColumn[[]string](w)
	anything := vast.NewHeapColumn[any](w).Named("Any")
	empty := vast.NewColumn[struct{}](w).Named("Empty")
	cols := []vast.AnyColumn{dense, tag, sparse, text, anything, empty}
	e, other := w.Archetype(cols...).New(), w.Archetype().New()

	var wrote []string
	for _, col := range probe.Columns(w) {
		tracker := vast.NewTracker(w, col)
		v, ok := probe.Value(col, e)
		if !ok {
			t.Fatal("no value of ", col.Name())
		}
		switch probe.Describe(col).Name {
		case "described":
			v.Field(0).SetUint(7)
		case "position":
			v.Field(1).SetFloat(2.5)
		case "":
			v.Set(reflect.ValueOf([]string{"x"}))
		case "Any":
			v.Set(reflect.ValueOf(12))
		}
		if !probe.SetValue(col, e, v) || probe.SetValue(col, other, v) ||
			probe.SetValue(col, vast.Entity{}, v) {
			t.Errorf("%s is written to the wrong entities", col.Name())
		}
		for changed := range tracker.Changed(col) {
			if changed == e {
				wrote = append(wrote, col.Name())
			}
		}
		tracker.Close()
	}
	if dense.Get(e).A != 7 || sparse.Get(e).Y != 2.5 || !slices.Equal(*text.Get(e), []string{"x"}) ||
		*anything.Get(e) != 12 {
		t.Errorf("the values are %v, %v, %v and %v", *dense.Get(e), *sparse.Get(e), *text.Get(e),
			*anything.Get(e))
	}
	if want := []string{"described", "position", "", "Any", "Empty"}; !slices.Equal(wrote, want) {
		t.Errorf("trackers saw writes of %q, want %q", wrote, want)
	}
}

func TestAddValue(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 128})
	defer w.Close()
	pos, tag := vast.NewColumn[position](w), vast.NewTag(w, "Tag")
	sparse, text := vast.NewSparseColumn[velocity](w), vast.NewHeapColumn[string](w)
	rel, names := vast.NewRelation(w, "ChildOf", vast.RelationOptions{}), w.Names()
	var told []any
	pos.OnAdd(func(_ vast.Entity, v *position) { told = append(told, *v) })
	sparse.OnAdd(func(_ vast.Entity, v *velocity) { told = append(told, *v) })
	text.OnAdd(func(_ vast.Entity, v *string) { told = append(told, *v) })
	tag.OnAdd(func(vast.Entity) { told = append(told, "tag") })
	text.OnRemove(func(_ vast.Entity, v *string) { told = append(told, "-"+*v) })
	e, parent := w.Archetype().New(), w.Archetype().New()
	rel.Set(e, parent)
	if _, err := names.Set(e, "Paris"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second AddValue overwrites the component and calls no callback
		values := map[vast.AnyColumn]any{pos: position{1, 2}, tag: struct{}{}, sparse: velocity{3, 4},
			text: "hello"}
		for col, v := range values {
			if !probe.AddValue(col, e, reflect.ValueOf(v)) {
				t.Error("AddValue fails for a live entity")
			}
		}
	}
	if *pos.Get(e) != (position{1, 2}) || *sparse.Get(e) != (velocity{3, 4}) || *text.Get(e) != "hello" ||
		!tag.Has(e) {
		t.Error("a component differs from the value that AddValue got")
	}
	for _, want := range []any{position{1, 2}, velocity{3, 4}, "hello", "tag"} {
		if !slices.Contains(told, want) || len(told) != 4 {
			t.Errorf("callbacks saw %v, want four values and %v among them", told, want)
		}
	}
	for _, col := range probe.Columns(w) {
		if !probe.Describe(col).World.Alive(e) || col.Name() == "ChildOf targets" {
			continue
		}
		if !probe.RemoveValue(col, e) || probe.RemoveValue(col, e) {
			t.Errorf("want RemoveValue of %s to succeed in the first of two calls only", col.Name())
		}
	}
	if _, ok := names.Find("Paris"); ok || len(probe.ComponentsOf(w, e)) != 0 ||
		rel.CountSources(parent) != 0 || told[4] != "-hello" {
		t.Errorf("after all calls of RemoveValue the entity is %s; callbacks saw %v", w.Sprint(e), told)
	}
	w.Delete(e)
	if probe.AddValue(pos, e, reflect.ValueOf(position{})) || probe.RemoveValue(pos, e) {
		t.Error("a stale entity got a value")
	}
}

func TestSetValueMisuse(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 128})
	pos, tag, hidden := vast.NewColumn[position](w), vast.NewTag(w, "Tag"), vast.NewColumn[described](w)
	rel, names := vast.NewRelation(w, "ChildOf", vast.RelationOptions{}), w.Names()
	roads := vast.NewEdges[uint64](w, "Roads", vast.EdgesOptions{})
	e := w.Archetype(pos, tag, hidden).New()
	v, _ := probe.Value(hidden, e)
	grid := vast.NewColumn[[2][3]position](w)
	for _, tt := range []struct {
		f    func()
		says string
	}{
		{func() { probe.SetValue(pos, e, reflect.Value{}) },
			"SetValue: position holds probe_test.position and cannot take the zero reflect.Value"},
		{func() { probe.SetValue(pos, e, reflect.ValueOf(velocity{})) },
			"cannot take a probe_test.velocity: give a value of Describe(col).Type"},
		{func() { probe.SetValue(tag, e, reflect.ValueOf(true)) },
			"Tag holds struct {} and cannot take a bool"},
		{func() { probe.SetValue(grid, e, v.Field(1)) }, "obtained through an unexported field"},
		{func() { probe.SetValue(rel, e, reflect.ValueOf(e)) },
			"ChildOf belongs to the links of ChildOf, which have two ends: use Relation.Set"},
		{func() { probe.SetValue(rel.TargetColumn(), e, reflect.ValueOf(e)) },
			"ChildOf targets belongs to the links of ChildOf"},
		{func() { probe.AddValue(roads, e, reflect.ValueOf(e)) },
			"AddValue: Roads belongs to the links of Roads"},
		{func() { probe.SetValue(names, e, reflect.ValueOf("x")) }, "use Names.Set"},
		{func() { probe.RemoveValue(rel.TargetColumn(), e) },
			"RemoveValue: ChildOf targets holds no component"},
		{func() { probe.SetValue(nil, e, reflect.ValueOf("x")) }, "SetValue: the column was not made"},
	} {
		says(t, tt.f, tt.says)
	}
	w.Close()
	if probe.SetValue(pos, e, reflect.ValueOf(position{})) {
		t.Error("a closed world was written to")
	}
	says(t, func() { probe.AddValue(pos, e, reflect.ValueOf(position{})) }, "on the closed world")
}
