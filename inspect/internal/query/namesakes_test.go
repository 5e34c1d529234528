package query

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

func newNamesakes(t *testing.T) (f *testWorld, secondName vast.HeapColumn[string]) {
	f = newTestWorld(t, 40)
	vast.NewTag(f.World, "Body")
	vast.NewTag(f.World, "body")
	secondName = vast.NewHeapColumn[string](f.World).Named("Name")
	f.schema = schemaOf(f.World)
	return f, secondName
}

func TestNamesakes(t *testing.T) {
	f, _ := newNamesakes(t)
	var labels []string
	for i := range f.schema.Columns {
		c := &f.schema.Columns[i]
		labels = append(labels, c.Label())
		q, err := Parse(c.Text())
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(q, f.schema)
		if err != nil || len(p.Shown()) != 1 || p.Shown()[0] != c || q.String() != c.Text() ||
			p.Text() != c.Text() {
			t.Errorf("%s: the error is %v, the plan is %+v", c.Text(), err, p)
		}
		list, err := FindNamed(c.Text(), f.schema)
		if err != nil || len(list) != 1 || list[0].Column != c || list[0].Name != c.Label() {
			t.Errorf("%s: FindNamed returns %+v, %v", c.Text(), list, err)
		}
	}
	want := "Body#0, Numbers, Illness, Note, Dead, Age in years, ChildOf, ChildOf targets, Name#8, DEAD, " +
		"Body#10, " +
		"body, Name#12"
	if got := strings.Join(labels, ", "); got != want {
		t.Errorf("the columns are called %s, want %s", got, want)
	}
	list, err := FindNamed("Body#0.X, body, Body#0", f.schema)
	if err != nil || len(list) != 3 || list[0].Name != "Body#0.X" || list[0].Part.Path != "X" {
		t.Errorf("FindNamed returns %+v, %v", list, err)
	}
	for text, says := range map[string]string{
		"Body":           `2 components have the name "Body": write Body#0 or Body#10`,
		"Name":           `2 components have the name "Name": write Name#8 or Name#12`,
		`Name == "x"`:    `2 components have the name "Name"`,
		"name":           `"name" may be Name#8 or Name#12`,
		"BODY":           `"BODY" may be Body#0 or Body#10`,
		"Body#1":         "the component with the number #1 is called Numbers",
		"Body#99":        "no component has the number #99",
		"Body#010":       "no component has the number #010",
		"Body#10.X == 1": "Body#10 is a tag without a value: write Body#10 or !Body#10",
		"Body#0 == 1":    "Body#0 is not a single value",
		"Body#0(x)":      "Body#0 is not a relation and has no targets: write Body#0",
	} {
		q, err := Parse(text)
		if err == nil {
			_, err = Compile(q, f.schema)
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the error is %v, want %s", text, err, says)
		}
	}
}

func TestSearchInOneOfTwoNames(t *testing.T) {
	f, secondName := newNamesakes(t)
	secondName.Add(f.entities[1], "Paris 0")
	secondName.Add(f.entities[2], "Paris 14")
	for text, want := range map[string]vast.Entity{
		`Name#12 == "Paris 0"`: f.entities[1], `Name#8 == "Paris 0"`: f.entities[0],
		`Name#12 == "Paris 14"`: f.entities[2],
	} {
		s := f.search(t, text)
		var found []int
		for lo := 0; lo < f.Slots(); lo += s.Step() {
			words := make([]uint64, s.Step()/64)
			s.Words(lo, lo+s.Step(), words)
			for slot := lo; slot < lo+s.Step(); slot++ {
				if words[(slot-lo)/64]>>(slot%64)&1 != 0 {
					found = append(found, slot)
				}
			}
		}
		if !slices.Equal(found, []int{int(want.Slot())}) {
			t.Errorf("%s finds the slots %v, want the slot of %v", text, found, want)
		}
	}
}

func TestCompleteNamesakes(t *testing.T) {
	f, _ := newNamesakes(t)
	for _, c := range []struct {
		text     string // ^ marks the cursor
		from, to int
		items    string // first suggestions; empty if no suggestion is allowed
	}{
		{"Bo^", 0, 2, "Body#0, Body#10, body"},
		{"Bo^dy#10, Dead", 0, 7, "Body#0, Body#10, body"},
		{"!Na^", 1, 3, "Name#8, Name#12"},
		{"Body#0.^", 7, 7, "X, Y, Mass"},
		{"Body#0.X ^", 9, 9, "==, !=, <"},
		{"Body#10 ^", 8, 8, ",, |, and"},
		{"Body.^", 5, 5, ""},
		{`Name#12 ^`, 8, 8, "==, !=, <"},
		{"Body#0^", 6, 6, "., ,, |"},
	} {
		before, after, _ := strings.Cut(c.text, "^")
		got := Complete(before+after, len([]rune(before)), f.schema)
		var texts []string
		for _, i := range got.Items {
			texts = append(texts, i.Text)
		}
		list := strings.Join(texts, ", ")
		if got.From != c.from || got.To != c.to || !strings.HasPrefix(list, c.items) || c.items == "" &&
			list != "" {
			t.Errorf("%q: Complete replaces [%d, %d) by one of %q, want [%d, %d) and first %q", c.text,
				got.From, got.To, list, c.from, c.to, c.items)
		}
	}
}

func addInAllStorages[T any](w *vast.World, name string) {
	vast.NewColumn[T](w).Named("dense_" + name)
	vast.NewSparseColumn[T](w).Named("sparse_" + name)
	vast.NewHeapColumn[T](w).Named("heap_" + name)
}

func TestSteps(t *testing.T) {
	type large struct {
		N    int32
		Rest [1 << 12]byte
	}
	type larger struct {
		N    int32
		Rest [CopyMost]byte
	}
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	addInAllStorages[int32](w, "small")
	addInAllStorages[large](w, "large")
	addInAllStorages[larger](w, "larger")
	var all []Column
	for _, col := range probe.Columns(w) {
		info := probe.Describe(col)
		n := Part{Path: "N", Kind: KindInt, Type: reflect.TypeFor[int32]()}
		if info.Type == n.Type {
			n.Path = ""
		}
		all = append(all, Column{AnyColumn: col, ID: info.ID, Storage: info.Storage, Type: info.Type,
			Values: []Part{n}})
	}
	s := NewSchema(all)
	for text, want := range map[string]int{ // 0 if Compile must refuse the query
		"dense_small == 0": stepCompared, "sparse_small == 0": stepSlow, "heap_small == 0": stepSlow,
		"dense_large.N == 0": stepPages, "sparse_large.N == 0": stepLarge, "heap_large.N == 0": stepLarge,
		"dense_larger.N == 0": stepPages, "sparse_larger.N == 0": 0, "heap_larger.N == 0": 0,
		"sparse_larger": stepPlain, "!heap_larger": stepPlain,
	} {
		q, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(q, s)
		if want == 0 {
			if err == nil || !strings.Contains(err.Error(), "has 1048580 bytes: too large to compare in") {
				t.Errorf("%s: the error is %v", text, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		found, err := p.Bind(w, nil, false)
		if err != nil || found.Step() != want {
			t.Errorf("%s: a step has %d slots, want %d; the error is %v", text, found.Step(), want, err)
		}
	}
}
