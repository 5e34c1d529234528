package query

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

type (
	stage8 int8
	level  uint16
	body   struct {
		X, Y float32
		Mass float64
	}
	numbers struct {
		I8  int8
		I16 int16
		I32 int32
		I64 int64
		U8  uint8
		U16 uint16
		U32 uint32
		U64 uint64
		On  bool
		In  [3]struct{ Deep int32 }
	}
	illness struct {
		Stage  stage8
		Level  level
		Source vast.Entity
	}
	note struct {
		Text string
		Tags []string
		Size int
	}
)

func (s stage8) String() string {
	if s < -1 || s > 1 {
		return fmt.Sprintf("stage8(%d)", int8(s))
	}
	return []string{"Gone", "Mild", "Severe"}[s+1]
}

func (l level) String() string { return []string{"Low", "High"}[l] } // panics for other values

// testWorld is a world that has components in all storages except probe.StorageShared.
type testWorld struct {
	*vast.World
	schema   *Schema
	body     vast.Column[body]
	numbers  vast.Column[numbers]
	illness  vast.SparseColumn[illness]
	note     vast.HeapColumn[note]
	dead     vast.Tag
	age      vast.Column[int32]
	childOf  vast.Relation
	names    *vast.Names
	entities []vast.Entity
}

func newTestWorld(tb testing.TB, n int) *testWorld {
	w := vast.NewWorld(vast.Options{MaxEntities: max(1<<14, n)})
	tb.Cleanup(func() { w.Close() })
	f := &testWorld{World: w}
	f.body, f.numbers = vast.NewColumn[body](w).Named("Body"), vast.NewColumn[numbers](w).Named("Numbers")
	f.illness = vast.NewSparseColumn[illness](w).Named("Illness")
	f.note = vast.NewHeapColumn[note](w).Named("Note")
	f.dead = vast.NewTag(w, "Dead")
	f.age = vast.NewColumn[int32](w).Named("Age in years")
	f.childOf = vast.NewRelation(w, "ChildOf", vast.RelationOptions{Cyclic: true})
	f.names = w.Names()
	vast.NewTag(w, "DEAD") // differs from Dead only in case
	f.schema = schemaOf(w)
	r := rand.New(rand.NewPCG(3, 4))
	for _, a := range []*vast.Archetype{w.Archetype(f.body), w.Archetype(f.body, f.numbers), w.Archetype(),
		w.Archetype(f.numbers, f.age)} {
		for range n / 4 {
			f.entities = append(f.entities, a.New())
		}
	}
	for i, e := range f.entities {
		f.fill(r, i, e)
	}
	return f
}

func (f *testWorld) fill(r *rand.Rand, i int, e vast.Entity) {
	if b := f.body.Get(e); b != nil {
		*b = body{float32(r.IntN(20)) / 10, float32(r.IntN(5)), float64(r.IntN(9) - 4)}
		if r.IntN(30) == 0 {
			b.X, b.Mass = float32(math.NaN()), math.Inf(r.IntN(3)-1)
		}
	}
	if n := f.numbers.Get(e); n != nil {
		*n = numbers{I8: int8(r.Int()), I16: int16(r.Int()), I32: int32(r.Int()), I64: int64(r.Uint64()),
			U8:  uint8(r.Int()),
			U16: uint16(r.Int()), U32: uint32(r.Int()), U64: r.Uint64(), On: r.IntN(2) == 0}
		n.In[1].Deep = int32(r.IntN(7) - 3)
	}
	if a := f.age.Get(e); a != nil {
		*a = int32(r.IntN(100))
	}
	if r.IntN(3) == 0 {
		f.illness.Add(e, illness{stage8(r.IntN(3) - 1), level(r.IntN(2)), f.entities[r.IntN(20)]})
	}
	if r.IntN(4) == 0 {
		f.note.Add(e, note{Text: []string{"", "Paris", "paris in spring", "Ähre"}[r.IntN(4)],
			Size: r.IntN(4)})
	}
	if r.IntN(5) == 0 {
		f.dead.Add(e)
	}
	if r.IntN(3) > 0 {
		f.childOf.Set(e, f.entities[r.IntN(10)])
	}
	if i%7 == 0 {
		if _, err := f.names.Set(e, fmt.Sprintf("%s %d", []string{"Paris", "New York"}[i%2], i)); err != nil {
			panic(err)
		}
	}
}

func (f *testWorld) Name(e vast.Entity) (string, bool) { return f.names.Of(e) }

func (f *testWorld) Find(name string) (vast.Entity, bool) { return f.names.Find(name) }

func (f *testWorld) Suggest(prefix string, most int) (list []Suggestion) {
	for _, e := range f.entities {
		if name, ok := f.names.Of(e); ok && strings.HasPrefix(strings.ToLower(name),
			strings.ToLower(prefix)) && len(list) < most {
			list = append(list, Suggestion{Name: name, Entity: e})
		}
	}
	return list
}

func schemaOf(w *vast.World) *Schema {
	var all []Column
	for _, col := range probe.Columns(w) {
		info := probe.Describe(col)
		c := Column{AnyColumn: col, ID: info.ID, Storage: info.Storage, Type: info.Type,
			Linked: info.Linked != "", Private: info.Private}
		_, c.Relation = probe.RelationOf(col)
		if info.Type != nil && !c.Linked {
			c.addParts(info.Layout, "", 0)
		}
		all = append(all, c)
	}
	return NewSchema(all)
}

func (c *Column) addParts(l probe.Layout, path string, offset int) {
	kinds := map[reflect.Kind]Kind{reflect.Bool: KindBool, reflect.Float32: KindFloat,
		reflect.Float64: KindFloat, reflect.String: KindString}
	kind, ok := kinds[l.Type.Kind()]
	switch {
	case ok:
	case l.Type == reflect.TypeFor[vast.Entity]():
		kind = KindEntity
	case l.Type.Kind() == reflect.Struct:
		for _, p := range l.Parts {
			c.addParts(p, strings.TrimPrefix(path+"."+p.Name, "."), offset+p.Offset)
		}
		return
	case l.Type.Kind() == reflect.Array:
		for i := range l.Count {
			c.addParts(l.Parts[0], fmt.Sprintf("%s[%d]", path, i), offset+i*l.Parts[0].Size)
		}
		return
	case l.Type.Implements(reflect.TypeFor[fmt.Stringer]()):
		kind = KindEnum
	case l.Type.Kind() <= reflect.Int64:
		kind = KindInt
	case l.Type.Kind() <= reflect.Uintptr:
		kind = KindUint
	default:
		kind = KindOther
	}
	c.Values = append(c.Values, Part{path, kind, offset, l.Type})
}

func (f *testWorld) search(tb testing.TB, text string) *Search {
	tb.Helper()
	q, err := Parse(text)
	if err != nil {
		tb.Fatalf("%q: %v", text, err)
	}
	p, err := Compile(q, f.schema)
	if err != nil {
		tb.Fatalf("%q: %v", text, err)
	}
	s, err := p.Bind(f.World, f, true)
	if err != nil {
		tb.Fatalf("%q: %v", text, err)
	}
	return s
}
