package vast

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// value returns a copy of e's component, and whether e is alive and has the component. The value of a tag is
// an empty struct.
func (c *column) value(e Entity) (reflect.Value, bool) {
	if !c.has(e) {
		return reflect.Value{}, false
	}
	if !c.elsewhere() && (c.typ == nil || c.base == nil || int(c.typ.Size()) != c.bytes) {
		return reflect.ValueOf(struct{}{}), true
	}
	v := reflect.New(c.typ).Elem()
	v.Set(c.valueAt(e.slot))
	return v, true
}

func (probes) Value(col AnyColumn, e Entity) (reflect.Value, bool) {
	return columnOf("Value", col).value(e)
}

func (probes) SetValue(col AnyColumn, e Entity, v reflect.Value) bool {
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

func (probes) AddValue(col AnyColumn, e Entity, v reflect.Value) bool {
	c := columnOf("AddValue", col)
	c.mustTake("AddValue", v)
	if s, ok := c.store.(*sharedStore); ok && c.world.Alive(e) {
		s.intern(addressOf(v)) // can fail, so it comes before the change
	}
	alive, gained := c.add(e)
	if !alive {
		return false
	}
	c.setValue(e.slot, v)
	if gained {
		c.tellAdded(e.slot)
	}
	return true
}

func (probes) RemoveValue(col AnyColumn, e Entity) bool {
	c := columnOf("RemoveValue", col)
	if c.internal {
		panic(fmt.Sprintf("probe: RemoveValue: %s holds no component: to remove a link, pass its "+
			"source and the column of the sources", c.name))
	}
	return c.remove(e)
}

// setValue writes the element of a slot that has the component. v must have the column's type.
func (c *column) setValue(slot uint32, v reflect.Value) {
	if s, ok := c.store.(*sharedStore); ok {
		s.assign(slot, addressOf(v))
	} else if c.typ != nil {
		c.valueAt(slot).Set(v)
	}
}

// addressOf returns the address of a copy of v.
func addressOf(v reflect.Value) unsafe.Pointer {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.UnsafePointer()
}

// valueAt returns the element of a slot that has the component. The column must have a type.
func (c *column) valueAt(slot uint32) reflect.Value { return reflect.NewAt(c.typ, c.at(slot)).Elem() }

// mustTake panics if v cannot become an element of the column, or if only other methods may write the column.
func (c *column) mustTake(function string, v reflect.Value) {
	if c.linked != "" {
		panic(fmt.Sprintf("probe: %s: %s belongs to the links of %s, which have two ends: use "+
			"Relation.Set or Edges.Add", function, c.name, c.linked))
	}
	if c.world.namedBy(c) {
		panic(fmt.Sprintf("probe: %s: %s is the column of the world's Names, which finds entities by name: "+
			"use Names.Set", function, c.name))
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
		panic(fmt.Sprintf("probe: %s: %s holds %s and cannot take %s: give a value of Describe(col).Type",
			function, c.name, want, got))
	}
	if !v.CanInterface() {
		panic(fmt.Sprintf("probe: %s: the value for %s was obtained through an unexported field: give "+
			"the result of reflect.ValueOf", function, c.name))
	}
}
