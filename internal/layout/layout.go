// Package layout checks that an element type may lie outside Go's heap. The collector does not look there, so
// a Go pointer in such memory would not keep its target alive.
package layout

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// Size returns the bytes of addresses that an element of type T takes. A type of size zero counts as one
// byte, so that containers can divide by the size and have a limit.
func Size[T any]() int {
	var v T
	return max(1, int(unsafe.Sizeof(v)))
}

// Name returns the name of T as its own package writes it.
func Name[T any]() string { return name(reflect.TypeFor[T]()) }

// verdicts holds the result for each type that was checked: the fault, or "".
var verdicts sync.Map // reflect.Type → string

// Check panics when T holds Go pointers. The message begins with what, the function that takes T, such as
// "bulk: NewPool", and names the path of the first such field. Complexity: a map look-up for a type seen
// before.
func Check[T any](what string) { CheckOr[T](what, "") }

// CheckOr is like Check. If other is not empty, it ends the message: it names another way to store a T.
func CheckOr[T any](what, other string) { CheckType(what, reflect.TypeFor[T](), other) }

// CheckType is CheckOr for a type that is known only at run time.
func CheckType(what string, t reflect.Type, other string) {
	verdict, seen := verdicts.Load(t)
	if !seen {
		path, kind := pointer(t, name(t))
		s := ""
		if kind != "" {
			s = fmt.Sprintf("%s is %s: memory outside Go's heap must not hold Go pointers; keep %s", path,
				kind, remedy(kind))
		}
		verdict, _ = verdicts.LoadOrStore(t, s)
	}
	if s := verdict.(string); s != "" {
		if other != "" {
			s += ", or " + other
		}
		panic(fmt.Sprintf("%s[%s]: %s", what, name(t), s))
	}
}

func name(t reflect.Type) string {
	if n := t.Name(); n != "" {
		return n
	}
	return t.String()
}

// pointer returns the path of the first Go pointer inside t, and its kind, or empty strings. path leads to t.
func pointer(t reflect.Type, path string) (at, kind string) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if at, kind = pointer(f.Type, path+"."+f.Name); kind != "" {
				return at, kind
			}
		}
		return "", ""
	case reflect.Array:
		// An array of no elements holds nothing: [0]func() is a usual way to forbid comparing.
		if t.Len() == 0 {
			return "", ""
		}
		return pointer(t.Elem(), path+"[]")
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

// remedy says what to store in place of a Go pointer.
func remedy(kind string) string {
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
