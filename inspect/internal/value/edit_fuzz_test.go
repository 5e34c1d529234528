package value

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

func FuzzEdit(f *testing.F) {
	types := []reflect.Type{
		reflect.TypeFor[body](), reflect.TypeFor[person](), reflect.TypeFor[[]item](),
		reflect.TypeFor[map[string]int](),
		reflect.TypeFor[any](), reflect.TypeFor[float64](), reflect.TypeFor[stage](),
		reflect.TypeFor[[2][3]int8](), reflect.TypeFor[string](),
		reflect.TypeFor[[]string](), reflect.TypeFor[uint8](),
	}
	for i, path := range []string{"At.X", "Bag[0].Kind", "[1].Kind", `["a"]`, "", "", "", "[1][2]", "", "[3]",
		""} {
		for _, text := range []string{"1", `"Ill"`, "[1,2]", `{"X":1}`, "1e400", `"NaN"`, "null", "-0",
			"9007199254740993", "[[", `"17.3"`} {
			f.Add(uint8(i), path, text)
		}
	}
	f.Add(uint8(7), "a[99999999999999999999]", "1")
	f.Fuzz(func(t *testing.T, which uint8, path, text string) {
		typ := types[int(which)%len(types)]
		v := reflect.New(typ).Elem()
		if typ == types[1] {
			v.FieldByName("Bag").Set(reflect.ValueOf([]item{{1}, {2}}))
		}
		got, err := edit(v, path, text)
		if err != nil {
			if e := (*Error)(nil); !errors.As(err, &e) || e.Message == "" || len(err.Error()) > 2000 {
				t.Fatalf("%q = %q: the error is %#v, want a short *Error", path, text, err)
			}
			return
		}
		if got.Type() != typ {
			t.Fatalf("the edit turns a %v into a %v", typ, got.Type())
		}
		shown := Tree(got, Options{Editable: true})
		if _, err := json.Marshal(shown); err != nil {
			t.Fatalf("%q = %q: the tree cannot be written as JSON: %v", path, text, err)
		}
		if n := 0; typ.Kind() == reflect.Uint8 && typ != types[6] &&
			(json.Unmarshal([]byte(text), &n) == nil && uint64(n) != got.Uint()) {
			t.Fatalf("the edit sets %d instead of %s", got.Uint(), text)
		}
	})
}
