package vast

import "reflect"

// ColumnInfo describes a column to tools that know nothing of its type.
type ColumnInfo struct {
	World *World
	ID    int // columns are numbered in the order of their making, from 0 on
	Name  string
	Type  reflect.Type // of an element; nil for a tag
}

// Describe returns what there is to know of a column.
func Describe(col AnyColumn) ColumnInfo {
	c := col.column()
	return ColumnInfo{World: c.world, ID: int(c.id), Name: c.name, Type: c.typ}
}
