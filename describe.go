package vast

import (
	"fmt"
	"reflect"
)

// ColumnInfo describes a column to tools that know nothing of its type.
type ColumnInfo struct {
	World   *World
	ID      int // columns are numbered in the order of their making, from 0 on
	Name    string
	Type    reflect.Type // of an element; nil for a tag
	Storage Storage
	Layout  Layout // of an element; zero for a tag
	Linked  string // the name of the [Relation] or the [Edges] that keep the column; empty for others
	Private bool   // whether it is this package's own and holds no component: who is a target, in what is linked
}

// Storage is how a column keeps its elements.
type Storage uint8

const (
	StorageDense  Storage = iota // at base + slot × size: [Column]
	StorageTag                   // not at all: [Tag]
	StorageSparse                // packed in a pool: [SparseColumn]
	StorageHeap                  // on the Go heap: [HeapColumn]
)

// String returns the storage in a word, such as dense.
func (s Storage) String() string {
	names := [...]string{"dense", "tag", "sparse", "heap"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("Storage(%d)", s)
}

// Layout describes the bytes of a value: an element, a field of a struct, or an element of an array.
type Layout struct {
	Name     string // of a field; empty for others
	Type     reflect.Type
	Offset   int // bytes from the start of the struct or array that it is a part of
	Size     int // bytes
	Align    int // bytes
	Exported bool
	Count    int      // elements of an array; 0 for others
	Parts    []Layout // the fields of a struct, or an array's first element; what pointers lead to is no part
}

// Describe returns what there is to know of a column.
func Describe(col AnyColumn) ColumnInfo {
	c := columnOf("Describe", col)
	info := ColumnInfo{World: c.world, ID: int(c.id), Name: c.name, Type: c.typ, Linked: c.linked, Private: c.internal}
	switch s, ok := c.store.(valueStore); {
	case ok:
		info.Storage = s.storage()
	case c.typ == nil:
		info.Storage = StorageTag
	}
	if c.typ != nil {
		info.Layout = layoutOf(c.typ)
		info.Layout.Exported = true
	}
	return info
}

// columnOf returns the column that a caller names, of whatever world.
func columnOf(what string, col AnyColumn) *column {
	if col != nil {
		if c := col.column(); c != nil {
			return c
		}
	}
	panic(fmt.Sprintf("vast: %s: the column was not made with NewColumn", what))
}

// layoutOf ends because only pointers, slices and maps can lead back to a type.
func layoutOf(t reflect.Type) Layout {
	l := Layout{Type: t, Size: int(t.Size()), Align: t.Align()}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			part := layoutOf(f.Type)
			part.Name, part.Offset, part.Exported = f.Name, int(f.Offset), f.IsExported()
			l.Parts = append(l.Parts, part)
		}
	case reflect.Array:
		l.Count = t.Len()
		if l.Count > 0 {
			part := layoutOf(t.Elem())
			part.Exported = true
			l.Parts = []Layout{part}
		}
	}
	return l
}

// columnOfAnyType is a column whose type is not known where it is used.
type columnOfAnyType struct{ c *column }

func (c columnOfAnyType) Name() string    { return c.c.name }
func (c columnOfAnyType) column() *column { return c.c }

// Columns returns the world's columns in the order of their making, for [Describe], [Value] and queries.
func (w *World) Columns() []AnyColumn {
	cols := make([]AnyColumn, len(w.columns))
	for i, c := range w.columns {
		cols[i] = columnOfAnyType{c}
	}
	return cols
}

// ComponentsOf returns the columns in which e has a component, in the order of their making; none where e is stale. That it
// is somebody's target in a [Relation] or by [Edges] is no component.
// Complexity: the number of columns.
func (w *World) ComponentsOf(e Entity) []AnyColumn {
	var cols []AnyColumn
	for _, c := range w.columns {
		if c.has(e) && !c.internal {
			cols = append(cols, columnOfAnyType{c})
		}
	}
	return cols
}
