package bulk

import (
	"cmp"
	"math"
	"reflect"
)

// unsafeNumber returns the kind of the first number inside v that makes processors signal or become slow:
// "not a number" or "denormal". It returns "" if v has no such number.
func unsafeNumber[T any](v *T) string { return unsafeIn(reflect.ValueOf(v).Elem()) }

func unsafeIn(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Float32:
		return unsafeFloat(v.Float(), 0x1p-126)
	case reflect.Float64:
		return unsafeFloat(v.Float(), 0x1p-1022)
	case reflect.Complex64:
		c := v.Complex()
		return cmp.Or(unsafeFloat(real(c), 0x1p-126), unsafeFloat(imag(c), 0x1p-126))
	case reflect.Complex128:
		c := v.Complex()
		return cmp.Or(unsafeFloat(real(c), 0x1p-1022), unsafeFloat(imag(c), 0x1p-1022))
	case reflect.Struct:
		for i := range v.NumField() {
			if is := unsafeIn(v.Field(i)); is != "" {
				return is
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			if is := unsafeIn(v.Index(i)); is != "" {
				return is
			}
		}
	}
	return ""
}

// unsafeFloat is unsafeNumber for a floating-point number. normal is the least normal number of its type.
func unsafeFloat(f, normal float64) string {
	switch {
	case f != f:
		return "not a number"
	case f != 0 && math.Abs(f) < normal:
		return "denormal"
	}
	return ""
}
