package vast

import (
	"fmt"
	"reflect"
)

// SetResource stores in the world a value of type T that belongs to no entity, such as a clock, a
// configuration or a map. A world has one value of each type: SetResource replaces the present value. A
// resource lies on the Go heap and may hold Go pointers.
func SetResource[T any](w *World, v T) {
	w.mustBeOpen("SetResource")
	if w.resources == nil {
		w.resources = make(map[reflect.Type]any)
	}
	w.resources[reflect.TypeFor[T]()] = &v
}

// Resource returns the address of the world's value of type T, to read and write it in place. It panics if
// there is none; use [FindResource] if that is not a mistake. In hot paths, keep the pointer: it stays valid
// until the resource is set again.
func Resource[T any](w *World) *T {
	w.mustBeOpen("Resource")
	p := FindResource[T](w)
	if p == nil {
		panic(fmt.Sprintf("vast: Resource[%s]: world %q has none: call SetResource first",
			reflect.TypeFor[T](), w.options.Name))
	}
	return p
}

// FindResource returns the address of the world's value of type T, or nil if there is none or the world is
// closed.
func FindResource[T any](w *World) *T {
	p, _ := w.resources[reflect.TypeFor[T]()].(*T)
	return p
}

// RemoveResource removes the value of type T from the world and reports whether there was one. Pointers to it
// stay valid.
func RemoveResource[T any](w *World) bool {
	w.mustBeOpen("RemoveResource")
	if FindResource[T](w) == nil {
		return false
	}
	delete(w.resources, reflect.TypeFor[T]())
	return true
}
