package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/vastgo/vast"
)

type stage uint8

func (s stage) String() string {
	if s < 3 {
		return [...]string{"Healthy", "Ill", "Immune"}[s]
	}
	return fmt.Sprintf("stage(%d)", s)
}

type (
	point struct{ X, Y float32 }
	body  struct {
		At    point
		Stage stage
		Grid  [2][3]int8
		Pad   [1000]uint16
		To    vast.Entity
		Left  time.Duration
		On    bool
		Big   uint64
		_     int
		inner struct{ Deep int16 }
	}
	person struct {
		Name    string
		Bag     []item
		Next    *person
		Extra   any
		Ages    map[string]int
		Born    time.Time
		Lock    locked
		hidden  string
		private struct{ F func() }
	}
	item   struct{ Kind stage }
	locked struct {
		mu sync.Mutex
		M  map[int]int
	}
)

func part(t *testing.T, f *Field, path string) *Field {
	t.Helper()
	var found *Field
	var walk func(*Field)
	walk = func(f *Field) {
		if f.Path == path && found == nil {
			found = f
		}
		for i := range f.Parts {
			walk(&f.Parts[i])
		}
	}
	walk(f)
	if found == nil {
		t.Fatalf("no field %q", path)
	}
	return found
}

func TestTree(t *testing.T) {
	e := vast.EntityOf(3<<32 | 17)
	v := body{At: point{1.5, float32(math.NaN())}, Stage: 1, To: e, Left: 90 * time.Second,
		Big: math.MaxUint64}
	v.Grid[1][2], v.inner.Deep = -5, 7
	shown := Tree(reflect.ValueOf(v), Options{Editable: true})
	for _, want := range []Field{
		{Path: "", Type: "value.body", Kind: Struct, Exported: true, Size: int(reflect.TypeOf(v).Size())},
		{Path: "At", Name: "At", Type: "value.point", Kind: Vector, Text: "{X:1.5 Y:NaN}", Exported: true,
			Size: 8},
		{Path: "At.X", Name: "X", Type: "float32", Kind: Float, Value: float32(1.5), Text: "1.5",
			Exported: true, Editable: true, Size: 4},
		{Path: "At.Y", Name: "Y", Type: "float32", Kind: Float, Value: "NaN", Text: "NaN", Exported: true,
			Editable: true, Offset: 4, Size: 4},
		{Path: "Stage", Name: "Stage", Type: "value.stage", Kind: Enum, Value: uint64(1), Text: "Ill",
			Exported: true, Editable: true,
			Offset: 8, Size: 1, Choices: "github.com/vastgo/vast/inspect/internal/value.stage"},
		{Path: "Grid[1]", Name: "[1]", Type: "[3]int8", Kind: Vector, Text: "[0 0 -5]", Exported: true,
			Offset: 12, Size: 3},
		{Path: "Grid[1][2]", Name: "[2]", Type: "int8", Kind: Int, Value: int64(-5), Text: "-5",
			Exported: true, Editable: true, Offset: 14, Size: 1},
		{Path: "Pad", Name: "Pad", Type: "[1000]uint16", Kind: Array, Exported: true, Offset: 16, Size: 2000,
			More: 1000 - maxParts},
		{Path: "To", Name: "To", Type: "vast.Entity", Kind: Entity, Value: "17.3", Text: "17.3",
			Exported: true, Editable: true,
			Offset: int(reflect.TypeOf(v).Field(4).Offset), Size: 8},
		{Path: "Left", Name: "Left", Type: "time.Duration", Kind: Duration, Value: int64(90e9), Text: "1m30s",
			Exported: true,
			Editable: true, Offset: int(reflect.TypeOf(v).Field(5).Offset), Size: 8},
		{Path: "On", Name: "On", Type: "bool", Kind: Bool, Value: false, Text: "false", Exported: true,
			Editable: true,
			Offset:   int(reflect.TypeOf(v).Field(6).Offset), Size: 1},
		{Path: "Big", Name: "Big", Type: "uint64", Kind: Uint, Value: "18446744073709551615",
			Text:     "18446744073709551615",
			Exported: true, Editable: true, Offset: int(reflect.TypeOf(v).Field(7).Offset), Size: 8},
		{Path: "inner.Deep", Name: "Deep", Type: "int16", Kind: Int, Value: int64(7), Text: "7",
			Exported: true, Editable: true,
			Offset: int(reflect.TypeOf(v).Field(9).Offset), Size: 2},
	} {
		got := *part(t, &shown.Field, want.Path)
		if want.Path == "To" && (got.Entity == nil || got.Entity.ID != "17.3" || got.Entity.Of != e) {
			t.Errorf("the link is %+v", got.Entity)
		}
		if want.Text == "" && got.Text != "" {
			want.Text = got.Text
		}
		got.Parts, got.Entity = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the field is %+v\nwant %+v", got, want)
		}
	}
	if part(t, &shown.Field, "inner").Exported || len(shown.Links) != 1 {
		t.Errorf("the unexported field is shown as exported, or %d links are shown, want 1", len(shown.Links))
	}
	for _, f := range shown.Parts {
		if f.Name == "_" {
			t.Error("a blank field is shown")
		}
	}
	if got := shown.Choices["github.com/vastgo/vast/inspect/internal/value.stage"]; !reflect.DeepEqual(got,
		[]Choice{{0, "Healthy"}, {1, "Ill"}, {2, "Immune"}}) {
		t.Errorf("choices are %v", got)
	}
	if text, err := json.Marshal(shown); err != nil || !strings.Contains(string(text), `"value":"NaN"`) {
		t.Errorf("the JSON is %s, the error is %v", text, err)
	}
	if f := Tree(reflect.ValueOf(v), Options{}); part(t, &f.Field, "At.X").Editable {
		t.Error("a field of a tree without Options.Editable can be edited")
	}
	if f := Tree(reflect.ValueOf([300][300]float64{}), Options{}); count(&f.Field) != 2000 ||
		f.More != 300-len(f.Parts) {
		t.Errorf("the tree has %d fields and leaves out %d parts", count(&f.Field), f.More)
	}
}

func count(f *Field) int {
	n := 1
	for i := range f.Parts {
		n += count(&f.Parts[i])
	}
	return n
}

func TestTreeOfHeapValues(t *testing.T) {
	p := &person{Name: "<b>", Bag: []item{{2}}, Extra: 5, Ages: map[string]int{"b": 2, "a": 1}, hidden: "h"}
	p.Born = time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC)
	p.Next = p
	p.Lock.M = map[int]int{1: 1}
	p.private.F = nil
	p.Lock.mu.Lock()
	shown := Tree(reflect.ValueOf(p).Elem(), Options{Editable: true})
	for path, want := range map[string]struct {
		text     string
		value    any
		editable bool
		offset   int
	}{
		"Name":        {"<b>", "<b>", true, 0},
		"Bag[0].Kind": {"Immune", uint64(2), true, -1},
		"Next.Name":   {"<b>", "<b>", false, -1},
		"Next.Next":   {"refers to an enclosing value", nil, false, -1},
		`Ages["a"]`:   {"1", int64(1), false, -1},
		"Born": {"2020-01-02T03:04:05.000000006Z", "2020-01-02T03:04:05.000000006Z", true,
			int(unsafe.Offsetof(p.Born))},
		"Lock":      {"value.locked", nil, false, int(unsafe.Offsetof(p.Lock))},
		"hidden":    {"h", "h", false, int(unsafe.Offsetof(p.hidden))},
		"private.F": {"nil", nil, false, int(unsafe.Offsetof(p.private) + unsafe.Offsetof(p.private.F))},
	} {
		f := part(t, &shown.Field, path)
		if f.Text != want.text || f.Value != want.value || f.Editable != want.editable ||
			f.Offset != want.offset {
			t.Errorf("%s is %+v, want %+v", path, *f, want)
		}
	}
	if f := part(t, &shown.Field, "Extra"); f.Text != "int 5" || len(f.Parts) != 1 ||
		f.Parts[0].Value != int64(5) || f.Parts[0].Editable {
		t.Errorf("the field Extra is %+v", f)
	}
	if f := part(t, &shown.Field, "Lock"); len(f.Parts) != 0 {
		t.Error("the fields that a lock guards were read")
	}
	self := []any{nil}
	self[0] = self
	circle := map[string]any{}
	circle["x"] = circle
	many := map[int]int{}
	for i := range 2000 {
		many[i] = i
	}
	var nilPerson *person
	for _, v := range []any{self, circle, many, nilPerson, func() {}, make(chan int),
		strings.Repeat("é", 5000), 1i, []byte("hello"),
		struct{ v any }{struct{ u vast.Entity }{vast.EntityOf(1 << 32)}}} {
		shown := Tree(reflect.ValueOf(v), Options{Editable: true})
		if n := count(&shown.Field); n > 20 || len(shown.Text) > maxText+10 {
			t.Errorf("%T: the tree has %d fields, the text has %d bytes", v, n, len(shown.Text))
		}
		if _, err := json.Marshal(shown); err != nil {
			t.Errorf("%T: the tree cannot be written as JSON: %v", v, err)
		}
	}
	var texts [40]string
	for i := range texts {
		texts[i] = strings.Repeat("x", 4000)
	}
	if text, err := json.Marshal(Tree(reflect.ValueOf(texts), Options{})); err != nil ||
		len(text) > 2*maxTexts {
		t.Errorf("the JSON of 40 long strings has %d bytes, want at most %d; the error is %v", len(text),
			2*maxTexts, err)
	}
	long := Tree(reflect.ValueOf(strings.Repeat("é", 5000)), Options{Editable: true})
	if long.More != 10_000-maxString || long.Editable {
		t.Errorf("%d bytes are left out, editable is %t", long.More, long.Editable)
	}
}

type (
	panics  int
	endless struct{ N int }
	loud    error
	weird   uint8
	celsius int16
	amount  int
)

func (p panics) String() string  { panic(loud(errors.New("<script>"))) }
func (e endless) String() string { return strings.Repeat("é", 5<<20) }
func (w weird) String() string   { return [...]string{"A", "B", "A|B", "C"}[w] }
func (c celsius) String() string { return fmt.Sprintf("%d °C", int(c)) }
func (a amount) String() string {
	if a >= 1000 {
		return fmt.Sprintf("%d k", a/1000)
	}
	return fmt.Sprintf("%d units", int(a))
}

func TestHostileStrings(t *testing.T) {
	for _, tt := range []struct {
		v    any
		kind Kind
		text string
	}{
		{panics(5), Int, "String panics: <script>"},
		{weird(1), Enum, "B"},
		{weird(9), Enum, "String panics: runtime error: index out of range [9] with length 4"},
		{celsius(20), Int, "20 °C"},
		{amount(20), Int, "20 units"},
		{time.May, Enum, "May"},
		{stage(7), Enum, "stage(7)"},
	} {
		shown := Tree(reflect.ValueOf(tt.v), Options{})
		if shown.Kind != tt.kind || shown.Text != tt.text {
			t.Errorf("the kind is %v and the text %q, want %v and %q", shown.Kind, shown.Text, tt.kind,
				tt.text)
		}
	}
	if got := ChoicesOf(reflect.TypeFor[weird]()); !reflect.DeepEqual(got,
		[]Choice{{0, "A"}, {1, "B"}, {3, "C"}}) {
		t.Errorf("choices are %v", got)
	}
	if got := ChoicesOf(reflect.TypeFor[time.Month]()); len(got) != 12 || got[0] != (Choice{1, "January"}) {
		t.Errorf("choices are %v", got)
	}
	shown := Tree(reflect.ValueOf([100]endless{}), Options{})
	if n := len(shown.Parts[5].Text); n > maxText+10 || !strings.HasSuffix(shown.Parts[5].Text, "…") {
		t.Errorf("the text of an endless string has %d bytes, or no … at the end", n)
	}
}
