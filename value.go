package vast

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// Value returns a copy of e's component and whether e is alive and has it. A tag's is an empty struct. It is for tools:
// it allocates, and [Column.Get] does not.
func Value(col AnyColumn, e Entity) (reflect.Value, bool) {
	c := columnOf("Value", col)
	if !c.has(e) {
		return reflect.Value{}, false
	}
	if s, ok := c.store.(valueStore); ok {
		return s.value(e.slot), true
	}
	if c.typ == nil || c.base == nil || int(c.typ.Size()) != c.bytes {
		return reflect.ValueOf(struct{}{}), true
	}
	v := reflect.New(c.typ).Elem()
	v.Set(c.valueAt(e.slot))
	return v, true
}

// SetValue overwrites e's component with v, and reports whether e has one, as [Column.Set] does: it leaves a mark for the
// trackers of the column. It is the counterpart of [Value], for tools that know nothing of the column's type: take the
// value, change a part of it, give it back. A tag's is an empty struct, and nothing is written.
//
// It panics when v is not of the very type that the column holds ([ColumnInfo].Type), and when it was got through an
// unexported field. It panics too for what holds no value of its own: a [Relation] ([RelationOf] finds it), [Edges]
// ([EdgesOf]) and the world's [Names] ([NamesOf]), which have doors that keep both ends of a link, or a name and its
// owner, in agreement.
func SetValue(col AnyColumn, e Entity, v reflect.Value) (ok bool) {
	c := columnOf("SetValue", col)
	c.mustTake("SetValue", v)
	if invariants.Enabled {
		c.touch(true)
	}
	if !c.has(e) {
		return false
	}
	if c.tracked && c.typ != nil {
		c.wrote(e.slot)
	}
	c.setValue(e.slot, v)
	return true
}

// AddValue gives e the component v, or overwrites the one that it has, and reports whether e is alive, as [Column.Add]
// does. What [SetValue] says of v and of columns that take none holds.
func AddValue(col AnyColumn, e Entity, v reflect.Value) bool {
	c := columnOf("AddValue", col)
	c.mustTake("AddValue", v)
	had := c.has(e)
	if !c.add(e) {
		return false
	}
	c.setValue(e.slot, v)
	if !had {
		c.tell(c.onAdd, "OnAdd", e.slot/64, 1<<(e.slot%64))
	}
	return true
}

// RemoveValue takes the component from e and reports whether e had one, as [Column.Remove] does: in a [Relation] the
// link, in [Edges] all that lead out of e, in [Names] the name. It panics for a column of targets, who are it by others'
// links.
func RemoveValue(col AnyColumn, e Entity) bool {
	c := columnOf("RemoveValue", col)
	if c.internal {
		panic(fmt.Sprintf("vast: RemoveValue: %s is no component: take the links away from their sources", c.name))
	}
	return c.remove(e)
}

// setValue writes the element of a slot that has the component; v must be of its type.
func (c *column) setValue(slot uint32, v reflect.Value) {
	if s, ok := c.store.(valueStore); ok {
		s.set(slot, v)
	} else if c.typ != nil {
		c.valueAt(slot).Set(v)
	}
}

// valueAt returns the element of a slot that has the component, in a column that keeps its elements itself. It is sound
// because the element is committed and of the column's type, without Go pointers.
func (c *column) valueAt(slot uint32) reflect.Value {
	return reflect.NewAt(c.typ, unsafe.Add(c.base, uintptr(slot)*uintptr(c.bytes))).Elem()
}

// mustTake panics unless v may become an element.
func (c *column) mustTake(what string, v reflect.Value) {
	if c.linked != "" {
		panic(fmt.Sprintf("vast: %s: %s belongs to the links of %s, which have two ends: use Relation.Set or Edges.Add",
			what, c.name, c.linked))
	}
	if c.world.namedBy(c) {
		panic(fmt.Sprintf("vast: %s: %s is the column of the world's Names, which finds entities by them: use Names.Set",
			what, c.name))
	}
	want := c.typ
	if want == nil {
		want = reflect.TypeFor[struct{}]()
	}
	if !v.IsValid() || v.Type() != want {
		got := "the zero reflect.Value"
		if v.IsValid() {
			got = "a " + v.Type().String()
		}
		panic(fmt.Sprintf("vast: %s: %s holds %s and cannot take %s: give a value of Describe(col).Type", what, c.name, want, got))
	}
	if !v.CanInterface() {
		panic(fmt.Sprintf("vast: %s: the value for %s was got through an unexported field: give a copy of the whole", what,
			c.name))
	}
}
