package vastsql

import (
	"reflect"
	"sync"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// list holds the rows of a table of Options.Lists.
type list struct {
	image *image
	rowOf func() map[vast.Entity]int // returns the row of each entity; the first look-up makes the map
}

// newList makes the table of a slice.
func newList(name string, values any) *table {
	v := reflect.ValueOf(values)
	t := &table{name: name, fields: fieldsOf(layoutOf(v.Type().Elem()))}
	t.fields[0].name = "entity"
	t.fields[0].kind = kindInt64 // a zero entity is 0, not NULL, because count(entity) counts all rows
	t.makeNamesUnique()
	t.parts = []part{{size: int(v.Type().Elem().Size())}}
	m := &image{table: t, rows: v.Len(), runs: []run{{rows: v.Len()}},
		bases: []base{{v.UnsafePointer(), v.Type().Elem().Size(), values}}}
	t.list = &list{image: m, rowOf: sync.OnceValue(func() map[vast.Entity]int {
		rowOf := make(map[vast.Entity]int, m.rows)
		for i := range m.rows {
			rowOf[*(*vast.Entity)(m.at(&t.fields[0], i))] = i
		}
		return rowOf
	})}
	t.rows.Store(int64(v.Len()))
	return t
}

func layoutOf(t reflect.Type) probe.Layout {
	l := probe.Layout{Type: t, Size: int(t.Size()), Align: t.Align()}
	switch {
	case t == entityType:
	case t.Kind() == reflect.Struct:
		for f := range t.Fields() {
			p := layoutOf(f.Type)
			p.Name, p.Offset = f.Name, int(f.Offset)
			l.Parts = append(l.Parts, p)
		}
	case t.Kind() == reflect.Array && t.Len() > 0:
		l.Count, l.Parts = t.Len(), []probe.Layout{layoutOf(t.Elem())}
	}
	return l
}

// copy returns a copy of the image for one statement. The statement may add indexes to its copy.
func (l *list) copy() *image {
	m := *l.image
	return &m
}

func (l *list) find(id int64) (row int, ok bool) {
	row, ok = l.rowOf()[vast.EntityOf(uint64(id))]
	return row, ok
}
