package store_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

// inOld returns a saved world whose column C has the component v.
func inOld[T any](t *testing.T, heap bool, v T) []byte {
	t.Helper()
	w := vast.NewWorld(vast.Options{MaxEntities: 1024})
	defer w.Close()
	if heap {
		vast.NewHeapColumn[T](w).Named("C").Add(w.Archetype().New(), v)
	} else {
		c := vast.NewColumn[T](w).Named("C")
		w.Archetype().New()
		for range 3 {
			c.Add(w.Archetype().New(), v)
		}
	}
	var b bytes.Buffer
	if err := store.Save(w, &b, store.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// inNew loads a world of inOld into a world whose column C has the type T. It returns the last component.
func inNew[T any](t *testing.T, heap bool, file []byte, o store.Options) (T, store.Report, error) {
	t.Helper()
	w := vast.NewWorld(vast.Options{MaxEntities: 1024})
	defer w.Close()
	var find func(vast.Entity) *T
	var col vast.AnyColumn
	if heap {
		c := vast.NewHeapColumn[T](w).Named("C")
		col, find = c, c.Get
	} else {
		c := vast.NewColumn[T](w).Named("C")
		col, find = c, c.Get
	}
	report, err := store.Load(w, bytes.NewReader(file), o)
	if err != nil {
		return *new(T), store.Report{}, err
	}
	var last *T
	for e := range w.Query(col).All() {
		last = find(e)
	}
	return *last, *report, nil
}

type bodyV1 struct {
	Mass  float32
	Age   int16
	Tags  [2]uint8
	Depth float64
	Old   uint64
	_     [3]int32
	Inner struct{ A, B int32 }
}

type bodyV2 struct {
	New   [2]uint64
	Inner struct {
		B int64
		C bool
		A uint8
	}
	Tags [3]uint16
	Age  int
	Z    float64
	Mass float64
}

func TestColumnsAreConverted(t *testing.T) {
	old := bodyV1{Mass: 2.5, Age: -7, Tags: [2]uint8{1, 255}, Depth: 9, Old: 1}
	old.Inner.A, old.Inner.B = 200, -3
	want := bodyV2{Tags: [3]uint16{1, 255, 0}, Age: -7, Z: 9, Mass: 2.5}
	want.Inner.A, want.Inner.B = 200, -3
	for _, heap := range []bool{false, true} {
		got, report, err := inNew[bodyV2](t, heap, inOld(t, heap, old),
			store.Options{Renamed: map[string]string{"C.Depth": "C.Z"}})
		if err != nil || got != want {
			t.Fatalf("heap %t: %+v %v", heap, got, err)
		}
		if !slices.Equal(report.Dropped, []string{"C.Old"}) ||
			!slices.Equal(report.Added, []string{"C.Inner.C", "C.New"}) ||
			!slices.Contains(report.Converted, "C.Age from int16 to int") {
			t.Errorf("heap %t: %+v", heap, report)
		}
	}
}

func TestConversionErrors(t *testing.T) {
	type f[T any] struct{ F T }
	for name, c := range map[string]struct {
		load func() error
		says []string
	}{
		"kinds": {func() error {
			_, _, err := inNew[f[int32]](t, false, inOld(t, false, f[float32]{1}), store.Options{})
			return err
		}, []string{"C.F", "float32", "int32", "another name"}},
		"narrow floats": {func() error {
			_, _, err := inNew[f[float32]](t, false, inOld(t, false, f[float64]{1}), store.Options{})
			return err
		}, []string{"C.F", "float64", "float32"}},
		"shorter arrays": {func() error {
			_, _, err := inNew[f[[2]byte]](t, false, inOld(t, false, f[[3]byte]{}), store.Options{})
			return err
		}, []string{"C.F", "3 elements", "at least 3"}},
		"values": {func() error {
			_, _, err := inNew[f[int8]](t, false, inOld(t, false, f[int64]{-129}), store.Options{})
			return err
		}, []string{"slot 1", "C.F is -129", "int8"}},
		"signs": {func() error {
			_, _, err := inNew[f[uint64]](t, false, inOld(t, false, f[int64]{-1}), store.Options{})
			return err
		}, []string{"C.F is -1", "uint64"}},
		"large numbers": {func() error {
			old := inOld(t, false, f[uint64]{math.MaxUint64})
			_, _, err := inNew[f[int64]](t, false, old, store.Options{})
			return err
		}, []string{"C.F is 18446744073709551615", "int64"}},
		"encoded kinds": {func() error {
			_, _, err := inNew[f[string]](t, true, inOld(t, true, f[[]string]{}), store.Options{})
			return err
		}, []string{"C.F", "[]string", "string"}},
		"encoded values": {func() error {
			_, _, err := inNew[f[[]uint8]](t, true, inOld(t, true, f[[]int]{[]int{1, 256}}), store.Options{})
			return err
		}, []string{"C.F[] is 256", "uint8"}},
		"storages": {func() error {
			_, _, err := inNew[f[int]](t, true, inOld(t, false, f[int]{}), store.Options{})
			return err
		}, []string{"column C is a Column in the file and a HeapColumn in the program"}},
	} {
		err := c.load()
		for _, part := range c.says {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: the error is %v, want %q in it", name, err, part)
			}
		}
	}
}

type everything struct {
	B    bool
	I    [5]int64
	U    []uint16
	F    map[float32]complex128
	C    complex64
	S    string
	None []string
	Zero []string
	When time.Time
	Deep map[string][]struct{ N *[0]int }
}

type tree struct{ Kids []tree }

func TestEncodedValues(t *testing.T) {
	type all struct {
		B          bool
		I          [5]int64
		U          []uint16
		F          map[float32]complex128
		C          complex64
		S          string
		None, Zero []string
		When       time.Time
		hidden     map[string][]struct{ N [3]byte }
	}
	v := all{true, [5]int64{1, -1, math.MinInt64, math.MaxInt64}, []uint16{1, 65535},
		map[float32]complex128{1: 2, -3: 4i}, 5 + 6i, "text\x00", nil, []string{},
		time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
		map[string][]struct{ N [3]byte }{"": nil, "k": {{[3]byte{1, 2, 3}}, {}}}}
	got, report, err := inNew[all](t, true, inOld(t, true, v), store.Options{})
	if err != nil || !reflect.DeepEqual(got, v) || len(report.Converted) > 0 {
		t.Errorf("%+v %v", got, err)
	}
}

func TestCodecEncodesRefusedType(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1024})
	defer w.Close()
	vast.NewHeapColumn[everything](w).Named("E")
	err := store.Save(w, new(bytes.Buffer), store.Options{})
	if err == nil || !strings.Contains(err.Error(), "E.Deep[][].N is a ptr") ||
		!strings.Contains(err.Error(), "Options.Codecs") {
		t.Error(err)
	}
	u := vast.NewWorld(vast.Options{MaxEntities: 1024})
	defer u.Close()
	trees := vast.NewHeapColumn[tree](u)
	one := u.Archetype().New()
	trees.Add(one, tree{[]tree{{}, {}}})
	if err := store.Save(u, new(bytes.Buffer), store.Options{}); err == nil ||
		!strings.Contains(err.Error(), "tree.Kids[]: the type store_test.tree refers to itself") {
		t.Error(err)
	}
	o := store.Options{Codecs: []store.Codec{store.CodecOf(
		func(b []byte, v *tree) ([]byte, error) { return append(b, byte(len(v.Kids))), nil },
		func(b []byte, v *tree) error {
			if len(b) != 1 {
				return errors.New("no tree")
			}
			v.Kids = make([]tree, b[0])
			return nil
		})}}
	var file bytes.Buffer
	if err := store.Save(u, &file, o); err != nil {
		t.Fatal(err)
	}
	n := vast.NewWorld(vast.Options{MaxEntities: 1024})
	defer n.Close()
	again := vast.NewHeapColumn[tree](n)
	if _, err := store.Load(n, &file, o); err != nil || len(again.Get(one).Kids) != 2 {
		t.Error(err)
	}
}

func TestAddedDroppedAndRenamedColumns(t *testing.T) {
	a := vast.NewWorld(vast.Options{MaxEntities: 1024})
	defer a.Close()
	speed, gone := vast.NewColumn[position](a).Named("Speed"), vast.NewTag(a, "gone")
	parent := vast.NewRelation(a, "parent", vast.RelationOptions{})
	both := a.Archetype(speed, gone)
	e, f := both.New(), a.Archetype(gone).New()
	speed.Set(e, position{1, 2})
	parent.Set(e, f)
	var file bytes.Buffer
	if err := store.Save(a, &file, store.Options{}); err != nil {
		t.Fatal(err)
	}
	b := vast.NewWorld(vast.Options{MaxEntities: 1024})
	defer b.Close()
	fresh := vast.NewTag(b, "fresh")
	velocity := vast.NewColumn[position](b).Named("Velocity")
	childOf := vast.NewRelation(b, "childOf", vast.RelationOptions{})
	report, err := store.Load(b, &file, store.Options{Renamed: map[string]string{"Speed": "Velocity",
		"parent": "childOf"}})
	if err != nil {
		t.Fatal(err)
	}
	target, _ := childOf.Target(e)
	if *velocity.Get(e) != (position{1, 2}) || target != f || b.Len() != 2 || fresh.Len() != 0 {
		t.Error(velocity.Get(e), target, b.Len())
	}
	if want := (store.Report{Dropped: []string{"gone"}, Added: []string{"fresh"}}); !reflect.DeepEqual(
		*report, want) {
		t.Errorf("%+v", *report)
	}
	if born := b.Archetype(velocity).New(); born.Slot() != e.Slot()+1 {
		t.Error("the next entity has another slot than in the saved world:", born)
	}
}

// TestRenamedResources loads a file with two resources. A renamed resource fills the type with the new name,
// and Load refuses two resources with one name.
func TestRenamedResources(t *testing.T) {
	type oldDay struct{ Number int }
	type night struct{ Number int }
	name := func(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }
	day, dark := name(reflect.TypeFor[oldDay]()), name(reflect.TypeFor[night]())
	a := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer a.Close()
	vast.SetResource(a, oldDay{3})
	vast.SetResource(a, night{4})
	var file bytes.Buffer
	if err := store.Save(a, &file, store.Options{Resources: []reflect.Type{reflect.TypeFor[oldDay](),
		reflect.TypeFor[night]()}}); err != nil {
		t.Fatal(err)
	}
	saved := file.Bytes()
	o := store.Options{Resources: []reflect.Type{reflect.TypeFor[night]()},
		Renamed: map[string]string{day: dark}}
	b := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer b.Close()
	if _, err := store.Load(b, bytes.NewReader(saved), o); err == nil ||
		!strings.Contains(err.Error(), "two resources of the file get the name") {
		t.Errorf("Load of two resources with one name returns the error %v", err)
	}
	o.Renamed[dark] = "gone"
	c := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer c.Close()
	o.Resources = append(o.Resources, reflect.TypeFor[oldDay]())
	report, err := store.Load(c, bytes.NewReader(saved), o)
	if err != nil {
		t.Fatal(err)
	}
	want := store.Report{Dropped: []string{dark}, Added: []string{day}}
	if !reflect.DeepEqual(*report, want) {
		t.Errorf("the report is %+v, want %+v", *report, want)
	}
	if got := vast.Resource[night](c); got == nil || got.Number != 3 {
		t.Errorf("the renamed resource is %+v, want the number 3", got)
	}
}
