package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
	"github.com/vastgo/vast/vm"
)

func writeJSON(t *testing.T, w *vast.World, o store.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := store.WriteJSON(w, &b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func readJSON(t *testing.T, w *vast.World, text string, o store.Options) *store.Document {
	t.Helper()
	d, err := store.ReadJSON(w, strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func readError(w *vast.World, text string, o store.Options) error {
	_, err := store.ReadJSON(w, strings.NewReader(text), o)
	return err
}

func mustSay(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("the error is\n%v\nwant\n%s", err, text)
	}
}

// TestJSONRoundTrip: a document that is read into a new world and written again does not change, even if the
// new world has registered the columns in another order. Both worlds have the same components and links.
func TestJSONRoundTrip(t *testing.T) {
	for seed := range uint64(8) {
		a, b := newTown(t, false), newTown(t, seed%2 == 0)
		a.live(seed, 2500)
		for i, e := range slices.Collect(a.w.Query().All()) {
			if i%3 > 0 {
				if _, err := a.names.Set(e, fmt.Sprint("number ", i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		text := writeJSON(t, a.w, store.Options{})
		d := readJSON(t, b.w, text, store.Options{})
		if again := writeJSON(t, b.w, store.Options{}); again != text {
			t.Fatalf("seed %d: %s", seed, difference(text, again))
		}
		if len(d.Entities) != a.w.Len() || b.w.Len() != a.w.Len() || a.w.Len() < 100 {
			t.Fatalf("seed %d: ReadJSON added %d entities, the new world has %d, and the old world has %d; "+
				"want three equal numbers of at least 100", seed, len(d.Entities), b.w.Len(), a.w.Len())
		}
		if x, y := a.named(), b.named(); x != y || a.names.Len() < 60 {
			t.Fatalf("seed %d: %s", seed, difference(x, y))
		}
		if !reflect.DeepEqual(d.Report, store.Report{}) {
			t.Errorf("seed %d: %+v", seed, d.Report)
		}
		b.order = slices.Clone(d.Entities)
		b.live(seed, 500)
	}
}

// named describes the number of components in each column, and the components and links of the entities with
// a name. The slots of the entities do not matter.
func (n *town) named() string {
	called := func(e vast.Entity) string {
		name, _ := n.names.Of(e)
		return name
	}
	var lines []string
	for e := range n.w.Query(n.names).All() {
		line := called(e)
		if p := n.position.Get(e); p != nil {
			line += fmt.Sprint(" ", *p)
		}
		if p := n.age.Get(e); p != nil {
			line += fmt.Sprint(" ", *p)
		}
		if p := n.burden.Get(e); p != nil {
			line += fmt.Sprint(" ", called(p.Of), p.Weight)
		}
		if p := n.diary.Get(e); p != nil {
			var seen []string
			for of, i := range p.Seen {
				if n.w.Alive(of) {
					seen = append(seen, fmt.Sprint(called(of), i))
				}
			}
			slices.Sort(seen)
			line += fmt.Sprint(" ", p.Title, p.Lines, seen, p.secret, p.Journey)
		}
		line += fmt.Sprint(" ", n.awake.Has(e), n.childOf.Depth(e), " children")
		for child := range n.childOf.Sources(e) {
			line += " " + called(child)
		}
		for aiming := range n.aimsAt.Sources(e) {
			line += " aimed at by " + called(aiming)
		}
		for to, length := range n.roads.Targets(e) {
			line += fmt.Sprint(" to ", called(to), *length)
		}
		for from, length := range n.roads.Sources(e) {
			line += fmt.Sprint(" from ", called(from), *length)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return fmt.Sprintln(n.position.Len(), n.age.Len(), n.burden.Len(), n.diary.Len(), n.awake.Len(),
		n.names.Len(), n.childOf.Len(), n.aimsAt.Len(), n.roads.Len()) + strings.Join(lines, "\n")
}

// TestJSONByHand reads a document that a person has written, and writes it again.
func TestJSONByHand(t *testing.T) {
	n := newTown(t, false)
	o := store.Options{Resources: []reflect.Type{reflect.TypeFor[clock]()}}
	text, err := os.ReadFile(filepath.Join("testdata", "village.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := readJSON(t, n.w, string(text), o)
	anna, berta := d.Named["Anna"], d.Named["Berta"]
	if len(d.Entities) != 6 || d.Entities[0] != anna || d.Numbered[30] != berta || len(d.Numbered) != 3 {
		t.Fatalf("%+v", *d)
	}
	if p := n.position.Get(anna); *p != (position{1, -2.5}) {
		t.Error(*p)
	}
	if p := n.position.Get(berta); !math.IsNaN(p.X) || !math.IsInf(p.Y, -1) {
		t.Error(*p)
	}
	if p := n.burden.Get(anna); *p != (burden{berta, [3]uint32{4000000000, 0, 0}}) {
		t.Error(*p)
	}
	if p := n.diary.Get(d.Numbered[7]); p.Title != "“Say \"A\"”\n" ||
		!slices.Equal(p.Lines, []string{"", "x"}) ||
		string(p.secret) != "secret" || !reflect.DeepEqual(p.Seen, map[vast.Entity]int{anna: 1, berta: -2}) {
		t.Errorf("%+v", *p)
	}
	if got := slices.Collect(n.childOf.Sources(berta)); !slices.Equal(got,
		[]vast.Entity{d.Numbered[7], anna, d.Entities[3]}) {
		t.Error(got)
	}
	if c := vast.Resource[clock](n.w); *c != (clock{17, ""}) {
		t.Error(*c)
	}
	if want := (store.Report{Added: []string{nameOfClock + ".Note", "diary.Journey"}}); !reflect.DeepEqual(
		d.Report, want) {
		t.Errorf("%+v", d.Report)
	}
	var written bytes.Buffer
	if err := store.WriteJSON(n.w, &written, o); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "village-written.json")
	if *write {
		if err := os.WriteFile(golden, written.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if written.String() != string(want) {
		t.Error(difference(written.String(), string(want)))
	}
}

const nameOfClock = "github.com/vastgo/vast/store_test.clock"

// TestJSONOfQuery: ReadJSON adds the entities of a query to a world. A reference to an entity outside of the
// query leads to the entity with the same name, or is an error.
func TestJSONOfQuery(t *testing.T) {
	n := newTown(t, false)
	home, child, other := n.walkers.New(), n.carriers.New(), n.carriers.New()
	for e, name := range map[vast.Entity]string{home: "home", child: "child"} {
		if _, err := n.names.Set(e, name); err != nil {
			t.Fatal(err)
		}
	}
	*n.burden.Get(child) = burden{Of: home}
	*n.burden.Get(other) = burden{Of: child}
	n.childOf.Set(child, home)
	n.childOf.Set(other, child)
	n.roads.Add(other, home, 5)
	n.roads.Add(other, other, 6)
	n.roads.Add(home, other, 7) // not in the document, because home does not match the query
	var b bytes.Buffer
	if err := store.WriteJSONOf(n.w.Query(n.burden), &b, store.Options{}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	before := n.dump()
	mustSay(t, readError(n.w, text, store.Options{}),
		`line 3, column 14: the world has an entity named "child"`)
	if now := n.dump(); now != before {
		t.Fatal(difference(before, now))
	}
	d := readJSON(t, n.w, strings.ReplaceAll(text, `"child"`, `"kid"`), store.Options{})
	kid, copied := d.Named["kid"], d.Numbered[1]
	if len(d.Entities) != 2 || n.w.Len() != 5 || n.burden.Get(kid).Of != home ||
		n.burden.Get(copied).Of != kid || *n.roads.Get(copied, copied) != 6 ||
		*n.roads.Get(copied, home) != 5 || n.roads.CountSources(copied) != 1 {
		t.Error(n.dump())
	}
	if got := slices.Collect(n.childOf.Sources(home)); !slices.Equal(got, []vast.Entity{child, kid}) {
		t.Error(got)
	}
	if target, _ := n.childOf.Target(copied); target != kid {
		t.Error(target)
	}
	empty := newTown(t, true)
	mustSay(t, readError(empty.w, text, store.Options{}),
		`burden.Of refers to "home" outside of the document, and the world has no entity of this name`)
	if empty.w.Len() != 0 {
		t.Error(empty.w.Len())
	}
	n.names.Remove(home)
	mustSay(t, store.WriteJSONOf(n.w.Query(n.burden), &b, store.Options{}), "refers to entity "+home.String()+
		", which does not match the query and has no name in UTF-8: name it, or let the query match it")
}

// TestJSONValues: WriteJSON writes each kind of value in its documented form, and ReadJSON reads it back.
func TestJSONValues(t *testing.T) {
	type inner struct{ hidden int8 }
	type values struct {
		B       bool
		I       []int64
		U       uint64
		F       []float32
		D       []float64
		C       complex64
		S       []string
		Bytes   []byte
		No      []byte
		Tiles   []tile
		Empty   []int
		None    []int
		Ints    map[int]string
		Names   map[string]int
		Floats  map[float64]bool
		Keys    map[vast.Entity]vast.Entity
		Nested  map[string]map[vast.Entity][]vast.Entity
		Address map[netip.Addr]int
		When    time.Time
		Left    time.Duration
		Big     big.Int
		Of      [2]vast.Entity
		Off     [0]func()
		inner
		stamp stamped
		_     int
	}
	w, u := world(t), world(t)
	x, y := vast.NewHeapColumn[values](w).Named("v"), vast.NewHeapColumn[values](u).Named("v")
	e, f, gone := w.Archetype(x).New(), w.Archetype().New(), w.Archetype().New()
	w.Delete(gone)
	v := values{B: true, I: []int64{0, 1 << 53, 1<<53 + 1, math.MinInt64}, U: math.MaxUint64,
		F:     []float32{0.1, math.MaxFloat32, float32(math.Inf(1))},
		D:     []float64{0.1, 1e21, 5e-324, math.Inf(-1), math.Copysign(0, -1)},
		C:     complex(1, float32(math.Inf(1))),
		S:     []string{"", "é\"\\\n\t\x00\u2028<", "\xff\xfe"},
		Bytes: []byte{}, Tiles: []tile{1, 200}, Empty: []int{}, Ints: map[int]string{-10: "a", 9: "b"},
		Names:   map[string]int{"b": 1, "a\"": 2, "\xff": 3},
		Floats:  map[float64]bool{1.5: true, math.Inf(1): false},
		Keys:    map[vast.Entity]vast.Entity{e: f, f: e, gone: e, {}: gone},
		Nested:  map[string]map[vast.Entity][]vast.Entity{"k": {f: {e, f}}, "": nil},
		Address: map[netip.Addr]int{netip.MustParseAddr("::1"): 1},
		When:    time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Left: 90*time.Second + 1,
		Big: *big.NewInt(7), Of: [2]vast.Entity{f, gone}, inner: inner{-3},
		stamp: stamped{Name: "n", Tiles: []tile{3}}}
	x.Set(e, v)
	const want = `{"entities": [
    {"id": 1},
    {"id": 2, "components": {
      "v": {"B": true, "I": [0, 9007199254740992, "9007199254740993", "-9223372036854775808"], ` +
		`"U": "18446744073709551615", "F": [0.1, 3.4028235e+38, "+Inf"], ` +
		`"D": [0.1, 1e+21, 5e-324, "-Inf", -0], "C": [1, "+Inf"], ` +
		`"S": ["", "é\"\\\n\t\u0000` + "\u2028" + `<", {"base64": "//4="}], "Bytes": "", "No": null, ` +
		`"Tiles": [1, 200], "Empty": [], "None": null, "Ints": {"-10": "a", "9": "b"}, ` +
		`"Names": [{"key": "a\"", "value": 2}, {"key": "b", "value": 1}, ` +
		`{"key": {"base64": "/w=="}, "value": 3}], ` +
		`"Floats": [{"key": "+Inf", "value": false}, {"key": 1.5, "value": true}], ` +
		`"Keys": [{"key": 1, "value": 2}, {"key": 2, "value": 1}, {"key": null, "value": null}], ` +
		`"Nested": {"": null, "k": [{"key": 1, "value": [2, 1]}]}, "Address": {"::1": 1}, ` +
		`"When": "2026-01-02T03:04:05.000000006Z", "Left": "1m30.000000001s", "Big": 7, "Of": [1, null], ` +
		`"Off": [], "inner": {"hidden": -3}, ` +
		`"stamp": {"Time": "0001-01-01T00:00:00Z", "Name": "n", "Tiles": [3]}}
    }}
  ]
}
`
	text := writeJSON(t, w, store.Options{})
	if text = strings.Replace(text, "{\n  \"entities\"", "{\"entities\"", 1); text != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	d := readJSON(t, u, text, store.Options{})
	e, f = d.Numbered[2], d.Numbered[1]
	v.Keys = map[vast.Entity]vast.Entity{e: f, f: e, {}: {}}
	v.Nested = map[string]map[vast.Entity][]vast.Entity{"k": {f: {e, f}}, "": nil}
	v.Of = [2]vast.Entity{f, {}}
	if got := y.Get(e); !reflect.DeepEqual(*got, v) {
		t.Errorf("%+v\nwant\n%+v", *got, v)
	}
	if !math.Signbit(y.Get(e).D[4]) {
		t.Error("minus zero has lost its sign")
	}
}

// TestJSONOtherSpellings: ReadJSON accepts forms of values that WriteJSON does not write.
func TestJSONOtherSpellings(t *testing.T) {
	type v struct {
		I    int8
		U    uint16
		F    float32
		Left time.Duration
		S    string
		M    map[string]int
		N    map[uint8]int
		A    [3]int
	}
	w := world(t)
	c := vast.NewHeapColumn[v](w)
	d := readJSON(t, w, "{\"entities\":[{\"components\":{\"v\":{\"I\":\"-128\",\"U\":\"65535\",\"F\":1E2,\n"+
		`"Left":250,"S":"\ud83d\ude00\u00e9\/\b\f\r","M":[{"value":1,"key":"a"},{"key":"b"}],`+
		`"N":{"255":1},"A":[1,2]} } } , {}]}`, store.Options{})
	want := v{-128, 65535, 100, 250, "😀é/\b\f\r", map[string]int{"a": 1, "b": 0}, map[uint8]int{255: 1},
		[3]int{1, 2, 0}}
	if got := c.Get(d.Entities[0]); !reflect.DeepEqual(*got, want) || len(d.Entities) != 2 {
		t.Errorf("%+v", *got)
	}
}

func TestJSONErrors(t *testing.T) {
	in := func(components string) string { // the components begin at line 1, column 30
		return `{"entities":[{"components": {` + components + `}}]}`
	}
	two := func(first, second string) string { return `{"entities":[{` + first + `}, {` + second + `}]}` }
	for _, tt := range []struct{ text, says string }{
		{"", "line 1, column 1: the document is not JSON: unexpected end of JSON input"},
		{"{\n \"entities\": [}", "line 2, column 15: the document is not JSON: invalid character '}'"},
		{"{}\n{}", "line 2, column 1: the document is not JSON"},
		{strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "exceeded max depth"},
		{"{\"é\xff\": 1}", "line 1, column 4: the document is not UTF-8"},
		{"[]", `line 1, column 1: the document must be an object with the member "entities", not []`},
		{`{"entities": 1}`, `line 1, column 14: "entities" must be a list, not 1`},
		{`{"entities": [], "entities": []}`, `column 18: the document has the member "entities"`},
		{`{"version": 1}`, `the document has the member "version": only "entities" and "resources" are`},
		{`{"entities": [null]}`, "an entity must be an object, not null"},
		{`{"entities": [{"tag": 1}]}`, `an entity has the member "tag": only "name", "id"`},
		{`{"entities": [{"id": 1, "id": 2}]}`, `the entity has the member "id" twice`},
		{`{"entities": [{"components": []}]}`, `"components" must be an object, not []`},
		{`{"entities": [{"name": 5}]}`, "the name of an entity must be a string, not 5"},
		{`{"entities": [{"name": ""}]}`, "the name of an entity is empty: leave the member out"},
		{`{"entities": [{"name": "\ud800x"}]}`, `half of a pair of \u escapes`},
		{`{"entities": [{"name": "\ud800\u0041"}]}`, `half of a pair of \u escapes`},
		{`{"entities": [{"id": -1}]}`, "the id of an entity must be a whole number from 0 on, not -1"},
		{`{"entities": [{"id": 1.5}]}`, "must be a whole number from 0 on, not 1.5"},
		{two(`"id": 1`, `"id": 1`), "two entities of the document have the id 1"},
		{two(`"name": "A"`, `"name": "A"`), `two entities of the document have the name "A"`},
		{two(``, `"name": "Mayor"`),
			`the world has an entity named "Mayor", 0.1: give one of the two another`},
		{in(`"Nope": 1`),
			`line 1, column 30: world "town" has no column "Nope": register it, or give its new ` +
				"name in Options.Renamed"},
		{in(`"roads targets": 1`), `no column "roads targets"`},
		{in(`"Name": "x"`), `no column "Name"`},
		{in(`"awake": true, "awake": true`), "the entity has the component awake twice"},
		{in(`"awake": false`),
			"column 39: awake is a tag and must be true: leave it out of entities that lack it"},
		{in(`"position": null`), "position must be an object with fields of store_test.position, not null"},
		{in(`"position": {"Z": 1}`),
			`position has no field "Z": remove it, correct it, or give its new name in ` +
				"Options.Renamed"},
		{in(`"position": {"X": 1, "X": 2}`), "position.X comes twice"},
		{in(`"position": {"X": "1"}`), `position.X must be a number, "NaN", "+Inf" or "-Inf", not "1"`},
		{in(`"position": {"X": 1e400}`),
			"position.X must be a number that a float of 64 bits can hold, not 1e400"},
		{in(`"age": {"Days": 32768}`), "age.Days must be a whole number from -32768 to 32767, not 32768"},
		{in(`"age": {"Days": 1.0}`), "age.Days must be a whole number from -32768 to 32767, not 1.0"},
		{in(`"age": {"Days": "x"}`), `age.Days must be a whole number from -32768 to 32767, not "x"`},
		{in(`"age": {"Adult": 1}`), "age.Adult must be true or false, not 1"},
		{in(`"burden": {"Weight": [1, -1]}`),
			"burden.Weight[] must be a whole number from 0 to 4294967295, not -1"},
		{in(`"burden": {"Weight": [1, 2, 3, 4]}`),
			"burden.Weight must be a list of at most 3 elements, not [1, 2"},
		{in(`"burden": {"Of": "Nemo"}`),
			`burden.Of refers to "Nemo", which the document lacks: add it, or write ` +
				`{"outside": "Nemo"} for an entity that the world has`},
		{in(`"burden": {"Of": "Mayor"}`), `burden.Of refers to "Mayor", which the document lacks`},
		{in(`"burden": {"Of": 5}`),
			"burden.Of refers to number 5, which no entity of the document has as its id"},
		{in(`"burden": {"Of": true}`), "burden.Of must be the name or the id of an entity"},
		{in(`"burden": {"Of": {"outside": 5}}`), "burden.Of must be the name or the id"},
		{in(`"burden": {"Of": {"outside": "Nemo"}}`),
			`burden.Of refers to "Nemo" outside of the document, and ` +
				"the world has no entity of this name"},
		{in(`"diary": {"Title": 5}`), "diary.Title must be a string, not 5"},
		{in(`"diary": {"Title": {"base64": "!"}}`), `diary.Title must be a string in base64, not "!"`},
		{in(`"diary": {"secret": [1]}`), "diary.secret must be a string in base64, not [1]"},
		{in(`"diary": {"Lines": "x"}`), `diary.Lines must be a list or null, not "x"`},
		{in(`"diary": {"Seen": {}}`), `diary.Seen must be a list of objects with "key" and "value", or null`},
		{in(`"diary": {"Seen": [1]}`), `diary.Seen must be a list of objects with "key" and "value", not 1`},
		{in(`"diary": {"Seen": [{"value": 1}]}`), "diary.Seen: an entry of the map has no key"},
		{in(`"diary": {"Seen": [{"key": null, "other": 1}]}`),
			`an entry of the map may have only "key" and "value"`},
		{in(`"diary": {"Seen": [{"key": null}, {"key": null}]}`), "diary.Seen has a key that comes twice"},
		{in(`"childOf": null`), "childOf must be the name or the id of an entity"},
		{in(`"roads": {}`), `roads must be a list of objects with "to" and "value", not {}`},
		{in(`"roads": [1]`), `roads must be a list of objects with "to" and "value", not 1`},
		{in(`"roads": [{"value": 1}]`), `roads: the edge has no "to"`},
		{in(`"roads": [{"to": {"outside": "Mayor"}, "to": 1}]`),
			`roads: an edge may have only "to" and "value"`},
		{in(`"roads": [{"to": {"outside": "Mayor"}}, {"to": {"outside": "Mayor"}}]`),
			"roads has two edges from"},
		{in(`"roads": [{"to": {"outside": "Mayor"}, "value": 70000}]`),
			"roads must be a whole number from 0 to 65535"},
		{`{"entities":[{"id": 1, "components": {"childOf": 1}}]}`,
			"childOf: the links of the entity and of its " +
				"ancestors form a circle"},
		{two(`"id": 1, "components": {"childOf": 2}`, `"id": 2, "components": {"childOf": 1}`),
			"form a circle"},
		{`{"entities":[{"sources": {"position": []}}]}`, "position is neither a relation nor edges"},
		{`{"entities":[{"sources": {"roads": 1}}]}`, "the sources in roads must be a list, not 1"},
		{`{"entities":[{"sources": {"roads": [], "roads": []}}]}`, "roads comes twice"},
		{`{"entities":[{"sources": {"roads": [{"outside": "Mayor"}]}}]}`, "must be entities of the document"},
		{`{"entities":[{"id": 1, "sources": {"childOf": [1]}}]}`,
			"the sources in childOf list an entity twice, or " +
				"an entity without a link"},
		{`{"entities":[{"id": 1, "sources": {"roads": [3, 2]}}, {"id": 2, "components": {"roads": ` +
			`[{"to": 1}, {"to": 4}]}}, {"id": 3, "components": {"roads": [{"to": 4}, {"to": 1}]}}, ` +
			`{"id": 4}]}`,
			"roads: the orders of sources and of targets contradict each other"},
		{`{"resources": 1}`, `"resources" must be an object, not 1`},
		{`{"resources": {"clock": {}}}`, `the resource "clock" is not among those that the options name`},
		{`{"resources": {"` + nameOfClock + `": {}, "` + nameOfClock + `": {}}}`, "comes twice"},
		{`{"resources": {"` + nameOfClock + `": {"Tick": true}}}`,
			nameOfClock + ".Tick must be a whole number"},
	} {
		n := newTown(t, false)
		if _, err := n.names.Set(n.walkers.New(), "Mayor"); err != nil {
			t.Fatal(err)
		}
		before := n.dump()
		o := store.Options{Resources: []reflect.Type{reflect.TypeFor[clock]()}}
		_, err := store.ReadJSON(n.w, strings.NewReader(tt.text), o)
		if err == nil || !strings.Contains(err.Error(), tt.says) || len(err.Error()) > 600 {
			t.Errorf("%.200s: %v\nwant %s", tt.text, err, tt.says)
		}
		if n.dump() != before {
			t.Errorf("%.200s: the world has changed", tt.text)
		}
	}
}

// TestJSONRefused: an error names the field, column or entity that a document cannot hold. With a codec, a
// document can hold a pointer. WriteJSON also refuses a world with commands that were not applied.
func TestJSONRefused(t *testing.T) {
	type pointer struct{ P *int }
	w := world(t)
	p := vast.NewHeapColumn[pointer](w)
	for name, err := range map[string]error{
		"write": store.WriteJSON(w, new(bytes.Buffer), store.Options{}),
		"read":  readError(w, "{}", store.Options{}),
	} {
		if text := fmt.Sprint(err); !strings.Contains(text, "pointer.P is a ptr, which cannot be written as "+
			"JSON: give the type the methods MarshalText and UnmarshalText, or name a codec in "+
			"Options.Codecs") {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := store.Options{Codecs: []store.Codec{store.CodecOf(
		func(b []byte, v *pointer) ([]byte, error) { return append(b, byte(*v.P)), nil },
		func(b []byte, v *pointer) error {
			if len(b) != 1 {
				return fmt.Errorf("%d bytes", len(b))
			}
			v.P = new(int)
			*v.P = int(b[0])
			return nil
		})}}
	seven := 7
	p.Add(w.Archetype().New(), pointer{&seven})
	text := writeJSON(t, w, o)
	d := readJSON(t, w, text, o)
	if got := p.Get(d.Entities[0]); !strings.Contains(text, `"pointer": "Bw=="`) || *got.P != 7 {
		t.Error(text, *got)
	}
	_, err := store.ReadJSON(w, strings.NewReader(strings.Replace(text, "Bw==", "", 1)), o)
	if err == nil || !strings.Contains(err.Error(), "line 4, column 18: pointer: 0 bytes") || w.Len() != 2 {
		t.Error(err)
	}
	n := newTown(t, false)
	if _, err := n.names.Set(n.walkers.New(), "\xff"); err != nil {
		t.Fatal(err)
	}
	err = store.WriteJSON(n.w, new(bytes.Buffer), store.Options{})
	mustSay(t, err, `the name "\xff" of entity 0.1 is not UTF-8: give it another name`)
	u := world(t)
	nan := vast.NewHeapColumn[map[float64]int](u).Named("m")
	nan.Add(u.Archetype().New(), map[float64]int{math.NaN(): 1, math.Float64frombits(0x7ff8000000000002): 2})
	err = store.WriteJSON(u, new(bytes.Buffer), store.Options{})
	mustSay(t, err, `m has two keys that are written as "NaN"`)
	twins := world(t)
	vast.NewColumn[uint8](twins).Named("x")
	vast.NewColumn[uint16](twins).Named("x")
	err = store.WriteJSON(twins, new(bytes.Buffer), store.Options{})
	mustSay(t, err, `two columns have the name "x"`)
	c := vast.NewCommands(n.w, vast.CommandsOptions{})
	c.New(n.walkers)
	err = store.WriteJSON(n.w, new(bytes.Buffer), store.Options{})
	mustSay(t, err, "commands have been recorded and not applied")
}

func TestJSONRenamed(t *testing.T) {
	w := world(t)
	body := vast.NewColumn[loadV2](w).Named("Body")
	vast.NewRelation(w, "childOf", vast.RelationOptions{})
	o := store.Options{Resources: []reflect.Type{reflect.TypeFor[clock]()}, Renamed: map[string]string{
		"Load": "Body", "Body.Weight": "Body.Mass", "Body.Parts[].X": "Body.Parts[].Y", "Body.Old": "",
		"Gone": "", "Mind": "", "parent": "childOf", "Time": nameOfClock, "Weather": ""}}
	d := readJSON(t, w, `{"resources": {"Time": {"Tick": 5}, "Weather": [1, {"x": "}"}]}, "entities": [
		{"id": 1, "sources": {"parent": [3, 2]}, "components": {"Gone": {"a": [1, 2, {}]}, 
			"Load": {"Weight": 3, "Parts": [{}, {"X": 4}], "Old": "x"}}},
		{"id": 2, "components": {"Gone": 1, "parent": 1}}, {"id": 3, "components": {"parent": 1}}]}`, o)
	want := loadV2{Mass: 3}
	want.Parts[1].Y = 4
	if *body.Get(d.Numbered[1]) != want || vast.Resource[clock](w).Tick != 5 {
		t.Errorf("%+v", *body.Get(d.Numbered[1]))
	}
	slices.Sort(d.Report.Dropped)
	if !slices.Equal(d.Report.Dropped, []string{"Body.Old", "Gone", "Weather"}) {
		t.Errorf("%+v", d.Report)
	}
	err := readError(w, "{}", store.Options{Renamed: map[string]string{"Body.Weight": "Mass"}})
	mustSay(t, err, `new name of Body.Weight is "Mass": begin it with "Body."`)
}

// TestJSONCallbacks: callbacks see the components of the document, required components are added, and
// trackers note the added components.
func TestJSONCallbacks(t *testing.T) {
	n := newTown(t, false)
	w := n.w
	n.tracker.Next()
	var added []string
	n.burden.OnAdd(func(e vast.Entity, b *burden) {
		added = append(added, fmt.Sprint(b.Weight[0], w.Alive(b.Of), n.position.Get(b.Of).X))
	})
	n.childOf.OnAdd(func(source, target vast.Entity) {
		a, _ := n.names.Of(source)
		b, _ := n.names.Of(target)
		added = append(added, a+" → "+b)
	})
	d := readJSON(t, w, `{"entities": [
		{"name": "a", "components": {"burden": {"Of": "b", "Weight": [1]}, "childOf": "b"}},
		{"name": "b", "components": {"burden": {"Of": "b", "Weight": [2]}, "position": {"X": 3}}}]}`,
		store.Options{})
	if !slices.Equal(added, []string{"1 true 3", "2 true 3", "a → b"}) {
		t.Errorf("%q", added)
	}
	if got := slices.Collect(n.tracker.Added(n.burden)); !slices.Equal(got, d.Entities) {
		t.Error(got)
	}
	u := world(t)
	x, y := vast.NewColumn[uint8](u).Named("x"), vast.NewColumn[uint8](u).Named("y")
	u.Require(x, y)
	d = readJSON(t, u, `{"entities": [{"components": {"x": 1}}]}`, store.Options{})
	if !y.Has(d.Entities[0]) || u.Archetype(x, y).Len() != 1 {
		t.Error("the required component is missing")
	}
}

// TestJSONWholeOrNot: if slots or memory run out, or if a callback panics, ReadJSON adds no entities.
func TestJSONWholeOrNot(t *testing.T) {
	many := `{"entities": [{"name": "one", "components": {"position": {}}}` +
		strings.Repeat(`, {"components": {"position": {}}}`, 999) + `]}`
	w := vast.NewWorld(vast.Options{MaxEntities: 640})
	defer w.Close()
	vast.NewColumn[position](w)
	vast.NewTag(w, "a")
	burdens := vast.NewSparseColumn[burden](w)
	err := readError(w, strings.Replace(many, `"position"`, `"a": true, "burden": {}, "position"`, 300),
		store.Options{})
	if refused := (*vm.Error)(nil); !errors.As(err, &refused) || w.Len() != 0 {
		t.Error(err, w.Len())
	}
	w.Archetype().NewN(640, nil) // the failed call has released the room that it had reserved
	w.Reset()
	w.Archetype(burdens).NewN(640, nil)
	n := newTown(t, false)
	bad := true
	n.childOf.OnAdd(func(source, _ vast.Entity) {
		if bad && n.childOf.CountSources(source) == 0 {
			panic("no child")
		}
	})
	const text = `{"entities": [{"name": "a"},
		{"name": "b", "components": {"childOf": "a", "position": {}}}]}`
	func() {
		defer func() {
			if v := recover(); v != "no child" {
				t.Error(v)
			}
		}()
		_, _ = store.ReadJSON(n.w, strings.NewReader(text), store.Options{})
	}()
	if _, found := n.names.Find("a"); n.w.Len() != 0 || found {
		t.Error(n.w.Len())
	}
	bad = false
	if d := readJSON(t, n.w, text, store.Options{}); len(d.Named) != 2 {
		t.Error(*d)
	}
	limit := vm.NewLimit(1 << 20)
	small := vast.NewWorld(vast.Options{Limit: limit})
	defer small.Close()
	vast.NewColumn[position](small)
	roads := vast.NewEdges[[1 << 16]byte](small, "roads", vast.EdgesOptions{Capacity: 1 << 10})
	edges := `{"entities": [{"id": 1, "components": {"position": {}, "roads": [{"to": 1}]}}`
	for i := range 40 {
		edges += fmt.Sprintf(`, {"components": {"roads": [{"to": 1, "value": [%d]}]}}`, i)
	}
	err = readError(small, edges+"]}", store.Options{})
	if refused := (*vm.Error)(nil); !errors.As(err, &refused) || small.Len() != 0 || roads.Len() != 0 {
		t.Error(err, small.Len(), roads.Len())
	}
}

// TestJSONOrder: the sources that a document lists come first, in the listed order. Other sources follow in
// the order of their entities in the document.
func TestJSONOrder(t *testing.T) {
	n := newTown(t, false)
	d := readJSON(t, n.w, `{"entities": [
		{"id": 1, "sources": {"roads": [3, 2], "aimsAt": [4], "childOf": [5, 3]}},
		{"id": 2, "components": {"roads": [{"to": 4}, {"to": 1}], "aimsAt": 1, "childOf": 1}},
		{"id": 3, "components": {"roads": [{"to": 1}, {"to": 4}], "aimsAt": 1, "childOf": 1}},
		{"id": 4, "components": {"aimsAt": 1, "childOf": 5}},
		{"id": 5, "components": {"aimsAt": 5, "childOf": 1}}]}`, store.Options{})
	var got [][]uint64
	numbers := make(map[vast.Entity]uint64)
	for id, e := range d.Numbered {
		numbers[e] = id
	}
	add := func(entities iter.Seq[vast.Entity]) {
		var list []uint64
		for e := range entities {
			list = append(list, numbers[e])
		}
		got = append(got, list)
	}
	ends := func(edges iter.Seq2[vast.Entity, *uint16]) iter.Seq[vast.Entity] {
		return func(yield func(vast.Entity) bool) {
			for e := range edges {
				if !yield(e) {
					return
				}
			}
		}
	}
	add(n.childOf.Sources(d.Numbered[1]))
	add(n.aimsAt.Sources(d.Numbered[1]))
	add(ends(n.roads.Sources(d.Numbered[1])))
	add(ends(n.roads.Sources(d.Numbered[4])))
	add(ends(n.roads.Targets(d.Numbered[2])))
	add(ends(n.roads.Targets(d.Numbered[3])))
	want := [][]uint64{{5, 3, 2}, {4, 2, 3}, {3, 2}, {2, 3}, {4, 1}, {1, 4}}
	if !reflect.DeepEqual(got, want) {
		t.Error(got, want)
	}
}

// TestJSONDeepHierarchy: a long chain keeps its depth, and its document does not change in a round trip.
func TestJSONDeepHierarchy(t *testing.T) {
	const n = 3000
	var b strings.Builder
	b.WriteString(`{"entities": [{"id": 0}`)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, `, {"id": %d, "components": {"childOf": %d}}`, i, i-1)
	}
	b.WriteString("]}")
	to := newTown(t, false)
	d := readJSON(t, to.w, b.String(), store.Options{})
	if depth := to.childOf.Depth(d.Numbered[n-1]); depth != n-1 {
		t.Error(depth)
	}
	again := newTown(t, false)
	text := writeJSON(t, to.w, store.Options{})
	if readJSON(t, again.w, text, store.Options{}); writeJSON(t, again.w, store.Options{}) != text {
		t.Error("the document of the chain has changed in a round trip")
	}
}
