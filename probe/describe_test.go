package probe_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

type position struct{ X, Y float64 }

type velocity struct{ X, Y float64 }

type described struct {
	A    uint8
	grid [2][3]position
	To   vast.Entity
}

func TestDescribe(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 128})
	defer w.Close()
	c, tag := vast.NewColumn[described](w), vast.NewTag(w, "Tag")
	sparse, text := vast.NewSparseColumn[position](w), vast.NewHeapColumn[[]string](w)
	for i, want := range []struct {
		storage probe.Storage
		name    string
		typ     reflect.Type
	}{
		{probe.StorageDense, "described", reflect.TypeFor[described]()},
		{probe.StorageTag, "Tag", nil},
		{probe.StorageSparse, "position", reflect.TypeFor[position]()},
		{probe.StorageHeap, "", reflect.TypeFor[[]string]()},
	} {
		info := probe.Describe(probe.Columns(w)[i])
		if info.ID != i || info.World != w || info.Name != want.name ||
			info.Storage != want.storage || info.Type != want.typ {
			t.Errorf("column %d is described as %+v, want %+v", i, info, want)
		}
	}
	l := probe.Describe(c).Layout
	var d described
	if l.Size != int(unsafe.Sizeof(d)) || l.Align != int(unsafe.Alignof(d)) || len(l.Parts) != 3 ||
		l.Count != 0 {
		t.Fatalf("the layout is %+v", l)
	}
	grid := l.Parts[1]
	if grid.Name != "grid" || grid.Exported || grid.Offset != int(unsafe.Offsetof(d.grid)) ||
		grid.Count != 2 || grid.Parts[0].Count != 3 ||
		grid.Parts[0].Size != 3*int(unsafe.Sizeof(position{})) {
		t.Errorf("the layout of grid is %+v", grid)
	}
	y := grid.Parts[0].Parts[0].Parts[1]
	if y.Name != "Y" || y.Offset != int(unsafe.Offsetof(position{}.Y)) || !y.Exported || len(y.Parts) != 0 {
		t.Errorf("the layout of Y is %+v", y)
	}
	if l := probe.Describe(tag).Layout; l.Size != 0 || l.Type != nil {
		t.Errorf("a tag has the layout %+v, want none", l)
	}

	e := w.Archetype(c, tag, sparse, text).New()
	c.Get(e).grid[1][2].Y = 5
	sparse.Get(e).X = 6
	*text.Get(e) = []string{"a"}
	cols := probe.ComponentsOf(w, e)
	if len(cols) != 4 || probe.Describe(cols[2]).ID != 2 || w.Query(cols...).Count() != 1 {
		t.Errorf("ComponentsOf returns %d columns, want 4 in the order in which they were made", len(cols))
	}
	v, ok := probe.Value(c, e)
	if !ok || v.Interface().(described).grid[1][2].Y != 5 {
		t.Errorf("the value is %v", v)
	}
	v.Field(0).SetUint(9)
	if c.Get(e).A != 0 {
		t.Error("Value is not a copy")
	}
	if v, ok := probe.Value(sparse, e); !ok || v.Interface() != (position{X: 6}) {
		t.Errorf("the value is %v", v)
	}
	if v, ok := probe.Value(text, e); !ok || v.Index(0).String() != "a" {
		t.Errorf("the value is %v", v)
	}
	if v, ok := probe.Value(tag, e); !ok || v.Interface() != struct{}{} {
		t.Errorf("the value is %v", v)
	}
	w.Delete(e)
	for _, col := range probe.Columns(w) {
		if v, ok := probe.Value(col, e); ok || v.IsValid() {
			t.Errorf("a stale entity has %v", v)
		}
	}
	if len(probe.ComponentsOf(w, e)) != 0 {
		t.Error("a stale entity has components")
	}
}

// TestTargetsAreNoComponent: ComponentsOf returns no column of targets.
func TestTargetsAreNoComponent(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1024})
	defer w.Close()
	rel := vast.NewRelation(w, "ChildOf", vast.RelationOptions{})
	roads := vast.NewEdges[uint64](w, "Roads", vast.EdgesOptions{})
	a := w.Archetype()
	child, parent := a.New(), a.New()
	rel.Set(child, parent)
	roads.Add(child, parent, 7)
	if cols := probe.ComponentsOf(w, parent); len(cols) != 0 || w.Sprint(parent) != parent.String()+" {}" {
		t.Errorf("the target has %d components, want none: %s", len(cols), w.Sprint(parent))
	}
	cols := probe.ComponentsOf(w, child)
	if len(cols) != 2 || cols[0].Name() != "ChildOf" || cols[1].Name() != "Roads" {
		t.Errorf("the source has %d components, want ChildOf and Roads: %s", len(cols), w.Sprint(child))
	}
}

func TestStatsOf(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer w.Close()
	c, sparse := vast.NewColumn[uint64](w), vast.NewSparseColumn[uint64](w)
	w.Archetype(c).NewN(300, nil)
	w.Archetype(c, sparse).NewN(20, nil)
	want := w.Stats().Columns
	for i, col := range probe.Columns(w) {
		if got := probe.StatsOf(col); got != want[i] || got.Entities != []int{320, 20}[i] {
			t.Errorf("column %d: %+v, want %+v", i, got, want[i])
		}
	}
}

func TestColumnsThatWereNotMade(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	var none vast.Column[uint64]
	var e vast.Entity
	for name, f := range map[string]func(){
		"Describe":   func() { probe.Describe(nil) },
		"StatsOf":    func() { probe.StatsOf(none) },
		"Value":      func() { probe.Value(none, e) },
		"Bytes":      func() { probe.Bytes(nil, vast.Run{}) },
		"Occupied":   func() { probe.Occupied(w, none, 0, 64) },
		"Presence":   func() { probe.Presence(w, none, 0) },
		"RelationOf": func() { probe.RelationOf(nil) },
		"EdgesOf":    func() { probe.EdgesOf(vast.Edges[uint64]{}) },
	} {
		says(t, f, "probe: "+name+": the column was not made with NewColumn")
	}
}
