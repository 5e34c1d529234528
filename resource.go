package vast

import (
	"fmt"
	"reflect"
)

// SetResource puts a value into the world that belongs to no entity, such as a clock, a configuration or a map: one of each
// type. It replaces the one that is there. A resource lies on the Go heap and may hold Go pointers.
func SetResource[T any](w *World, v T) {
	w.mustBeOpen("SetResource")
	if w.resources == nil {
		w.resources = make(map[reflect.Type]any)
	}
	w.resources[reflect.TypeFor[T]()] = &v
}

// Resource returns the world's value of type T, to be read and written in place. It panics when there is none: use
// [FindResource] where that is no mistake. Keep the pointer for hot paths; it stays valid until the resource is set anew.
func Resource[T any](w *World) *T {
	w.mustBeOpen("Resource")
	p := FindResource[T](w)
	if p == nil {
		panic(fmt.Sprintf("vast: Resource[%s]: world %q has none: call SetResource first", reflect.TypeFor[T](), w.options.Name))
	}
	return p
}

// FindResource returns the world's value of type T, or nil where there is none or the world is closed.
func FindResource[T any](w *World) *T {
	p, _ := w.resources[reflect.TypeFor[T]()].(*T)
	return p
}

// RemoveResource takes the value of type T from the world and reports whether there was one. Pointers to it stay valid.
func RemoveResource[T any](w *World) bool {
	w.mustBeOpen("RemoveResource")
	if FindResource[T](w) == nil {
		return false
	}
	delete(w.resources, reflect.TypeFor[T]())
	return true
}
