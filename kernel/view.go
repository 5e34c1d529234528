package kernel

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
)

// View shows elements that consist of numbers of one type, such as struct{ X, Y, Z float32 }, as these
// numbers. T is the type of the elements, and N the type of the numbers. [NewView] makes a View.
type View[T any, N Number] struct {
	each int // how many numbers are in an element
}

// NewView makes a view. The parts of T may be numbers, arrays and structs. A part may have a defined type,
// such as type Meters float32. NewView panics if a part of T is no N or has no size.
func NewView[T any, N Number]() View[T, N] {
	number := reflect.TypeFor[N]()
	if wrong := firstOther(reflect.TypeFor[T](), number.Kind(), layout.Name[T]()); wrong != "" {
		panic(fmt.Sprintf("kernel: NewView[%s, %s]: %s: view a type that consists of %[2]s only",
			layout.Name[T](), number, wrong))
	}
	var v T
	var n N
	return View[T, N]{int(unsafe.Sizeof(v) / unsafe.Sizeof(n))}
}

// Slice returns the numbers in s: those of the first element, then those of the second element, and so on. It
// copies nothing: the result shares its memory with s, and is valid as long as s. Slice panics if NewView did
// not make the view. Complexity: constant.
func (v View[T, N]) Slice(s []T) []N {
	if v.each == 0 {
		panic("kernel: Slice of the zero View: make the view with NewView")
	}
	// NewView has checked that T consists of numbers with the size of N. Such numbers have no gaps between
	// them, and their alignment is that of N.
	return unsafe.Slice((*N)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*v.each)
}

// firstOther describes the first part of t that is not a number of kind k. It returns "" if there is none.
// The argument path is the path of t.
func firstOther(t reflect.Type, k reflect.Kind, path string) string {
	switch {
	case t.Size() == 0:
		return path + " has no size"
	case t.Kind() == reflect.Array:
		return firstOther(t.Elem(), k, path+"[]")
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if other := firstOther(f.Type, k, path+"."+f.Name); other != "" {
				return other
			}
		}
	case t.Kind() != k:
		return fmt.Sprintf("%s has the type %s", path, t)
	}
	return ""
}
