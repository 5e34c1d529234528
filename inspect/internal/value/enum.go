package value

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Choice is a value of an enum that has a name.
type Choice struct {
	Value int64  `json:"value"`
	Name  string `json:"name"`
}

const (
	tried    = 256 // small values that ChoicesOf tries
	gap      = 16  // of them without a name in a row, after which there are no more
	nameMost = 64  // bytes of a name
)

// choices are the answers of ChoicesOf, by type: of programs' types there are only so many.
var choices sync.Map

var stringerType = reflect.TypeFor[fmt.Stringer]()

// ChoicesOf returns the values of an integer type for which its String method has a name, found by trying small ones;
// none for other types. What String returns for values that have no name, such as Weekday(8), is known by asking for a
// value that is none, and by what only differs by the number.
func ChoicesOf(t reflect.Type) []Choice {
	if t.PkgPath() == "" || t == durationType || !t.Implements(stringerType) {
		return nil
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
	default:
		return nil
	}
	if found, ok := choices.Load(t); ok {
		return found.([]Choice)
	}
	found := findChoices(t)
	choices.Store(t, found)
	return found
}

func findChoices(t reflect.Type) []Choice {
	name := func(n int64) (string, bool) {
		v := reflect.New(t).Elem()
		if v.CanInt() {
			v.SetInt(n)
		} else {
			v.SetUint(uint64(n))
		}
		text, ok := stringOf(v, nameMost)
		return text, ok && text != "" && !strings.HasSuffix(text, "…")
	}
	most := int64(1)<<min(t.Bits()-1, 31) - 1 // the largest value of all integers that are as large
	odd, _ := name(most - 2)
	nameless := pattern(odd, most-2)

	var found []Choice
	alike, seen := map[string]int{}, map[string]bool{}
	for n, missed := int64(0), 0; n < min(tried, most-2) && missed < gap; n++ {
		text, ok := name(n)
		p := pattern(text, n)
		if !ok || text == odd || p == nameless || seen[text] || strings.Contains(text, "|") {
			missed++
			continue
		}
		missed, seen[text] = 0, true
		alike[p]++
		found = append(found, Choice{n, text})
	}
	named := found[:0]
	for _, c := range found {
		if p := pattern(c.Name, c.Value); alike[p] < 3 || !strings.Contains(p, "\x00") {
			named = append(named, c)
		}
	}
	if len(named) < 2 {
		return nil
	}
	return named
}

// pattern returns a text with a sign in place of a number.
func pattern(text string, n int64) string {
	return strings.ReplaceAll(text, strconv.FormatInt(n, 10), "\x00")
}

// stringOf returns what a value's String method returns, or that it panics, and whether there is such a method and it does
// not.
func stringOf(v reflect.Value, most int) (text string, ok bool) {
	// Interface copies the value, which may be large, and so is called where there is a method only.
	if !v.CanInterface() || !v.Type().Implements(stringerType) {
		return "", false
	}
	s := v.Interface().(fmt.Stringer)
	defer func() {
		if inner := recover(); inner != nil {
			text, ok = cut(fmt.Sprintf("String panics: %s", panicText(inner)), most), false
		}
	}()
	return cut(s.String(), most), true
}

// panicText returns what a panic says, in a few words. It runs no method but Error, and survives that one's panics.
func panicText(inner any) (text string) {
	defer func() {
		if recover() != nil {
			text = "and so does its panic"
		}
	}()
	switch p := inner.(type) {
	case error:
		return p.Error()
	case string:
		return p
	}
	return fmt.Sprintf("%T", inner)
}
