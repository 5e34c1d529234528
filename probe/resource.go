package probe

import (
	"reflect"

	"github.com/vastgo/vast"
)

// Resources returns the world's resources, sorted by the names of their types. Each value refers to the
// resource itself: Set changes the resource, and Addr returns the pointer that [vast.Resource] returns. A
// closed world has no resources. Complexity: a sort of the resources.
func Resources(w *vast.World) []reflect.Value { return engine.Resources(w) }

// Resource returns the world's resource of type typ, and whether there is one. The value refers to the
// resource itself, as in [Resources]. Complexity: a map lookup.
func Resource(w *vast.World, typ reflect.Type) (reflect.Value, bool) { return engine.Resource(w, typ) }

// SetResource stores a resource whose type is known at run time only, as [vast.SetResource] does. The result
// refers to the stored resource, as in [Resource]. A program that reads a world from a file calls SetResource
// for each resource in the file.
//
// SetResource panics if the type of v is a pointer or an interface; if v is the zero [reflect.Value] or was
// obtained through an unexported field; and if the world is closed.
func SetResource(w *vast.World, v reflect.Value) reflect.Value { return engine.SetResource(w, v) }
