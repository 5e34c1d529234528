package probe

import (
	"reflect"

	"github.com/vastgo/vast"
)

// Resources returns the world's resources, in the order of the names of their types. Each value is the
// resource itself, not a copy: Set changes the resource, and Addr returns the pointer that [vast.Resource]
// returns. A closed world has no resources. Complexity: sorting the types.
func Resources(w *vast.World) []reflect.Value { return engine.Resources(w) }

// Resource returns the world's resource of a type, as [Resources] does, and whether there is one. Complexity:
// that of a map.
func Resource(w *vast.World, typ reflect.Type) (reflect.Value, bool) { return engine.Resource(w, typ) }

// SetResource stores a resource whose type is known at run time only, as [vast.SetResource] does, and returns
// the resource as [Resource] does. A program that reads a world from a file calls SetResource for each
// resource in the file.
// SetResource panics if the type of v is a pointer or an interface; if v is the zero [reflect.Value] or was
// obtained through an unexported field; and if the world is closed.
func SetResource(w *vast.World, v reflect.Value) reflect.Value { return engine.SetResource(w, v) }
