package vastsql

import (
	"reflect"
	"strconv"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast/internal/snake"
	"github.com/vastgo/vast/probe"
)

// maxSplit is the number of elements up to which an array has a column for each element.
const maxSplit = 16

// field is a column of a table.
type field struct {
	name   string
	kind   kind
	typ    reflect.Type // for kindJSON
	part   int          // index into table.parts; -1 for the entity's ID, slot and generation
	offset uintptr      // in an element of the part
	made   *made        // set if the value is made for a statement; then part is -1
}

// made says how the values of a field are made. A table with such fields has no parts.
type made struct {
	read func(*copier, *image) error                       // reads what show needs; runs in World.Visit
	show func(m *image, ctx sqlite3.Context, row, run int) // passes a value to SQLite
}

// fieldsOf returns the columns of a table that shows elements with layout l.
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
