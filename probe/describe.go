package probe

import (
	"fmt"
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probing"
)

// ColumnInfo describes a column.
type ColumnInfo struct {
	World   *vast.World
	ID      int // number of the column in its world: 0 for the column that was made first
	Name    string
	Type    reflect.Type // type of an element; nil for a tag
	Storage Storage
	Layout  Layout // layout of an element; zero for a tag
	Linked  string // name of the [vast.Relation] or [vast.Edges] of the column; empty for other columns
	Private bool   // whether the column keeps data of the targets of Linked; it holds no components then

	Disabled bool // whether the column is the tag of a [vast.Disabled]
	// Disables are the IDs of the columns whose components a vast.Disabled switches off. They are nil for a
	// vast.Disabled that switches entities off, and for other columns.
	Disables []int
}

// Storage is the way in which a column keeps its elements.
type Storage uint8

const (
	StorageDense  Storage = probing.StorageDense  // [vast.Column]: an array with the slot as index
	StorageTag    Storage = probing.StorageTag    // [vast.Tag]: no elements
	StorageSparse Storage = probing.StorageSparse // [vast.SparseColumn]: a pool of packed elements
	StorageHeap   Storage = probing.StorageHeap   // [vast.HeapColumn]: elements on the Go heap
	// StorageShared is the storage of columns of package shared: each distinct value once, and a number for
	// each slot.
	StorageShared Storage = probing.StorageShared
)

// String returns the storage in one word, such as dense.
func (s Storage) String() string {
	names := [...]string{"dense", "tag", "sparse", "heap", "shared"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("Storage(%d)", s)
}

// Layout describes the bytes of a value: an element, a field of a struct, or an element of an array.
type Layout struct {
	Name     string // name of a field; empty for other values
	Type     reflect.Type
	Offset   int // bytes from the start of the enclosing struct or array
	Size     int // bytes
	Align    int // bytes
	Exported bool
	Count    int      // number of elements of an array; 0 for other values
	Parts    []Layout // the fields of a struct, or the first element of an array; pointers are not followed
}

// Describe returns the description of a column of any world.
func Describe(col vast.AnyColumn) ColumnInfo {
	w, c := engine.Describe(col)
	info := ColumnInfo{World: w, ID: c.ID, Name: c.Name, Type: c.Type, Storage: Storage(c.Storage),
		Linked: c.Linked, Private: c.Private, Disabled: c.Disabled, Disables: c.Disables}
	if c.Type != nil {
		info.Layout = layoutOf(c.Type)
		info.Layout.Exported = true
	}
	return info
}

// layoutOf returns the layout of a type. The recursion ends, because a type can contain itself only through
// references, such as pointers and slices, which layoutOf does not follow.
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

// All returns the query without the effects of [vast.Disabled]: the new query also matches entities that a
// tag switches off, and components that a tag switches off count as present. Conditions that are added to the
// new query follow the same rule. A query that names the tag still treats it as any other tag. All panics if
// the query is the zero Query or its world is closed. Complexity: as for [vast.Query.Without].
func All(q vast.Query) vast.Query { return engine.All(q) }

// Columns returns the world's columns in the order in which they were made. Pass them to [Describe], [Value]
// and queries.
func Columns(w *vast.World) []vast.AnyColumn { return engine.Columns(w) }

// ComponentsOf returns the columns in which e has a component, in the order in which the columns were made.
// It returns no columns if e is stale. Links to e, of a [vast.Relation] or of [vast.Edges], are not
// components of e. Complexity: one step for each column.
func ComponentsOf(w *vast.World, e vast.Entity) []vast.AnyColumn { return engine.ComponentsOf(w, e) }

// StatsOf returns the statistics of one column, as [vast.World.Stats] does for all columns. A tool that must
// not delay a program can call StatsOf for one column at a time. Complexity: as [vast.Column.Len].
func StatsOf(col vast.AnyColumn) vast.ColumnStats { return engine.StatsOf(col) }
