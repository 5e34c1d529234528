package value

import (
	"reflect"
	"strings"
	"testing"
)

// many is an array length for which a loop over all elements takes too long. Only elements of size zero allow
// this length.
const many = 1 << (30 + 3*(^uint(0)>>63))

type (
	// The types one, five and thirty nest a T in 1, 5 and 30 structs.
	one[T any]    struct{ In T }
	five[T any]   struct{ In one[one[one[one[T]]]] }
	thirty[T any] struct {
		In five[five[five[five[five[one[one[one[one[T]]]]]]]]]
	}
)

func TestOddShapes(t *testing.T) {
	for _, tt := range []struct {
		v     any
		text  string // text of the tree; "…" at the end stands for any further text
		parts int
		more  int
	}{
		{struct{}{}, "{}", 0, 0},
		{[0]int{}, "[]", 0, 0},
		{[many]struct{}{}, "[{} {} {} …", 0, many},
		{[1 << 20][1 << 20]struct{}{}, "[[{} {} {} …", 0, 1 << 20},
		{[many][0]int{}, "[[] [] [] …", 0, many},
		{struct {
			A [many]struct{}
			B [1 << 20][1 << 20]struct{}
			C bool
		}{C: true}, "{A:[{} {} {} …", 3, 0},
		{thirty[[1 << 20]byte]{}, "{In:{In:{In:{In:…", 1, 0},
	} {
		v := reflect.ValueOf(tt.v)
		if !IsPlain(v.Type()) {
			t.Errorf("%v is not plain", v.Type())
		}
		shown := Tree(v, Options{Editable: true})
		begin, cutShort := strings.CutSuffix(tt.text, "…")
		if !strings.HasPrefix(shown.Text, begin) || !cutShort && shown.Text != tt.text ||
			len(shown.Text) > 130 {
			t.Errorf("the text is %q, want %q", shown.Text, tt.text)
		}
		if len(shown.Parts) != tt.parts || shown.More != tt.more || shown.Fields > 2000 {
			t.Errorf("%.60s: the tree has %d parts, want %d; it leaves out %d parts, want %d; it has %d "+
				"fields, want at most 2,000", tt.text, len(shown.Parts), tt.parts, shown.More, tt.more,
				shown.Fields)
		}
	}
}

func TestPlainTypes(t *testing.T) {
	for _, tt := range []struct {
		t    reflect.Type
		want bool
	}{
		{reflect.TypeFor[[0]string](), true},
		{reflect.TypeFor[[2]string](), false},
		{reflect.TypeFor[struct{ A [3]struct{ B *int } }](), false},
		{reflect.TypeFor[struct{ A [0]func() }](), true},
		{reflect.TypeFor[thirty[string]](), false},
		{reflect.TypeFor[thirty[int]](), true},
		{reflect.TypeFor[struct{ A any }](), false},
		{reflect.TypeFor[uintptr](), true},
	} {
		if got := IsPlain(tt.t); got != tt.want {
			t.Errorf("IsPlain(%v) is %t, want %t", tt.t, got, tt.want)
		}
	}
}

func TestLargeIsNotCopied(t *testing.T) {
	type large struct {
		N     int
		Bytes [maxCopied]byte
		n     int
	}
	type holder struct {
		First, Second any
		Few, Many     map[int]large
	}
	h := holder{First: large{N: 5, n: 6}, Second: point{1, 2}, Few: map[int]large{1: {}},
		Many: map[int]large{}}
	for i := range 20 {
		h.Many[i] = large{}
	}
	shown := Tree(reflect.ValueOf(&h).Elem(), Options{})
	first, second, few, all := shown.Parts[0], shown.Parts[1], shown.Parts[2], shown.Parts[3]
	if len(first.Parts) != 3 || first.Parts[0].Text != "5" || first.Parts[2].Text != "6" ||
		first.Parts[1].More != maxCopied-maxParts {
		t.Errorf("a large value in an interface is shown as %+v", first)
	}
	if len(second.Parts) != 2 || second.Parts[1].Text != "2" {
		t.Errorf("a small value in an interface is shown as %+v", second)
	}
	if len(few.Parts) != 0 || few.More != 1 || len(all.Parts) != 0 || all.More != 20 {
		t.Errorf("maps of large values are shown as %+v and %+v", few, all)
	}
}
