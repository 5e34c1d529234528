package bulk

import (
	"cmp"
	"math"
	"reflect"
)

// unsafeNumber finds the first floating-point number inside v that can make processors signal or become slow.
// It returns "not a number", "denormal", or "" if v has no such number.
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
			if kind := unsafeIn(v.Field(i)); kind != "" {
				return kind
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			if kind := unsafeIn(v.Index(i)); kind != "" {
				return kind
			}
		}
	}
	return ""
}

// unsafeFloat is unsafeNumber for the number f. minNormal is the least positive normal number of the type
// that the number has in the element: float32 or float64.
func unsafeFloat(f, minNormal float64) string {
	switch {
	case f != f:
		return "not a number"
	case f != 0 && math.Abs(f) < minNormal:
		return "denormal"
	}
	return ""
}
