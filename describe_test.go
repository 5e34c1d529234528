package vast

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

type described struct {
	A    uint8
	grid [2][3]position
	To   Entity
}

func TestDescribe(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 128})
	defer w.Close()
	c, tag := NewColumn[described](w), NewTag(w, "Tag")
	sparse, text := NewSparseColumn[position](w), NewHeapColumn[[]string](w)
	for i, want := range []struct {
		storage Storage
		name    string
		typ     reflect.Type
	}{
		{StorageDense, "described", reflect.TypeFor[described]()},
		{StorageTag, "Tag", nil},
		{StorageSparse, "position", reflect.TypeFor[position]()},
		{StorageHeap, "", reflect.TypeFor[[]string]()},
	} {
		info := Describe(w.Columns()[i])
		if info.ID != i || info.World != w || info.Name != want.name || info.Storage != want.storage || info.Type != want.typ {
			t.Errorf("column %d: %+v", i, info)
		}
	}
	l := Describe(c).Layout
	var d described
	if l.Size != int(unsafe.Sizeof(d)) || l.Align != int(unsafe.Alignof(d)) || len(l.Parts) != 3 || l.Count != 0 {
		t.Fatalf("%+v", l)
	}
	grid := l.Parts[1]
	if grid.Name != "grid" || grid.Exported || grid.Offset != int(unsafe.Offsetof(d.grid)) || grid.Count != 2 ||
		grid.Parts[0].Count != 3 || grid.Parts[0].Size != 3*int(unsafe.Sizeof(position{})) {
		t.Errorf("%+v", grid)
	}
	if y := grid.Parts[0].Parts[0].Parts[1]; y.Name != "Y" || y.Offset != int(unsafe.Offsetof(position{}.Y)) || !y.Exported || len(y.Parts) != 0 {
		t.Errorf("%+v", y)
	}
	if l := Describe(tag).Layout; l.Size != 0 || l.Type != nil {
		t.Errorf("a tag's layout: %+v", l)
	}

	e := w.Archetype(c, tag, sparse, text).New()
	c.Get(e).grid[1][2].Y = 5
	sparse.Get(e).X = 6
	*text.Get(e) = []string{"a"}
	if cols := w.ComponentsOf(e); len(cols) != 4 || Describe(cols[2]).ID != 2 || w.Query(cols...).Count() != 1 {
		t.Errorf("%d components", len(cols))
	}
	v, ok := Value(c, e)
	if !ok || v.Interface().(described).grid[1][2].Y != 5 {
		t.Errorf("the value is %v", v)
	}
	v.Field(0).SetUint(9)
	if c.Get(e).A != 0 {
		t.Error("Value is no copy")
	}
	if v, ok := Value(sparse, e); !ok || v.Interface() != (position{X: 6}) {
		t.Errorf("the value is %v", v)
	}
	if v, ok := Value(text, e); !ok || v.Index(0).String() != "a" {
		t.Errorf("the value is %v", v)
	}
	if v, ok := Value(tag, e); !ok || v.Interface() != struct{}{} {
		t.Errorf("the value is %v", v)
	}
	w.Delete(e)
	for _, col := range w.Columns() {
		if v, ok := Value(col, e); ok || v.IsValid() {
			t.Errorf("a stale entity has %v", v)
		}
	}
	if len(w.ComponentsOf(e)) != 0 {
		t.Error("a stale entity has components")
	}
}

func TestSprint(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 128})
	defer w.Close()
	pos, docked, health := NewColumn[position](w), NewTag(w, "Docked"), NewColumnWith[int32](w, ColumnOptions{Name: "Health"})
	to, big := NewColumnWith[Entity](w, ColumnOptions{Name: "To"}), NewColumnWith[[4096]byte](w, ColumnOptions{Name: "Big"})
	anything := NewHeapColumnWith[any](w, ColumnOptions{Name: "Any"})
	a := w.Archetype(pos, docked)
	e := a.New()
	check := func(want string) {
		t.Helper()
		if got := w.Sprint(e); got != want {
			t.Errorf("%s instead of %s", got, want)
		}
	}
	*pos.Get(e) = position{X: 1, Y: 2.5}
	check("0.1 {position{X:1 Y:2.5} Docked}")
	if _, err := NewNames(w).Set(e, "Paris"); err != nil {
		t.Fatal(err)
	}
	check(`0.1 "Paris" {position{X:1 Y:2.5} Docked}`)
	pos.Remove(e)
	docked.Remove(e)
	check(`0.1 "Paris" {}`)
	health.Add(e, -5)
	to.Add(e, e)
	check(`0.1 "Paris" {Health(-5) To(0.1)}`)
	to.Remove(e)
	for _, v := range []struct {
		value any
		want  string
	}{
		{nil, "nil"}, {"a\"b", `"a\"b"`}, {[]bool{true}, "[true]"}, {map[int]int{1: 2}, "map[int]int of 1"}, {&e, "*vast.Entity"},
		{(*int)(nil), "nil"}, {func() {}, "func()"}, {1 + 2i, "(1+2i)"}, {struct{ V any }{uint8(7)}, "{V:7}"}, {float32(0.1), "0.1"},
	} {
		anything.Add(e, v.value)
		check(`0.1 "Paris" {Health(-5) Any(` + v.want + `)}`)
	}
	self := []any{nil}
	self[0] = self
	for _, v := range []any{strings.Repeat("é", 5000), self, make([]string, 1000)} {
		anything.Add(e, v)
		big.Add(e, [4096]byte{})
		if got := w.Sprint(e); len(got) > 800 || strings.Count(got, "…") < 2 {
			t.Errorf("%d bytes: %s", len(got), got)
		}
	}
	w.Delete(e)
	check("0.1 (stale)")
	if got := w.Sprint(Entity{}); got != "0.0 (stale)" {
		t.Error(got)
	}
}

// TestTargetsAreNoComponent: what the package keeps of the targets of links is not shown as if it were theirs.
func TestTargetsAreNoComponent(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	rel := NewRelation(w, "ChildOf", RelationOptions{})
	roads := NewEdges[uint64](w, "Roads", EdgesOptions{})
	a := w.Archetype()
	child, parent := a.New(), a.New()
	rel.Set(child, parent)
	roads.Add(child, parent, 7)
	if cols := w.ComponentsOf(parent); len(cols) != 0 || w.Sprint(parent) != parent.String()+" {}" {
		t.Errorf("%d components, %s", len(cols), w.Sprint(parent))
	}
	if cols := w.ComponentsOf(child); len(cols) != 2 || cols[0].Name() != "ChildOf" || cols[1].Name() != "Roads" {
		t.Errorf("%d components, %s", len(cols), w.Sprint(child))
	}
}
