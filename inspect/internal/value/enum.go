package value

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Choice is a named value of an enum.
type Choice struct {
	Value int64  `json:"value"`
	Name  string `json:"name"`
}

const (
	maxTried = 256 // ChoicesOf looks for names of the values below this number, or below 125 in 8-bit types
	maxGap   = 16  // number of consecutive unnamed values after which ChoicesOf stops
	maxName  = 64  // largest size of a name in bytes
)

// choices caches the results of ChoicesOf by type. The number of types in the program bounds the cache.
var choices sync.Map

var stringerType = reflect.TypeFor[fmt.Stringer]()

// ChoicesOf returns the named values of an integer type with a String method. It returns nil for other types,
// for time.Duration, and for types with fewer than two named values. ChoicesOf calls String for small values
// from 0 on. It leaves out values without a name, for which String panics or returns a text such as
// Weekday(8), and values whose text is empty, is longer than maxName, contains "|", or belongs to a smaller
// value.
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
		text, ok := stringOf(v, maxName)
		return text, ok && text != "" && !strings.HasSuffix(text, "…")
	}
	// A large value has no name: texts that differ from its text only in the number are not names.
	large := int64(1)<<min(t.Bits()-1, 31) - 3
	odd, _ := name(large)
	nameless := pattern(odd, large)

	var found []Choice
	alike, seen := map[string]int{}, map[string]bool{}
	for n, missed := int64(0), 0; n < min(maxTried, large) && missed < maxGap; n++ {
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
	// If the texts of three or more values differ only in the number, these texts are not names.
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

// pattern returns text with each occurrence of the number n replaced by a NUL.
func pattern(text string, n int64) string {
	return strings.ReplaceAll(text, strconv.FormatInt(n, 10), "\x00")
}

// stringOf returns the result of a value's String method. ok is false if the method cannot be called or
// panics. If the method panics, text reports the panic.
func stringOf(v reflect.Value, limit int) (text string, ok bool) {
	// The check avoids a call of Interface, which copies the value. The value may be large.
	if !v.CanInterface() || !v.Type().Implements(stringerType) {
		return "", false
	}
	s := v.Interface().(fmt.Stringer)
	defer func() {
		if inner := recover(); inner != nil {
			text, ok = cut(fmt.Sprintf("String panics: %s", panicText(inner)), limit), false
		}
	}()
	return cut(s.String(), limit), true
}

// panicText returns the text of a panic with an error or a string, and the type of any other panic value. It
// recovers if the method Error panics.
func panicText(inner any) (text string) {
	defer func() {
		if recover() != nil {
			text = "the panic's Error method panics too"
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
