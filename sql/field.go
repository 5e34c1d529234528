package vastsql

import (
	"reflect"
	"strconv"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast/internal/snake"
	"github.com/vastgo/vast/probe"
)

// maxSplit is the largest number of elements of an array that has a column for each element.
const maxSplit = 16

// field is a column of a table.
type field struct {
	name     string
	kind     kind
	typ      reflect.Type // for kindJSON
	part     int          // index into table.parts; -1 if no part has the value
	offset   uintptr      // of the value in an element of the part
	computed *computed    // nil unless the values are computed for each statement; part is then -1
}

// computed has the functions that compute the values of a field. A table with such fields has no parts.
type computed struct {
	read func(*copier, *image) error                       // reads what show needs; runs in World.Visit
	show func(m *image, ctx sqlite3.Context, row, run int) // passes a value to SQLite
}

// fieldsOf returns the columns of a table that shows elements with layout l. The elements are in part 0 of
// the table.
func fieldsOf(l probe.Layout) (fields []field) {
	var add func(l probe.Layout, prefix string, offset int)
	add = func(l probe.Layout, prefix string, offset int) {
		k := kindOf(l.Type)
		switch {
		case k == kindJSON && l.Type.Kind() == reflect.Struct && len(l.Parts) > 0:
			for _, p := range l.Parts {
				if p.Name != "_" {
					add(p, join(prefix, snake.Case(p.Name)), offset+p.Offset)
				}
			}
		case k == kindJSON && l.Count > 0 && l.Count <= maxSplit:
			for i := range l.Count {
				add(l.Parts[0], join(prefix, strconv.Itoa(i)), offset+i*l.Parts[0].Size)
			}
		default:
			fields = append(fields, field{name: prefix, kind: k, typ: l.Type, offset: uintptr(offset)})
		}
	}
	add(l, "", 0)
	for i := range fields {
		if fields[i].name == "" {
			fields[i].name = "value"
		}
	}
	return fields
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}
