package query

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vastgo/vast"
)

func TestErrorsOfNames(t *testing.T) {
	f := newTestWorld(t, 200)
	for _, c := range []struct {
		text, says       string
		position, length int
	}{
		{"Body, Ilness", `no component has the name "Ilness": did you mean Illness?`, 6, 6},
		{"Quark", `no component has the name "Quark"`, 0, 5},
		{"dead", "may be Dead or DEAD", 0, 4},
		{"Body.Y > 1, Body.Z > 1", `Body has no field "Z": did you mean X?`, 16, 2},
		{"Body.Mas > 1", `did you mean Mass?`, 4, 4},
		{"Numbers.In > 1", "Numbers.In is not a single value: name a field, such as Numbers.In[0].Deep", 7,
			3},
		{"Body > 1", "Body is not a single value: name a field, such as Body.X", 0, 4},
		{"Dead == 1", "Dead is a tag without a value", 0, 4},
		{"ChildOf == 1", "ChildOf is a relation: write ChildOf(target)", 0, 7},
		{"Body(Paris)", "Body is not a relation", 5, 5},
		{"where Body(Dead)", "Body is not a relation: where follows", 6, 4},
		{"up ChildOf(Body, !Ilness)", "did you mean Illness?", 18, 6},
		{"where Nam(Body)", "did you mean Name?", 6, 3},
		{"Note.Tags == x", "has the type []string, which cannot be compared", 4, 5},
		{"Body.X == high", `"high" is not a number`, 10, 4},
		{"Body.X < NaN", "has no order", 9, 3},
		{"Body.X ~ 1", "~ compares texts, but Body.X has the type float32", 7, 1},
		{"Numbers.I8 == \"5\"", "without quotes", 14, 3},
		{"Numbers.I8 == five", `"five" is not a number`, 14, 4},
		{"Numbers.On == 1", `"1" is neither true nor false`, 14, 1},
		{"Numbers.On > true", "has the type bool: use == or !=", 11, 1},
		{"Illness.Stage == Sever", `query.stage8 has no value called "Sever": did you mean Severe?`, 17, 5},
		{"Illness.Stage == Unheard", "the values are Gone, Mild, Severe", 17, 7},
		{"ChildOf(Pari 0)", `no entity has the name "Pari 0": did you mean Paris 0?`, 8, 6},
		{"ChildOf(999.1)", "no living entity has the ID 999.1", 8, 5},
		{"ChildOf(0.99)", "no living entity has the ID 0.99", 8, 4},
		{"ChildOf(0.0)", "no living entity has the ID 0.0", 8, 3},
		{"ChildOf(9999999999.1)", "no living entity has the ID 9999999999.1", 8, 12},
		{"Illness.Source == Nobody", `no entity has the name "Nobody"`, 18, 6},
		{"ChildOf(Paris 0), ChildOf(New York 7)", "an entity has one target in ChildOf", 26, 10},
		{"Body, !Body", "both required and excluded", 6, 5},
		{"!Body, Body.X > 1", "both required and excluded", 0, 5},
		{"Body | Note, !Body, !Note", "all alternatives are excluded", 20, 5},
	} {
		q, err := Parse(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		p, err := Compile(q, f.schema)
		if err == nil {
			_, err = p.Bind(f.World, f, true)
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: the error is %v", c.text, err)
			continue
		}
		if !strings.Contains(e.Message, c.says) || e.Position != c.position || e.Length != c.length {
			t.Errorf("%q: %q at position %d with length %d, want %q at %d with length %d", c.text,
				e.Message, e.Position, e.Length, c.says, c.position, c.length)
		}
	}
}

func TestShown(t *testing.T) {
	f := newTestWorld(t, 40)
	for text, want := range map[string]string{
		"": "", "Body, !Dead, ?Note": "Body Note", "Body.X > 1 | Illness, Body": "Body Illness",
		"ChildOf(*), Name ~ x": "ChildOf Name", "Body, up ChildOf(Note)": "Body ChildOf",
	} {
		q, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(q, f.schema)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range p.Shown() {
			names = append(names, c.Name())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q shows %q, want %q", text, got, want)
		}
	}
}

func TestNameOfEntityWithoutAComponentName(t *testing.T) {
	f := newTestWorld(t, 400)
	schema := &Schema{}
	for _, c := range f.schema.Columns {
		if c.Name() != "Name" {
			schema.Columns = append(schema.Columns, c)
		}
	}
	f.schema = schema
	named := 0
	for _, e := range f.entities {
		if _, ok := f.names.Of(e); ok {
			named++
		}
	}
	for text, want := range map[string]int{"Name": named, "!Name": len(f.entities) - named,
		`name == "Paris 14"`: 1, `Name != "Paris 14"`: named - 1,
		"Name ~ new": named / 2, "Name == Nobody": 0} {
		s := f.search(t, text)
		n := 0
		for lo := 0; lo < f.Slots(); lo += s.Step() {
			n += s.Words(lo, lo+s.Step(), make([]uint64, s.Step()/64))
		}
		if n != want {
			t.Errorf("%q found %d, want %d", text, n, want)
		}
	}
}

// countries is a Names that adds ", FR" to the names of a world. Its method Find does not accept ", FR".
type countries struct{ *testWorld }

func (c countries) Name(e vast.Entity) (string, bool) {
	name, ok := c.names.Of(e)
	return name + ", FR", ok
}

func (c countries) Suggest(prefix string, most int) (list []Suggestion) {
	for _, s := range c.testWorld.Suggest("", math.MaxInt) {
		if s.Name += ", FR"; strings.HasPrefix(s.Name, prefix) && len(list) < most {
			list = append(list, s)
		}
	}
	return list
}

func TestNamesWithCountries(t *testing.T) {
	f := newTestWorld(t, 40)
	schema := &Schema{}
	for _, c := range f.schema.Columns {
		if c.Name() != "Name" {
			schema.Columns = append(schema.Columns, c)
		}
	}
	for text, want := range map[string]int{`Name == "Paris 14"`: 1, `Name == "Paris 14, FR"`: 1,
		`Name == "Paris"`: 0, `Name != "Paris 14"`: 5, "ChildOf(Pariss 0)": -1} {
		q, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(q, schema)
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Bind(f.World, countries{f}, false)
		if want < 0 {
			if err == nil || err.Error() != `no entity has the name "Pariss 0": did you mean "Paris 0, FR"?` {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for lo := 0; lo < f.Slots(); lo += s.Step() {
			n += s.Words(lo, lo+s.Step(), make([]uint64, s.Step()/64))
		}
		if n != want {
			t.Errorf("%q found %d, want %d", text, n, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"infectd", "infected", 1}, {"posiiton", "position", 1}, {"kitten",
		"sitting", 3}, {"ab", "ba", 1}} {
		if d := distance(c.a, c.b, 10); d != c.want {
			t.Errorf("the distance from %q to %q is %d, want %d", c.a, c.b, d, c.want)
		}
	}
}
