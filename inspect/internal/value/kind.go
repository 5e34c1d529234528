package value

import (
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vastgo/vast"
)

// Kind determines how a field is shown and edited.
type Kind string

const (
	Float    Kind = "float"
	Int      Kind = "int"
	Uint     Kind = "uint"
	Bool     Kind = "bool"
	String   Kind = "string"
	Entity   Kind = "entity"
	Enum     Kind = "enum" // an integer with names for small values: see ChoicesOf
	Duration Kind = "duration"
	Time     Kind = "time"
	Vector   Kind = "vector" // an array or a struct of two to four numbers of one type: see isVector
	Struct   Kind = "struct"
	Array    Kind = "array" // an array or a slice
	Other    Kind = "other" // a value of any other type; read-only
)

var (
	entityType   = reflect.TypeFor[vast.Entity]()
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[time.Time]()
)

// KindOf returns the kind of the values of a type. Complexity: constant after the first call for a type.
func KindOf(t reflect.Type) Kind {
	switch t {
	case entityType:
		return Entity
	case durationType:
		return Duration
	case timeType:
		return Time
	}
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		return Float
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if len(ChoicesOf(t)) > 0 {
			return Enum
		}
		return Int
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if len(ChoicesOf(t)) > 0 {
			return Enum
		}
		return Uint
	case reflect.Bool:
		return Bool
	case reflect.String:
		return String
	case reflect.Array:
		if t.Len() >= 2 && t.Len() <= 4 && isNumber(t.Elem()) {
			return Vector
		}
		return Array
	case reflect.Slice:
		return Array
	case reflect.Struct:
		return shapeOf(t).kind
	}
	return Other
}

// isLeaf reports whether fields of the kind are edited as a whole.
func (k Kind) isLeaf() bool {
	switch k {
	case Vector, Struct, Array, Other:
		return false
	}
	return true
}

func isNumber(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32,
		reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return t != durationType && len(ChoicesOf(t)) == 0
	}
	return false
}

// isVector reports whether a struct holds two to four numbers of one type, with short names such as X and Y.
// The page shows such a struct in one row.
func isVector(t reflect.Type) bool {
	n := t.NumField()
	if n < 2 || n > 4 || !isNumber(t.Field(0).Type) {
		return false
	}
	for i := range n {
		f := t.Field(i)
		if f.Type != t.Field(0).Type || len(f.Name) > 3 || f.Name == "_" {
			return false
		}
	}
	return true
}

// typeName returns a type's name. It cuts long names, such as the names of type literals.
func typeName(t reflect.Type) string {
	const most = 100
	return cut(t.String(), most)
}

// cut returns a text as valid UTF-8. If the text has more than limit bytes, … replaces the end of the text.
func cut(s string, limit int) string {
	if len(s) > limit {
		end := limit
		for end > limit-utf8.UTFMax && end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + "…"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
