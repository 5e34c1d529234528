package probe_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

type fleet struct {
	Name  [5]byte
	Home  vast.Entity
	speed float64
	Ships [3]struct {
		On   bool
		Wear int16
	}
	last uint8
}

// layoutOf returns the layout of T without the types of its structs and arrays, except Entity. TypeOf makes
// the missing types.
func layoutOf[T any](t *testing.T) probe.Layout {
	t.Helper()
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	var clearTypes func(l *probe.Layout)
	clearTypes = func(l *probe.Layout) {
		if len(l.Parts) > 0 && l.Type != reflect.TypeFor[vast.Entity]() {
			l.Type = nil
		}
		for i := range l.Parts {
			clearTypes(&l.Parts[i])
		}
	}
	l := probe.Describe(vast.NewColumn[T](w)).Layout
	clearTypes(&l)
	return l
}

func TestTypeOf(t *testing.T) {
	made, err := probe.TypeOf(layoutOf[fleet](t))
	if err != nil {
		t.Fatal(err)
	}
	want := reflect.TypeFor[fleet]()
	if made.Size() != want.Size() || made.Align() != want.Align() || made.NumField() != want.NumField() {
		t.Fatalf("TypeOf returns %v, want %v", made, want)
	}
	for i := range want.NumField() {
		f, g := want.Field(i), made.Field(i)
		if f.Name != g.Name || f.Offset != g.Offset || f.Type.Size() != g.Type.Size() ||
			f.IsExported() != g.IsExported() {
			t.Errorf("a field is %+v, want %+v", g, f)
		}
	}
}

func TestTypeOfWithGaps(t *testing.T) {
	integer := reflect.TypeFor[int32]()
	made, err := probe.TypeOf(probe.Layout{Size: 24, Parts: []probe.Layout{
		{Name: "B", Offset: 16, Type: integer}, {Name: "a", Offset: 4, Type: integer}}})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := made.FieldByName("a")
	b, _ := made.FieldByName("B")
	if a.Offset != 4 || b.Offset != 16 || made.Size() != 24 {
		t.Errorf("TypeOf returns %v with the wrong offsets or size", made)
	}
	for name, l := range map[string]probe.Layout{
		"overlap": {Size: 8, Parts: []probe.Layout{{Name: "A", Type: integer},
			{Name: "B", Offset: 2, Type: reflect.TypeFor[int16]()}}},
		"unaligned": {Size: 8, Parts: []probe.Layout{{Name: "A", Offset: 2, Type: integer}}},
		"beyond":    {Size: 2, Parts: []probe.Layout{{Name: "A", Type: integer}}},
		"odd size":  {Size: 6, Parts: []probe.Layout{{Name: "A", Type: integer}}},
		"no name":   {Size: 4, Parts: []probe.Layout{{Name: "1st", Type: integer}}},
		"same name": {Size: 8, Parts: []probe.Layout{{Name: "A", Type: integer}, {Name: "A", Offset: 4,
			Type: integer}}},
		"no element": {Size: 4, Count: 4},
		"too many":   {Size: 4, Count: math.MaxInt, Parts: []probe.Layout{{Type: integer}}},
		"last of size 0": {Size: 4, Parts: []probe.Layout{{Name: "A", Type: integer}, {Name: "B", Offset: 4,
			Type: reflect.TypeFor[struct{}]()}}},
	} {
		if made, err := probe.TypeOf(l); err == nil || !strings.HasPrefix(err.Error(), "probe: TypeOf(") {
			t.Errorf("%s: TypeOf returns %v, %v", name, made, err)
		}
	}
}

func TestNewColumn(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 5000})
	made, err := probe.TypeOf(layoutOf[fleet](t))
	if err != nil {
		t.Fatal(err)
	}
	typed := vast.NewColumn[fleet](w)
	text := reflect.StructOf([]reflect.StructField{{Name: "Text", Type: reflect.TypeFor[string]()}})
	columns := []vast.AnyColumn{
		probe.NewColumn(w, "dense", probe.StorageDense, made),
		probe.NewColumn(w, "sparse", probe.StorageSparse, made),
		probe.NewColumn(w, "heap", probe.StorageHeap, text),
		probe.NewColumn(w, "tag", probe.StorageTag, nil),
	}
	if d := probe.Describe(columns[1]); d.Name != "sparse" || d.Storage != probe.StorageSparse ||
		d.Type != made {
		t.Errorf("Describe returns %+v", d)
	}
	all := w.Archetype(slices.Concat(columns[:1], []vast.AnyColumn{typed})...)
	var entities []vast.Entity
	for i := range 1500 {
		e := all.New()
		entities = append(entities, e)
		v := fleet{Home: e, speed: float64(i), last: uint8(i)}
		v.Ships[2].Wear = int16(i)
		typed.Set(e, v)
		one := reflect.NewAt(made, unsafe.Pointer(&v)).Elem()
		if !probe.SetValue(columns[0], e, one) || i%3 > 0 && !probe.AddValue(columns[1], e, one) {
			t.Fatal("the entity has no component")
		}
		if i%2 == 0 {
			value := reflect.New(text).Elem()
			value.Field(0).SetString(fmt.Sprint(i))
			probe.AddValue(columns[2], e, value)
			probe.AddValue(columns[3], e, reflect.ValueOf(struct{}{}))
		}
	}
	for i := 0; i < 1500; i += 5 {
		w.Delete(entities[i])
	}
	moves := all.Pack(vast.MoveOptions{})
	if moves.Len() == 0 {
		t.Error("no entity was moved")
	}
	for i, e := range entities {
		entities[i] = moves.Resolve(e)
	}
	for i, e := range entities {
		if i%5 == 0 {
			if _, ok := probe.Value(columns[1], e); ok {
				t.Errorf("the deleted entity %d has a component", i)
			}
			continue
		}
		want := *typed.Get(e)
		for k, has := range []bool{true, i%3 > 0} {
			v, ok := probe.Value(columns[k], e)
			if ok != has {
				t.Fatalf("entity %d has the component %s: %t, want %t", i, columns[k].Name(), ok, has)
			}
			if !ok {
				continue
			}
			p := reflect.New(made)
			p.Elem().Set(v)
			if got := *(*fleet)(p.UnsafePointer()); got != want || got.Home != e {
				t.Fatalf("%s: the component is %+v, want %+v", columns[k].Name(), got, want)
			}
		}
		v, ok := probe.Value(columns[2], e)
		if ok != (i%2 == 0) || ok && v.Field(0).String() != fmt.Sprint(i) {
			t.Fatalf("entity %d has the text %v, want a text only in even entities", i, v)
		}
		if _, ok := probe.Value(columns[3], e); ok != (i%2 == 0) {
			t.Fatalf("entity %d has the tag: %t, want the opposite", i, ok)
		}
		if i%7 == 0 && probe.RemoveValue(columns[1], e) != (i%3 > 0) {
			t.Fatalf("RemoveValue of entity %d returns the wrong result", i)
		}
	}
	if n := w.Query(columns[0], columns[1]).Count(); n == 0 || n != probe.Occupied(w, columns[1], 0, 5000) {
		t.Errorf("%d entities have both components", n)
	}
	if err := w.Trim(); err != nil {
		t.Error(err)
	}
	w.Reset()
	if w.Query(columns[1]).Count()+w.Query(columns[2]).Count() != 0 {
		t.Error("components stay after Reset")
	}
	all.NewN(10, nil)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestNewColumnOfGoType(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	probe.NewColumn(w, "fleet", probe.StorageDense, reflect.TypeFor[fleet]())
	typed, err := vast.ColumnOf[fleet](w)
	if err != nil {
		t.Fatal(err)
	}
	e := w.Archetype().New()
	cs := vast.NewCommands(w, vast.CommandsOptions{})
	apply := func() {
		t.Helper()
		if _, err := w.Apply(cs); err != nil {
			t.Fatal(err)
		}
	}
	typed.AddLater(cs, e, fleet{speed: 4, Home: e})
	apply()
	if p := typed.Get(e); p == nil || p.speed != 4 || p.Home != e {
		t.Errorf("after AddLater, the component is %+v", p)
	}
	typed.SetLater(cs, e, fleet{speed: 5})
	apply()
	if typed.Get(e).speed != 5 {
		t.Errorf("after SetLater, the component is %+v", typed.Get(e))
	}
	typed.RemoveLater(cs, e)
	apply()
	if typed.Has(e) {
		t.Error("RemoveLater does not remove the component")
	}
}

func TestNewColumnMisuse(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	for want, f := range map[string]func(){
		"has no type": func() { probe.NewColumn(w, "a", probe.StorageDense, nil) },
		"give nil":    func() { probe.NewColumn(w, "a", probe.StorageTag, reflect.TypeFor[int]()) },
		"give StorageHeap": func() {
			probe.NewColumn(w, "a", probe.StorageSparse, reflect.TypeFor[struct{ S string }]())
		},
		"the storage of column": func() { probe.NewColumn(w, "a", 9, reflect.TypeFor[int]()) },
	} {
		says(t, f, want)
	}
}
