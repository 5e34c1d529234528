package vast

import (
	"reflect"
	"slices"
	"testing"
)

// TestSetValue writes by reflection into every storage, and asks the typed doors and a tracker what has come of it.
func TestSetValue(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 128})
	defer w.Close()
	dense, tag := NewColumn[described](w), NewTag(w, "Tag")
	sparse, text := NewSparseColumn[position](w), NewHeapColumn[[]string](w)
	anything := NewHeapColumnWith[any](w, ColumnOptions{Name: "Any"})
	empty := NewColumnWith[struct{}](w, ColumnOptions{Name: "Empty"})
	cols := []AnyColumn{dense, tag, sparse, text, anything, empty}
	e, other := w.Archetype(cols...).New(), w.Archetype().New()

	var wrote []string
	for _, col := range w.Columns() {
		tracker := w.Track(col)
		v, ok := Value(col, e)
		if !ok {
			t.Fatal("no value of ", col.Name())
		}
		switch Describe(col).Name {
		case "described":
			v.Field(0).SetUint(7)
		case "position":
			v.Field(1).SetFloat(2.5)
		case "":
			v.Set(reflect.ValueOf([]string{"x"}))
		case "Any":
			v.Set(reflect.ValueOf(12))
		}
		if !SetValue(col, e, v) || SetValue(col, other, v) || SetValue(col, Entity{}, v) {
			t.Errorf("%s is written to the wrong ones", col.Name())
		}
		for changed := range tracker.Changed(col) {
			if changed == e {
				wrote = append(wrote, col.Name())
			}
		}
		tracker.Close()
	}
	if dense.Get(e).A != 7 || sparse.Get(e).Y != 2.5 || !slices.Equal(*text.Get(e), []string{"x"}) || *anything.Get(e) != 12 {
		t.Errorf("%v %v %v %v", *dense.Get(e), *sparse.Get(e), *text.Get(e), *anything.Get(e))
	}
	if want := []string{"described", "position", "", "Any", "Empty"}; !slices.Equal(wrote, want) {
		t.Errorf("trackers saw writes of %q, want %q", wrote, want)
	}
	w.checkInvariants()
}

// TestAddValue does what Add and Remove do, hooks included.
func TestAddValue(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 128})
	defer w.Close()
	pos, tag, sparse, text := NewColumn[position](w), NewTag(w, "Tag"), NewSparseColumn[velocity](w), NewHeapColumn[string](w)
	rel, names := NewRelation(w, "ChildOf", RelationOptions{}), NewNames(w)
	var told []any
	pos.OnAdd(func(_ Entity, v *position) { told = append(told, *v) })
	sparse.OnAdd(func(_ Entity, v *velocity) { told = append(told, *v) })
	text.OnAdd(func(_ Entity, v *string) { told = append(told, *v) })
	tag.OnAdd(func(Entity) { told = append(told, "tag") })
	text.OnRemove(func(_ Entity, v *string) { told = append(told, "-"+*v) })
	e, parent := w.Archetype().New(), w.Archetype().New()
	rel.Set(e, parent)
	if _, err := names.Set(e, "Paris"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it overwrites, of which no hook is told
		for col, v := range map[AnyColumn]any{pos: position{1, 2}, tag: struct{}{}, sparse: velocity{3, 4}, text: "hello"} {
			if !AddValue(col, e, reflect.ValueOf(v)) {
				t.Error("e is alive")
			}
		}
	}
	if *pos.Get(e) != (position{1, 2}) || *sparse.Get(e) != (velocity{3, 4}) || *text.Get(e) != "hello" || !tag.Has(e) {
		t.Error("values differ")
	}
	for _, want := range []any{position{1, 2}, velocity{3, 4}, "hello", "tag"} {
		if !slices.Contains(told, want) || len(told) != 4 {
			t.Errorf("hooks were told of %v, want %v once", told, want)
		}
	}
	for _, col := range w.Columns() {
		if !Describe(col).World.Alive(e) || col.Name() == "ChildOf targets" {
			continue
		}
		if !RemoveValue(col, e) || RemoveValue(col, e) {
			t.Errorf("%s is not removed once", col.Name())
		}
	}
	if _, ok := names.Find("Paris"); ok || len(w.ComponentsOf(e)) != 0 || rel.CountSources(parent) != 0 || told[4] != "-hello" {
		t.Errorf("%s is left; hooks were told of %v", w.Sprint(e), told)
	}
	w.Delete(e)
	if AddValue(pos, e, reflect.ValueOf(position{})) || RemoveValue(pos, e) {
		t.Error("a stale entity has got a value")
	}
	w.checkInvariants()
}

func TestSetValueMisuse(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 128})
	pos, tag, hidden := NewColumn[position](w), NewTag(w, "Tag"), NewColumn[described](w)
	rel, roads, names := NewRelation(w, "ChildOf", RelationOptions{}), NewEdges[uint64](w, "Roads", EdgesOptions{}), NewNames(w)
	e := w.Archetype(pos, tag, hidden).New()
	v, _ := Value(hidden, e)
	grid := NewColumn[[2][3]position](w)
	for _, tt := range []struct {
		f    func()
		says string
	}{
		{func() { SetValue(pos, e, reflect.Value{}) }, "SetValue: position holds vast.position and cannot take the zero reflect.Value"},
		{func() { SetValue(pos, e, reflect.ValueOf(velocity{})) }, "cannot take a vast.velocity: give a value of Describe(col).Type"},
		{func() { SetValue(tag, e, reflect.ValueOf(true)) }, "Tag holds struct {} and cannot take a bool"},
		{func() { SetValue(grid, e, v.Field(1)) }, "got through an unexported field"},
		{func() { SetValue(rel, e, reflect.ValueOf(e)) }, "ChildOf belongs to the links of ChildOf, which have two ends: use Relation.Set"},
		{func() { SetValue(rel.Targets(), e, reflect.ValueOf(e)) }, "ChildOf targets belongs to the links of ChildOf"},
		{func() { AddValue(roads, e, reflect.ValueOf(e)) }, "AddValue: Roads belongs to the links of Roads"},
		{func() { SetValue(names, e, reflect.ValueOf("x")) }, "use Names.Set"},
		{func() { RemoveValue(rel.Targets(), e) }, "RemoveValue: ChildOf targets is no component"},
		{func() { SetValue(nil, e, reflect.ValueOf("x")) }, "SetValue: the column was not made"},
	} {
		says(t, tt.f, tt.says)
	}
	w.Close()
	if SetValue(pos, e, reflect.ValueOf(position{})) {
		t.Error("a closed world was written to")
	}
	says(t, func() { AddValue(pos, e, reflect.ValueOf(position{})) }, "on the closed world")
}
