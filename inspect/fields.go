package inspect

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"
)

// field is a part of a component that is not divided further.
type field struct {
	Path string `json:"path"` // such as At.X or Items[2]; empty if the component is a single value
	Type string `json:"type"`
	Kind string `json:"kind"` // float, int, uint, bool, string, entity, enum or other

	offset int // bytes from the start of the component
	typ    reflect.Type
}

// fieldsKnown caches the results of fieldsIn, by type. The number of types in the program bounds the cache.
var fieldsKnown sync.Map

// fieldsIn returns the first fields of a type, at most maxFields, in the order of offsets. The caller must
// not change the result. Complexity: the first call for a type is linear in the number of returned fields and
// of the fields of the structs that contain them; further calls take constant time.
func fieldsIn(t reflect.Type) []field {
	if known, ok := fieldsKnown.Load(t); ok {
		return known.([]field)
	}
	l := fieldList{fields: []field{}, bare: make(map[reflect.Type]bool)}
	l.add(t, "", 0)
	fieldsKnown.Store(t, l.fields)
	return l.fields
}

type fieldList struct {
	fields []field
	bare   map[reflect.Type]bool // caches isBare
}

func (l *fieldList) full() bool { return len(l.fields) == maxFields }

// add adds the fields of a part. At each depth of nesting, there are at most maxFields calls, because each
// nested call adds at least one field.
func (l *fieldList) add(t reflect.Type, path string, offset int) {
	kind := kindOf(t)
	switch {
	case l.full() || l.isBare(t):
	case kind == "" && t.Kind() == reflect.Struct:
		for i := 0; i < t.NumField() && !l.full(); i++ {
			part := t.Field(i)
			if l.isBare(part.Type) {
				continue
			}
			below := part.Name
			if path != "" {
				below = path + "." + part.Name
			}
			l.add(part.Type, below, offset+int(part.Offset))
		}
	case kind == "" && t.Kind() == reflect.Array:
		for i := 0; i < t.Len() && !l.full(); i++ {
			l.add(t.Elem(), path+"["+strconv.Itoa(i)+"]", offset+i*int(t.Elem().Size()))
		}
	default:
		if kind == "" {
			kind = "other"
		}
		l.fields = append(l.fields, field{path, t.String(), kind, offset, t})
	}
}

// isBare reports whether a type has no fields, such as an array of empty structs.
func (l *fieldList) isBare(t reflect.Type) bool {
	if t.Kind() != reflect.Struct && t.Kind() != reflect.Array || kindOf(t) != "" {
		return false
	}
	bare, known := l.bare[t]
	if known {
		return bare
	}
	bare = true
	if t.Kind() == reflect.Array {
		bare = t.Len() == 0 || l.isBare(t.Elem())
	} else {
		for i := 0; i < t.NumField() && bare; i++ {
			bare = l.isBare(t.Field(i).Type)
		}
	}
	l.bare[t] = bare
	return bare
}

var stringerType = reflect.TypeFor[fmt.Stringer]()

// kindOf returns the kind of a field of type t. It returns "" for arrays, for structs except vast.Entity, and
// for types of the kind other, such as pointers.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if t.Implements(stringerType) {
			return "enum"
		}
		return "int"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if t.Implements(stringerType) {
			return "enum"
		}
		return "uint"
	case reflect.Float32, reflect.Float64:
		return "float"
	case reflect.String:
		return "string"
	}
	if t == entityType {
		return "entity"
	}
	return ""
}
