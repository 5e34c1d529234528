// Package layout checks that elements of a type may lie outside Go's heap. The garbage collector does not
// scan memory outside of the heap, so a Go pointer in such memory would not keep its target alive.
package layout

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// Size returns the number of bytes that an element of type T takes. It returns 1 for a type of size zero, so
// that containers can divide by the size and have a largest number of elements.
func Size[T any]() int {
	var v T
	return max(1, int(unsafe.Sizeof(v)))
}

// Name returns the name of T. The name of a defined type does not contain its package.
func Name[T any]() string { return name(reflect.TypeFor[T]()) }

// verdicts maps each checked type to the text about its first Go pointer, or to "" if it has none.
var verdicts sync.Map // reflect.Type → string

// Check panics if T holds Go pointers. The argument caller, such as "bulk: NewPool", names the function with
// the type parameter T. The message begins with caller, and names the path of the first field that is a Go
// pointer. Complexity: a map look-up for a type that was checked before.
func Check[T any](caller string) { CheckOr[T](caller, "") }

// CheckOr is like Check, but adds remedy to the message. The text remedy names another way to store a T.
func CheckOr[T any](caller, remedy string) { CheckType(caller, reflect.TypeFor[T](), remedy) }

// CheckType is CheckOr for a type that is known only at run time. It ignores an empty remedy.
func CheckType(caller string, t reflect.Type, remedy string) {
	verdict, seen := verdicts.Load(t)
	if !seen {
		path, kind := firstPointer(t, name(t))
		s := ""
		if kind != "" {
			s = fmt.Sprintf("%s is %s: memory outside Go's heap must not hold Go pointers; keep %s", path,
				kind, substitute(kind))
		}
		verdict, _ = verdicts.LoadOrStore(t, s)
	}
	if s := verdict.(string); s != "" {
		if remedy != "" {
			s += ", or " + remedy
		}
		panic(fmt.Sprintf("%s[%s]: %s", caller, name(t), s))
	}
}

func name(t reflect.Type) string {
	if n := t.Name(); n != "" {
		return n
	}
	return t.String()
}

// firstPointer returns the path and the kind of the first Go pointer in t, or empty strings. The argument
// path is the path of t.
func firstPointer(t reflect.Type, path string) (at, kind string) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if at, kind = firstPointer(f.Type, path+"."+f.Name); kind != "" {
				return at, kind
			}
		}
		return "", ""
	case reflect.Array:
		// An array without elements holds no pointer. Types use [0]func() to forbid comparison.
		if t.Len() == 0 {
			return "", ""
		}
		return firstPointer(t.Elem(), path+"[]")
	case reflect.String:
		return path, "a string"
	case reflect.Slice:
		return path, "a slice"
	case reflect.Map:
		return path, "a map"
	case reflect.Chan:
		return path, "a channel"
	case reflect.Func:
		return path, "a function"
	case reflect.Interface:
		return path, "an interface"
	case reflect.Pointer:
		return path, "a pointer"
	case reflect.UnsafePointer:
		return path, "an unsafe.Pointer"
	}
	return "", ""
}

// substitute returns the end of the message: what to store in place of a Go pointer of this kind.
func substitute(kind string) string {
	switch kind {
	case "a string":
		return "the text in a Go slice and its index here, or use an array of bytes of a fixed size"
	case "a slice", "a map":
		return "it on the Go heap and its index or key here, or use an array of a fixed size"
	case "a pointer", "an unsafe.Pointer":
		return "an index or a handle to the target instead"
	}
	return "it on the Go heap and its index here"
}
