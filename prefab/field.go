package prefab

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/probe"
)

// column describes a column of the world from which templates can have components.
type column struct {
	handle vast.AnyColumn
	of     any
	name   string
	typ    reflect.Type // nil for a tag
	heap   bool         // whether the components lie on the Go heap
	shared bool         // whether the column is of package shared
	refers bool         // whether components hold references to entities
	parts  []part
}

// part is a part of a component: the component itself, a field of a struct, or an element of an array.
type part struct {
	name string // with the name of the column, such as Hull.Points
	typ  reflect.Type
	at   uintptr // bytes from the start of the component
	leaf bool    // whether the part is a field in the sense of the package documentation
}

var typeEntity = reflect.TypeFor[vast.Entity]()

func columnOf(handle vast.AnyColumn, c state.Column) column {
	col := column{handle: handle, of: c.Of, name: c.Name, typ: c.Type, heap: c.Storage == probing.StorageHeap,
		shared: c.Storage == probing.StorageShared}
	if c.Type != nil {
		col.refers = engine.Refers(c.Type)
		col.addParts(col.name, c.Type, 0)
	}
	if col.heap {
		for i := range col.parts {
			col.parts[i].leaf = i == 0
		}
	}
	return col
}

// addParts appends a part and its own parts.
func (c *column) addParts(name string, t reflect.Type, at uintptr) {
	inner := t != typeEntity && (t.Kind() == reflect.Struct || t.Kind() == reflect.Array)
	c.parts = append(c.parts, part{name, t, at, !inner && t.Size() > 0})
	switch {
	case !inner:
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Name != "_" {
				c.addParts(name+"."+f.Name, f.Type, at+f.Offset)
			}
		}
	default:
		for i := range t.Len() {
			c.addParts(fmt.Sprintf("%s[%d]", name, i), t.Elem(), at+uintptr(i)*t.Elem().Size())
		}
	}
}

// isWithin reports whether field is the part called name, or lies inside it: Hull.Points lies inside Hull.
func isWithin(field, name string) bool {
	rest, ok := strings.CutPrefix(field, name)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// value returns an addressable copy of a component, and whether e has the component.
func (c *column) value(e vast.Entity) (reflect.Value, bool) { return probe.Value(c.handle, e) }

// copyOf returns an addressable copy of a value.
func copyOf(v reflect.Value) reflect.Value {
	n := reflect.New(v.Type()).Elem()
	n.Set(v)
	return n
}

// differing yields the fields in which two components differ.
func (c *column) differing(a, b reflect.Value, yield func(part) bool) bool {
	for _, f := range c.parts {
		if f.leaf && !c.equal(f, a, b) && !yield(f) {
			return false
		}
	}
	return true
}

// same reports whether two components have equal fields.
func (c *column) same(a, b reflect.Value) bool {
	return c.differing(a, b, func(part) bool { return false })
}

func (c *column) equal(f part, a, b reflect.Value) bool {
	if !c.heap {
		return bytes.Equal(bytesOf(f, a), bytesOf(f, b))
	}
	return a.Comparable() && b.Comparable() && a.Equal(b) || reflect.DeepEqual(a.Interface(), b.Interface())
}

// bytesOf returns the bytes of a part of an addressable component without Go pointers.
func bytesOf(f part, v reflect.Value) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(v.Addr().UnsafePointer(), f.at)), f.typ.Size())
}

// partOf returns a part of an addressable component, which the caller may write.
func partOf(f part, v reflect.Value) reflect.Value {
	return reflect.NewAt(f.typ, unsafe.Add(v.Addr().UnsafePointer(), f.at)).Elem()
}

// patch changes a field from its value in before to its value in after, in each entity that has the old
// value. It returns the number of these entities.
func (c *column) patch(f part, es []vast.Entity, before, after reflect.Value) (n int) {
	if !c.heap {
		return engine.Patch(c.of, es, f.at, f.typ.Size(), before, after)
	}
	for _, e := range es {
		if v, ok := c.value(e); ok && c.equal(f, v, before) {
			probe.SetValue(c.handle, e, after)
			n++
		}
	}
	return n
}

// assign gives a part the value that a program has passed, and reports whether the value fits.
func assign(to reflect.Value, value any) bool {
	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid():
		return false
	case v.Type().AssignableTo(to.Type()):
		to.Set(v)
		return true
	case v.Kind() == to.Kind() && v.CanConvert(to.Type()):
		to.Set(v.Convert(to.Type()))
		return true
	}
	switch {
	case v.CanInt() && to.CanInt() && !to.OverflowInt(v.Int()):
		to.SetInt(v.Int())
	case v.CanInt() && to.CanUint() && v.Int() >= 0 && !to.OverflowUint(uint64(v.Int())):
		to.SetUint(uint64(v.Int()))
	case v.CanUint() && to.CanUint() && !to.OverflowUint(v.Uint()):
		to.SetUint(v.Uint())
	case v.CanUint() && to.CanInt() && v.Uint() <= math.MaxInt64 && !to.OverflowInt(int64(v.Uint())):
		to.SetInt(int64(v.Uint()))
	case v.CanFloat() && to.CanFloat() && !to.OverflowFloat(v.Float()):
		to.SetFloat(v.Float())
	case v.CanInt() && to.CanFloat():
		to.SetFloat(float64(v.Int()))
	default:
		return false
	}
	return true
}
