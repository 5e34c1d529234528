package value

import (
	"reflect"
	"sync"
)

// shape describes a struct or an array type. shapeOf caches the shapes, because a struct may have hundreds of
// fields, and a type may occur many times in another type.
type shape struct {
	plain   bool // whether values hold no Go pointers
	guarded bool // whether the struct or one of its fields is of a type of package sync or sync/atomic
	kind    Kind // kind of a struct; empty for an array
}

// shapes caches the results of shapeOf by type. The number of types in the program bounds the cache.
var shapes sync.Map

// shapeOf returns the shape of a struct or an array type. Complexity: constant after the first call for a
// type.
func shapeOf(t reflect.Type) shape {
	if found, ok := shapes.Load(t); ok {
		return found.(shape)
	}
	s := shape{plain: true}
	if t.Kind() == reflect.Array {
		s.plain = t.Len() == 0 || IsPlain(t.Elem())
	} else {
		s.guarded = isGuard(t)
		for i := range t.NumField() {
			f := t.Field(i).Type
			s.plain = s.plain && IsPlain(f)
			s.guarded = s.guarded || isGuard(f)
		}
		switch {
		case s.guarded:
			s.kind = Other
		case isVector(t):
			s.kind = Vector
		default:
			s.kind = Struct
		}
	}
	shapes.Store(t, s)
	return s
}

// IsPlain reports whether values of a type hold no Go pointers. Complexity: constant after the first call for
// a type.
func IsPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Array:
		return shapeOf(t).plain
	case reflect.String, reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface, reflect.Chan,
		reflect.Func,
		reflect.UnsafePointer:
		return false
	}
	return true
}

// guarded reports whether a struct or one of its fields is of a type of package sync or sync/atomic. Other
// goroutines may write to a guarded struct at any time.
func guarded(t reflect.Type) bool { return t.Kind() == reflect.Struct && shapeOf(t).guarded }

func isGuard(t reflect.Type) bool { return t.PkgPath() == "sync" || t.PkgPath() == "sync/atomic" }
