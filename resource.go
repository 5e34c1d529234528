package vast

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// SetResource stores in the world a value of type T that belongs to no entity, such as a clock, a
// configuration or a map. It returns the address of the value in the world. A world has at most one value of
// each type: SetResource overwrites the present value, at the same address. A resource lies on the Go heap
// and may hold Go pointers.
//
// SetResource panics if T is a pointer or an interface, because [Resource] finds a resource by the type of
// the value itself. Write
//
//	clock := vast.SetResource(w, Clock{})
//
// in place of SetResource(w, &Clock{}). To share a value that lies elsewhere, store a struct that holds the
// pointer or the interface.
func SetResource[T any](w *World, v T) *T {
	w.mustBeOpen("SetResource")
	typ := reflect.TypeFor[T]()
	mustBeValue("vast: SetResource["+typ.String()+"]", typ)
	p := FindResource[T](w)
	if p == nil {
		p = new(T)
		w.keepResource(typ, p)
	}
	*p = v
	return p
}

func (w *World) keepResource(typ reflect.Type, p any) {
	if w.resources == nil {
		w.resources = make(map[reflect.Type]any)
	}
	w.resources[typ] = p
}

func mustBeValue(what string, typ reflect.Type) {
	switch typ.Kind() {
	case reflect.Pointer:
		panic(fmt.Sprintf("%s: a resource is stored by value: write p := vast.SetResource(w, %s{…}) and "+
			"keep p, or store a struct that holds the pointer", what, typ.Elem()))
	case reflect.Interface:
		panic(fmt.Sprintf("%s: a resource is stored under the type of its value, and %s is an interface: "+
			"store the value itself, or a struct that holds the interface", what, typ))
	}
}

// Resource returns the address of the world's value of type T, to read and write it in place. It panics if
// the world has no such value; use [FindResource] if a missing value is not a mistake. In hot paths, keep the
// pointer: it stays the address of the world's value until [RemoveResource] or [World.Close].
func Resource[T any](w *World) *T {
	w.mustBeOpen("Resource")
	p := FindResource[T](w)
	if p == nil {
		typ, remedy := reflect.TypeFor[T](), "call SetResource first"
		if typ.Kind() == reflect.Pointer && w.resources[typ.Elem()] != nil {
			remedy = fmt.Sprintf("there is one of type %s: write vast.Resource[%[1]s](w), which returns its "+
				"address", typ.Elem())
		}
		panic(fmt.Sprintf("vast: Resource[%s]: world %q has none: %s", typ, w.options.Name, remedy))
	}
	return p
}

// FindResource returns the address of the world's value of type T, or nil if the world has no such value or
// is closed.
func FindResource[T any](w *World) *T {
	p, _ := w.resources[reflect.TypeFor[T]()].(*T)
	return p
}

// RemoveResource removes the value of type T from the world and reports whether there was such a value.
// Pointers to the value stay valid.
func RemoveResource[T any](w *World) bool {
	w.mustBeOpen("RemoveResource")
	if FindResource[T](w) == nil {
		return false
	}
	delete(w.resources, reflect.TypeFor[T]())
	return true
}

func (probes) Resources(w *World) []reflect.Value {
	values := make([]reflect.Value, 0, len(w.resources))
	for _, p := range w.resources {
		values = append(values, reflect.ValueOf(p).Elem())
	}
	slices.SortFunc(values, func(a, b reflect.Value) int {
		return cmp.Or(cmp.Compare(a.Type().String(), b.Type().String()),
			cmp.Compare(a.Type().PkgPath(), b.Type().PkgPath()))
	})
	return values
}

func (probes) Resource(w *World, typ reflect.Type) (reflect.Value, bool) {
	p, ok := w.resources[typ]
	if !ok {
		return reflect.Value{}, false
	}
	return reflect.ValueOf(p).Elem(), true
}

func (probes) SetResource(w *World, v reflect.Value) reflect.Value {
	w.mustBeOpen("probe.SetResource")
	if !v.IsValid() || !v.CanInterface() {
		panic("probe: SetResource: the value is the zero reflect.Value or was obtained through an " +
			"unexported field: give a copy of the whole struct")
	}
	typ := v.Type()
	mustBeValue("probe: SetResource: "+typ.String(), typ)
	p, ok := w.resources[typ]
	if !ok {
		p = reflect.New(typ).Interface()
		w.keepResource(typ, p)
	}
	in := reflect.ValueOf(p).Elem()
	in.Set(v)
	return in
}
