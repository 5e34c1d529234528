package probe

import (
	"reflect"

	"github.com/vastgo/vast"
)

// Value returns a copy of e's component, and whether e is alive and has the component. The value of a tag is
// an empty struct. Value allocates; [vast.Column.Get] does not.
func Value(col vast.AnyColumn, e vast.Entity) (reflect.Value, bool) { return engine.Value(col, e) }

// SetValue overwrites e's component with v and reports whether e has the component. Like [vast.Column.Set],
// it leaves a mark for the trackers of the column. To change a part of a component, get a copy with [Value],
// change the copy, and pass it to SetValue. The value of a tag is an empty struct, and SetValue writes
// nothing for a tag.
//
// SetValue panics if the type of v is not exactly the type that the column holds ([ColumnInfo].Type), or if v
// was obtained through an unexported field. It also panics for columns whose values must agree with other
// data of the world: a [vast.Relation] (use [RelationOf]), [vast.Edges] (use [EdgesOf] to read them) and the
// world's [vast.Names] (use [NamesOf]).
func SetValue(col vast.AnyColumn, e vast.Entity, v reflect.Value) (ok bool) {
	return engine.SetValue(col, e, v)
}

// AddValue gives e the component v, or overwrites the component that e has. It reports whether e is alive.
// Hooks and trackers see the same changes as for [vast.Column.Add]. AddValue panics for the same values and
// columns as [SetValue].
func AddValue(col vast.AnyColumn, e vast.Entity, v reflect.Value) bool {
	return engine.AddValue(col, e, v)
}

// RemoveValue removes the component from e and reports whether e had the component, as [vast.Column.Remove]
// does. For a [vast.Relation], RemoveValue removes the link from e to its target, for [vast.Edges] all edges
// out of e, for [vast.Names] the name. RemoveValue panics if col is the TargetColumn of a relation or of
// edges: remove the links from their sources instead.
func RemoveValue(col vast.AnyColumn, e vast.Entity) bool { return engine.RemoveValue(col, e) }

// Bytes returns the components of a run as they lie in memory, one after the other. It returns nil if the
// column's storage is not [StorageDense]. The run must come from a query with this column. Do not write to
// the bytes. They stay valid as long as the slice that [vast.Column.Slice] returns. Complexity: constant;
// nothing is allocated.
func Bytes(col vast.AnyColumn, r vast.Run) []byte { return engine.Bytes(col, r) }
