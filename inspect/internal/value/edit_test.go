package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

// find knows one entity, with the ID 17.3 and the name Paris.
func find(to Reference) (vast.Entity, error) {
	switch to {
	case Reference{Any: "17.3"}, Reference{Any: "Paris"}, Reference{ID: "17.3"}, Reference{Name: "Paris"}:
		return vast.EntityOf(3<<32 | 17), nil
	}
	return vast.Entity{}, fmt.Errorf("there is no entity %q", to.ID+to.Name+to.Any)
}

func edit(v reflect.Value, path, text string) (reflect.Value, error) {
	e, err := NewEdit(v.Type(), path, []byte(text))
	if err != nil {
		return v, err
	}
	return e.Apply(v, find)
}

func TestEdit(t *testing.T) {
	zero := reflect.ValueOf(body{})
	for _, tt := range []struct {
		path, text string
		want       func(b *body)
	}{
		{"At.X", "1.5", func(b *body) { b.At.X = 1.5 }},
		{"At.Y", ` "-Inf" `, func(b *body) { b.At.Y = float32(math.Inf(-1)) }},
		{"At", `{"Y":2}`, func(b *body) { b.At.Y = 2 }},
		{"Stage", `"Immune"`, func(b *body) { b.Stage = 2 }},
		{"Stage", `"immune"`, func(b *body) { b.Stage = 2 }},
		{"Stage", `200`, func(b *body) { b.Stage = 200 }},
		{"Stage", `"1"`, func(b *body) { b.Stage = 1 }},
		{"Grid[1][2]", "-128", func(b *body) { b.Grid[1][2] = -128 }},
		{"Grid[0]", "[1,2e0,3.0]", func(b *body) { b.Grid[0] = [3]int8{1, 2, 3} }},
		{"Grid", "[[1,2,3],[4,5,6]]", func(b *body) { b.Grid = [2][3]int8{{1, 2, 3}, {4, 5, 6}} }},
		{"Pad[999]", "65535", func(b *body) { b.Pad[999] = 65535 }},
		{"Pad[0]", `-0`, func(b *body) {}},
		{"To", `"17.3"`, func(b *body) { b.To = vast.EntityOf(3<<32 | 17) }},
		{"To", `"Paris"`, func(b *body) { b.To = vast.EntityOf(3<<32 | 17) }},
		{"To", `{"id":"17.3"}`, func(b *body) { b.To = vast.EntityOf(3<<32 | 17) }},
		{"To", `{"name": "Paris"}`, func(b *body) { b.To = vast.EntityOf(3<<32 | 17) }},
		{"To", `null`, func(b *body) {}},
		{"Left", `"1h30m"`, func(b *body) { b.Left = 90 * time.Minute }},
		{"Left", `250`, func(b *body) { b.Left = 250 }},
		{"On", "true", func(b *body) { b.On = true }},
		{"Big", `"18446744073709551615"`, func(b *body) { b.Big = math.MaxUint64 }},
		{"Big", `18446744073709551615`, func(b *body) { b.Big = math.MaxUint64 }},
		{"Big", `1e6`, func(b *body) { b.Big = 1_000_000 }},
		{"inner.Deep", "-7", func(b *body) { b.inner.Deep = -7 }},
		{"", `{"At":{"X":1},"inner":{"Deep":2},"Stage":"Ill"}`,
			func(b *body) { b.At.X, b.inner.Deep, b.Stage = 1, 2, 1 }},
		{"", `{}`, func(b *body) {}},
	} {
		want := body{}
		tt.want(&want)
		got, err := edit(zero, tt.path, tt.text)
		if err != nil || got.Interface() != want {
			t.Errorf("%s = %s: the result is %+v, want %+v; the error is %v", tt.path, tt.text,
				got.Interface(), want, err)
		}
		if zero.Interface() != (body{}) {
			t.Fatalf("%s = %s: the edit has changed the original value", tt.path, tt.text)
		}
	}
	if v, err := edit(zero, "At.X", `"NaN"`); err != nil || !math.IsNaN(float64(v.Interface().(body).At.X)) {
		t.Errorf("the edit to NaN results in %v, the error is %v", v, err)
	}
}

func TestEditOfHeapValues(t *testing.T) {
	shared := []item{{1}, {2}}
	p := &person{Name: "x", Bag: shared}
	v := reflect.ValueOf(p).Elem()
	got, err := edit(v, "Bag[1].Kind", `"Healthy"`)
	if bag := got.Addr().Interface().(*person).Bag; err != nil || bag[1].Kind != 0 || bag[0].Kind != 1 ||
		shared[1].Kind != 2 {
		t.Errorf("the edited slice is %v, the shared slice %v, the error %v", bag, shared, err)
	}
	e, err := NewEdit(v.Type(), "Bag", []byte(`[{"Kind":2},{}, {"Kind":"Ill"}]`))
	if err != nil {
		t.Fatal(err)
	}
	first, _ := e.Apply(v, find)
	second, _ := e.Apply(v, find)
	a, b := first.Addr().Interface().(*person).Bag, second.Addr().Interface().(*person).Bag
	if !reflect.DeepEqual(a, []item{{2}, {0}, {1}}) || !reflect.DeepEqual(a, b) || &a[0] == &b[0] {
		t.Errorf("two calls of Apply make the slices %v and %v", a, b)
	}
	got, err = edit(v, "Born", `"2020-01-02T03:04:05Z"`)
	if born := got.Addr().Interface().(*person).Born; err != nil ||
		!born.Equal(time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("the edited time is %v, the error is %v", born, err)
	}
	if got, err := edit(reflect.ValueOf("a"), "", `"b\n<"`); err != nil || got.Interface() != "b\n<" {
		t.Errorf("the edited string is %q, the error is %v", got, err)
	}
	if _, err := edit(reflect.ValueOf(make([]int, maxElements+1)), "[0]", "1"); err == nil ||
		!strings.Contains(err.Error(), "can be edited") {
		t.Errorf("an edit of a slice of %d elements: the error is %v", maxElements+1, err)
	}
}

func TestEditRefuses(t *testing.T) {
	plain, heap := reflect.TypeFor[body](), reflect.TypeFor[person]()
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	for _, tt := range []struct {
		t          reflect.Type
		path, text string
		says       string
	}{
		{plain, "Stage", "300", "Stage: uint8 holds 0 to 255, not 300"},
		{plain, "Stage", `"Dead"`, `Stage: must be one of Healthy, Ill, Immune, not "Dead"`},
		{plain, "Grid[0][0]", "128", "Grid[0][0]: int8 holds -128 to 127, not 128"},
		{plain, "Grid[0][0]", "1.5", "must be a whole number, not 1.5"},
		{plain, "Grid[0][0]", "1e999999999", "int8 holds -128 to 127"},
		{plain, "Grid[0][0]", `"x"`, `must be a whole number, not "x"`},
		{plain, "Grid[0][0]", "null", "must be a whole number, not null"},
		{plain, "Grid[0][0]", "[1]", "must be a whole number, not [1]"},
		{plain, "Grid[0][0]", `"-+5"`, "must be a whole number"},
		{plain, "Big", "-1", "uint64 holds 0 to 18446744073709551615, not -1"},
		{plain, "Big", "1e19", "write all digits of a number as large as"},
		{plain, "Big", strings.Repeat("9", 60_000), "uint64 holds 0 to"},
		{plain, "At.X", "1e39", "float32 holds numbers up to ±3.4e+38, not 1e39"},
		{plain, "At.X", `"1.5"`, `must be a number, "NaN", "+Inf" or "-Inf", not "1.5"`},
		{plain, "At.X", `NaN`, "the value is not valid JSON"},
		{plain, "At.X", `true`, "must be a number"},
		{plain, "At.X", ``, "the value is not valid JSON"},
		{plain, "At", `[1]`, "must be an object with fields of value.point, not [1]"},
		{plain, "At", `null`, "an object with fields"},
		{plain, "At", `{"X":1,"Z":2}`, `At: there is no field "Z": a value.point has X, Y`},
		{plain, "", `{"_":1}`, `there is no field "_"`},
		{plain, "_", `1`, `there is no field "_"`},
		{plain, "Grid", `[[1,2,3]]`, "Grid: must have 2 elements, not 1"},
		{plain, "Grid", `{}`, "must be an array, not {}"},
		{plain, "Grid", deep, "the value is n"}, // "is nested" or "is not valid JSON"
		{plain, "Grid", strings.Repeat("[", 500) + strings.Repeat("]", 500),
			"the value is nested more than 32 levels deep"},
		{plain, "Grid", strings.Repeat(" ", 1<<20), "at most 262144 bytes of JSON"},
		{plain, "To", `5`, "must be an entity (an ID such as 17.3, or a name) or null, not 5"},
		{plain, "To", `{}`, "must be an entity (an ID such as 17.3, or a name) or null, not {}"},
		{plain, "To", `{"id":"17.3","name":"Paris"}`, "must be an entity"},
		{plain, "To", `{"id":""}`, "must be an entity"},
		{plain, "To", `{"id":17.3}`, "must be an entity"},
		{plain, "To", `{"slot":"17.3"}`, "must be an entity"},
		{plain, "To.slot", `5`, "To: a vast.Entity has no fields"},
		{plain, "On", `1`, "must be true or false, not 1"},
		{plain, "Left", `"soon"`, "must be a duration such as 1h30m or 250ms"},
		{plain, "Left", `"99999999999h"`, "a duration such as"},
		{plain, "Nope", "1", `there is no field "Nope": a value.body has At, Stage, Grid`},
		{plain, "At.X.Y", "1", "At.X: a float32 has no fields"},
		{plain, "At[0]", "1", "At: a value.point has no elements"},
		{plain, "Grid[2]", "1", "Grid: the index must be 0 to 1, not 2"},
		{plain, "Grid[99999999999999999999]", "1",
			`an index must be a whole number from 0 on, not "99999999999999999999"`},
		{plain, "Grid[-1]", "1", `an index must be a whole number from 0 on, not "-1"`},
		{plain, "Grid[", "1", "is never closed"},
		{plain, "Grid[]", "1", "an index must be a whole number"},
		{plain, "Grid[1]x", "1", `"Grid[1]" must be followed by . or [`},
		{plain, ".At", "1", "the name of a field is missing"},
		{plain, "At.", "1", "the name of a field is missing"},
		{plain, "At..X", "1", "the name of a field is missing"},
		{plain, strings.Repeat("A", 2000), "1", "a path has at most 1000 bytes, not 2000"},
		{plain, strings.Repeat("[0]", 70), "1", "a path has at most 64 steps"},
		{heap, "Name", "5", "Name: must be a string, not 5"},
		{heap, "Name", `"` + strings.Repeat("x", 70_000) + `"`, "must have at most 65536 bytes, not 70000"},
		{heap, "hidden", `"x"`, "hidden: an unexported field is read-only"},
		{heap, "Next.Name", `"x"`, "Next: a value behind a pointer is read-only: it may be shared"},
		{heap, "Next", `{"Name":"x"}`, "a value behind a pointer is read-only"},
		{heap, "Extra", `5`, "a value in an interface is read-only"},
		{heap, `Ages["a"]`, `5`, "Ages: a value in a map is read-only"},
		{heap, `Ages`, `{"a":5}`, "a value in a map is read-only"},
		{heap, `Lock.M`, `5`, "Lock: a value.locked is guarded by its owner"},
		{heap, `Born`, `"yesterday"`, "must be a time such as 2006-01-02T15:04:05Z"},
		{heap, `Bag`, "[" + strings.Repeat("{},", 5000) + "{}]", "must have at most 4096 elements, not 5001"},
		{reflect.TypeFor[func()](), "", "5", "a func() is read-only"},
		{reflect.TypeFor[complex64](), "", "5", "a complex64 is read-only"},
	} {
		_, err := NewEdit(tt.t, tt.path, []byte(tt.text))
		if e := (*Error)(nil); err == nil || !errors.As(err, &e) || !strings.Contains(err.Error(), tt.says) ||
			len(err.Error()) > 1200 {
			t.Errorf("%.100s = %.100s: the error is %v\nwant %s", tt.path, tt.text, err, tt.says)
		}
	}
	for _, tt := range []struct {
		v                reflect.Value
		path, text, says string
	}{
		{reflect.ValueOf(body{}), "To", `"Atlantis"`, `To: there is no entity "Atlantis"`},
		{reflect.ValueOf(body{}), "To", `{"name":"17.3"}`, `To: there is no entity "17.3"`},
		{reflect.ValueOf(body{}), "To", `{"id":"Paris"}`, `To: there is no entity "Paris"`},
		{reflect.ValueOf([]item{{}}), "[1].Kind", "1",
			"[1].Kind: there are 1 elements: index 1 is out of range"},
		{reflect.ValueOf([]item(nil)), "[0].Kind", "1", "there are 0 elements"},
	} {
		if got, err := edit(tt.v, tt.path, tt.text); err == nil || err.Error() != tt.says &&
			!strings.Contains(err.Error(), tt.says) ||
			!reflect.DeepEqual(got.Interface(), tt.v.Interface()) {
			t.Errorf("%s = %s: the result is %v, the error is %v, want %s", tt.path, tt.text, got, err,
				tt.says)
		}
	}
}

// TestEditableIsEditable sets each leaf to its shown value. If the leaf is editable, the result must be equal
// to the original value. If the leaf is not editable, the edit must fail.
func TestEditableIsEditable(t *testing.T) {
	b := body{At: point{1, float32(math.Inf(1))}, Stage: 2, To: vast.EntityOf(3<<32 | 17), Left: time.Hour,
		Big: 1 << 60}
	b.inner.Deep = 5
	p := &person{Name: "n", Bag: []item{{1}}, Next: &person{}, Extra: 5, Ages: map[string]int{"a": 1},
		Born: time.Unix(1, 5).UTC()}
	checked := 0
	for _, v := range []reflect.Value{reflect.ValueOf(b), reflect.ValueOf(p).Elem()} {
		shown := Tree(v, Options{Editable: true})
		var check func(f *Field)
		check = func(f *Field) {
			for i := range f.Parts {
				check(&f.Parts[i])
			}
			if !f.Kind.isLeaf() || f.More > 0 {
				return
			}
			text, err := json.Marshal(f.Value)
			if err != nil {
				t.Fatal(err)
			}
			got, err := edit(v, f.Path, string(text))
			if (err == nil) != f.Editable || err == nil &&
				!reflect.DeepEqual(got.Addr().Interface(), addressable(v).Addr().Interface()) {
				t.Errorf("%s = %s: editable is %t, the result is %+v, the error is %v", f.Path, text,
					f.Editable, got, err)
			}
			checked++
		}
		check(&shown.Field)
	}
	if checked < 80 {
		t.Errorf("only %d fields were checked, want at least 80", checked)
	}
}

type year uint8

func (y year) String() string {
	names := []string{"2", "1999", "one", "ONE"}
	if int(y) < len(names) {
		return names[y]
	}
	return "?"
}

func TestAmbiguousEnums(t *testing.T) {
	for text, want := range map[string]year{`2`: 2, `"3"`: 3, `"one"`: 2, `"ONE"`: 3, `0`: 0} {
		if got, err := edit(reflect.ValueOf(year(9)), "", text); err != nil || got.Interface() != want {
			t.Errorf("%s: the result is %v, the error is %v, want %d", text, got, err, want)
		}
	}
	for text, says := range map[string]string{
		`"2"`:    `"2" is the name of 0 but looks like the number 2: write a number without quotes`,
		`"1999"`: `"1999" is the name of 1 but looks like the number 1999`,
		`"One"`:  `"One" may be one or ONE: write the exact name`,
		`"two"`:  `must be one of 2, 1999, one, ONE, not "two"`,
	} {
		if got, err := edit(reflect.ValueOf(year(9)), "", text); err == nil ||
			!strings.Contains(err.Error(), says) || got.Interface() != year(9) {
			t.Errorf("%s: the result is %v, the error is %v, want %s", text, got, err, says)
		}
	}
}
