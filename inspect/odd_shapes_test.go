package inspect

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// many is the length of arrays of zero-size elements: 1<<33, or 1<<30 on 32-bit machines. A loop over the
// elements takes too long for a test.
const many = 1 << (30 + 3*(^uint(0)>>63))

type (
	ten[T any]   struct{ F0, F1, F2, F3, F4, F5, F6, F7, F8, F9 T }
	level[T any] struct { // 151 numbers, and In
		N     int32
		Fifty ten[[5]int16]
		More  ten[ten[int16]]
		In    T
	}
	levels[T any] struct {
		In level[level[level[level[level[T]]]]]
	}

	oddNothing struct{}
	oddVoids   struct {
		A [many]struct{}
		B [1 << 20][1 << 20]struct{}
		N int32
		C [many][0]int
	}
	oddGrid    [3][4]int16
	oddSmaller struct {
		N     int32
		Bytes [1<<16 - 4]byte
	}
	oddLarge struct { // of the size maxComponent
		N     int32
		Bytes [1<<20 - 4]byte
	}
	oddLarger struct {
		N     int32
		Bytes [1 << 20]byte
	}
	oddDeep struct { // 30 nested structs with thousands of numbers
		In levels[levels[levels[levels[level[level[level[level[level[struct{}]]]]]]]]]
	}
)

// newOddWorld serves a new world that fill has filled. A goroutine admits visits until the test ends.
func newOddWorld(t testing.TB, o Options, maxEntities int, fill func(w *vast.World)) *fixture {
	t.Helper()
	w := vast.NewWorld(vast.Options{Name: "odd", MaxEntities: maxEntities})
	fill(w)
	ctx, cancel := context.WithCancel(context.Background())
	var admitting sync.WaitGroup
	admitting.Go(func() { w.Idle(func() { <-ctx.Done() }) })
	in, err := Serve(context.Background(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cancel()
		admitting.Wait()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return &fixture{Inspector: in, w: w}
}

type oddColumn struct {
	vast.AnyColumn
	storage probe.Storage
	give    func(e vast.Entity) // adds a zero component to e
}

// columnsOf returns a function that makes one column for each storage. A column's name ends with its storage.
func columnsOf[T any](name string, storages ...probe.Storage) func(w *vast.World) []oddColumn {
	return func(w *vast.World) (made []oddColumn) {
		for _, s := range storages {
			name := name + " " + s.String()
			var zero T
			switch s {
			case probe.StorageDense:
				c := vast.NewColumn[T](w).Named(name)
				made = append(made, oddColumn{c, s, func(e vast.Entity) { c.Add(e, zero) }})
			case probe.StorageSparse:
				c := vast.NewSparseColumn[T](w).Named(name)
				made = append(made, oddColumn{c, s, func(e vast.Entity) { c.Add(e, zero) }})
			case probe.StorageHeap:
				c := vast.NewHeapColumn[T](w).Named(name)
				made = append(made, oddColumn{c, s, func(e vast.Entity) { c.Add(e, zero) }})
			}
		}
		return made
	}
}

var inAllStorages = []probe.Storage{probe.StorageDense, probe.StorageSparse, probe.StorageHeap}

// oddShape is a component type, with the expected answers of the inspector.
type oddShape struct {
	make        func(w *vast.World) []oddColumn
	typ         string
	size        int
	fields      int    // number of listed fields
	first, last string // the first and the last listed field
	text        string // text of a zero value; a final … stands for any further text
	parts, more int    // number of shown parts of a zero value, and number of omitted parts
	path        string // path of the number that the test edits; empty for no edit
	set         string // text of the value with 7 at path; a final … stands for any further text
}

var oddShapes = []oddShape{
	{make: columnsOf[oddNothing]("Nothing", inAllStorages...), typ: "inspect.oddNothing", text: "{}"},
	{make: columnsOf[[0]int]("No ints", inAllStorages...), typ: "[0]int", text: "[]"},
	{
		make: columnsOf[[many]struct{}]("Void", inAllStorages...), typ: fmt.Sprintf("[%d]struct {}", many),
		text: "[{} {} {} …", more: many,
	},
	{
		make: columnsOf[[1 << 20][1 << 20]struct{}]("Plane", inAllStorages...),
		typ:  "[1048576][1048576]struct {}",
		text: "[[{} {} {} …", more: 1 << 20,
	},
	{
		make: columnsOf[oddVoids]("Voids", inAllStorages...), typ: "inspect.oddVoids",
		size: int(reflect.TypeFor[oddVoids]().Size()), fields: 1, first: "N", last: "N",
		text: "{A:[{} {} {} …", parts: 4, path: "N", set: "{A:[{} {} {} …",
	},
	{
		make: columnsOf[oddGrid]("Grid", inAllStorages...), typ: "inspect.oddGrid",
		size: 24, fields: 12, first: "[0][0]", last: "[2][3]", text: "[[0 0 0 0] [0 0 0 0] [0 0 0 0]]",
		parts: 3,
		path:  "[2][3]", set: "[[0 0 0 0] [0 0 0 0] [0 0 0 7]]",
	},
	{
		make: columnsOf[oddSmaller]("Smaller", inAllStorages...), typ: "inspect.oddSmaller",
		size: 1 << 16, fields: 256, first: "N", last: "Bytes[254]", text: "{N:0 Bytes:0x0000000000…",
		parts: 2,
		path:  "N", set: "{N:7 Bytes:0x0000000000…",
	},
	{
		make: columnsOf[oddLarge]("Large", inAllStorages...), typ: "inspect.oddLarge",
		size: 1 << 20, fields: 256, first: "N", last: "Bytes[254]", text: "{N:0 Bytes:0x0000000000…",
		parts: 2,
		path:  "N", set: "{N:7 Bytes:0x0000000000…",
	},
	{
		make: columnsOf[oddDeep]("Deep", inAllStorages...), typ: "inspect.oddDeep",
		size: int(reflect.TypeFor[oddDeep]().Size()), fields: 256, first: "In.In.N",
		last: "In.In.In.More.F5.F3",
		text: "{In:{In:{N:0 Fifty:{F0:[0 0 0 0 0] F1:…", parts: 1,
		path: deepPath(reflect.TypeFor[oddDeep]()), set: "{In:{In:{N:0 Fifty:…",
	},
	{
		make: columnsOf[oddLarger]("Larger", inAllStorages...), typ: "inspect.oddLarger",
		size: 1<<20 + 4, fields: 256, first: "N", last: "Bytes[254]",
		text: "1048580 bytes are too many to show",
	},
}

func deepPath(t reflect.Type) string {
	path, deepest := "", ""
	for {
		if _, ok := t.FieldByName("N"); ok {
			deepest = path + "N"
		}
		in, ok := t.FieldByName("In")
		if !ok || in.Type.Kind() != reflect.Struct {
			return deepest
		}
		t, path = in.Type, path+"In."
	}
}

// says reports whether text equals want. If want ends with …, says also accepts a text that begins with the
// part of want before the …, and that has at most cellBytes+len("…") bytes.
func says(text, want string) bool {
	begin, cut := strings.CutSuffix(want, "…")
	return text == want || cut && strings.HasPrefix(text, begin) && len(text) <= cellBytes+len("…")
}

func TestOddShapes(t *testing.T) {
	t.Parallel()
	for _, shape := range oddShapes {
		var cols []oddColumn
		var e, other, tagged vast.Entity
		var tag vast.Tag
		f := newOddWorld(t, Options{ReadWrite: true}, 128, func(w *vast.World) {
			cols = shape.make(w)
			tag = vast.NewTag(w, "Tag")
			e, other, tagged = w.Archetype().New(), w.Archetype().New(), w.Archetype().New()
			for _, c := range cols {
				c.give(e)
			}
			tag.Add(tagged)
		})
		for _, c := range cols {
			t.Run(c.Name(), func(t *testing.T) { (&oddCase{f, shape, c, e, other}).test(t) })
		}
		t.Run(cols[0].Name()+", tag", func(t *testing.T) { f.testTag(t, tagged, other) })
	}
}
