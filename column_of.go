package vast

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/vastgo/vast/internal/probing"
)

// ColumnOf returns the world's [Column] of a component type, for code that has the world but not the column.
// Keep the Column that [NewColumn] returned where possible: ColumnOf takes one step for each column of the
// world.
//
// ColumnOf returns an error if the world has no Column of type T, if several columns have this type, or if
// the only column of this type is a [SparseColumn], a [HeapColumn] or a shared.Column. The error names the
// columns and says what to do. For a column of another kind, keep the value that [NewSparseColumn],
// [NewHeapColumn] or shared.New returned, or find the column with package probe. Columns of relations, edges
// and the world's [Names] do not count. ColumnOf panics if the world is closed, or if two of its columns have
// the same declared type and the same name.
func ColumnOf[T any](w *World) (Column[T], error) {
	w.mustTakeColumns("ColumnOf")
	typ := reflect.TypeFor[T]()
	var found []*column
	for _, c := range w.columns {
		if c.typ == typ && c.linked == "" && !w.namedBy(c) {
			found = append(found, c)
		}
	}
	refused := func(why string) (Column[T], error) {
		return Column[T]{}, fmt.Errorf("vast: ColumnOf[%s]: world %q has %s", typ, w.options.Name, why)
	}
	switch {
	case len(found) == 0:
		return refused("no column of this type: register it with NewColumn")
	case len(found) > 1:
		var list []string
		for _, c := range found {
			list = append(list, c.kind()+" "+strconv.Quote(c.name))
		}
		return refused("several columns of this type, " + strings.Join(list, ", ") +
			": keep the Column that NewColumn returned")
	case found[0].elsewhere() && found[0].store.storage() == probing.StorageShared:
		return refused(fmt.Sprintf("a shared.Column of this type, %q, and no Column: keep the column that "+
			"shared.New returned", found[0].name))
	case found[0].elsewhere():
		kind := found[0].kind()
		return refused(fmt.Sprintf("a %s of this type, %q, and no Column: keep the "+
			"%[1]s that New%[1]s returned", kind, found[0].name))
	}
	return Column[T]{base: found[0].base, c: found[0]}, nil
}

// kind returns the name of the column's type in the API.
func (c *column) kind() string {
	switch {
	case c.typ == nil:
		return "Tag"
	case c.elsewhere() && c.store.storage() == probing.StorageHeap:
		return "HeapColumn"
	case c.elsewhere() && c.store.storage() == probing.StorageShared:
		return "shared.Column"
	case c.elsewhere():
		return "SparseColumn"
	}
	return "Column"
}

// mustTakeColumns panics if the world is closed, or if a column has a twin: see twin.
func (w *World) mustTakeColumns(what string) {
	w.mustBeOpen(what)
	w.mustBeDistinct()
}

// mustBeDistinct panics if a column has a twin: see twin. It runs when the next column is
// registered and when columns are used, because Column.Named gives a column its name after NewColumn has
// returned.
func (w *World) mustBeDistinct() {
	for n := int(w.distinct.Load()); n < len(w.columns); n++ {
		if c := w.columns[n]; w.twin(c, c.name) != nil {
			panic(fmt.Sprintf("vast: world %q has two columns %q of type %s: give one of them another name "+
				"with Named, or register the component once and keep the column",
				w.options.Name, c.name, c.typ))
		}
		w.distinct.Store(int32(n + 1))
	}
}

// twin returns another column of the same type that has the given name, or nil. Columns of predeclared and
// unnamed types, such as uint64 and [8]byte, have no twin, because such a type does not name a component.
// Relations and edges have no twin, because no code finds them by type. The world's Names have no twin,
// because no program registers them.
func (w *World) twin(c *column, name string) *column {
	if c.typ != nil && c.typ.PkgPath() == "" {
		return nil
	}
	for _, other := range w.columns {
		if other != c && other.name == name && other.typ == c.typ && other.linked == "" && c.linked == "" &&
			!w.namedBy(other) && !w.namedBy(c) {
			return other
		}
	}
	return nil
}

// mustBeNewTag panics if the world has a tag of the given name.
func (w *World) mustBeNewTag(what, name string) {
	for _, c := range w.columns {
		if c.name == name && c.typ == nil {
			panic(fmt.Sprintf("vast: %s: world %q has a tag %q already: keep the tag that the first call "+
				"returned, or choose another name", what, w.options.Name, name))
		}
	}
}

// besides returns the end of a message that says that something belongs to w and not to the other world.
func (w *World) besides(other *World) string {
	if name := w.options.Name; name != other.options.Name {
		return fmt.Sprintf("world %q, not to %q", name, other.options.Name)
	}
	return fmt.Sprintf("another world, which has the same name %q", w.options.Name)
}
