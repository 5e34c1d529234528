package value

import (
	"encoding/hex"
	"reflect"
	"strconv"
	"time"
	"unsafe"

	"github.com/vastgo/vast"
)

// Text returns a value as one line. A string or the result of a String method may add line breaks. If the
// text has more than limit bytes, … replaces the end of the text. Text does not follow pointers and maps.
// Complexity: proportional to the length of the text, without the calls of String methods.
func Text(v reflect.Value, limit int) string {
	w := line{limit: limit}
	w.value(open(v))
	return cut(string(w.b), limit)
}

// line is a text that grows until it has more than limit bytes.
type line struct {
	b     []byte
	limit int
}

func (l *line) full() bool { return len(l.b) > l.limit }

func (l *line) add(text string) { l.b = append(l.b, text...) }

// value adds the text of a value. The recursion ends even if a type refers to itself: the method does not
// follow pointers and maps, and each step into a slice or an interface makes the line longer.
func (l *line) value(v reflect.Value) {
	if l.full() {
		return
	}
	switch t := v.Type(); {
	case t == timeType && v.CanInterface():
		l.add(timeText(v.Interface().(time.Time)))
		return
	case t == entityType:
		l.add(entityText(v))
		return
	case v.Kind() == reflect.Struct && guarded(t):
		l.add(typeName(t))
		return
	case v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface:
		if text, _ := stringOf(v, l.limit); text != "" {
			l.add(text)
			return
		}
	}
	switch v.Kind() {
	case reflect.String:
		if len(l.b) == 0 {
			l.add(cut(v.String(), l.limit))
		} else {
			l.b = strconv.AppendQuote(l.b, cut(v.String(), l.limit))
		}
	case reflect.Struct:
		l.structure(v)
	case reflect.Slice:
		if v.IsNil() {
			l.add("nil")
			return
		}
		l.elements(v)
	case reflect.Array:
		l.elements(v)
	case reflect.Interface:
		if v.IsNil() {
			l.add("nil")
			return
		}
		l.add(typeName(v.Elem().Type()) + " ")
		l.value(v.Elem())
	case reflect.Map:
		if v.IsNil() {
			l.add("nil")
			return
		}
		l.add(typeName(v.Type()) + " of " + strconv.Itoa(v.Len()))
	case reflect.Pointer, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		if v.IsNil() {
			l.add("nil")
			return
		}
		l.add(typeName(v.Type()))
	default:
		l.add(number(v))
	}
}

func (l *line) structure(v reflect.Value) {
	l.b = append(l.b, '{')
	first := true
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if name == "_" {
			continue
		}
		if l.full() {
			break
		}
		if !first {
			l.b = append(l.b, ' ')
		}
		first = false
		l.add(name + ":")
		l.value(open(v.Field(i)))
	}
	l.b = append(l.b, '}')
}

func (l *line) elements(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 && v.Len() > 4 {
		n := min(v.Len(), 32)
		some := make([]byte, n)
		for i := range some {
			some[i] = byte(v.Index(i).Uint())
		}
		l.add("0x" + hex.EncodeToString(some))
		if n < v.Len() {
			l.add("…")
		}
		return
	}
	l.b = append(l.b, '[')
	for i := range v.Len() {
		if l.full() {
			break
		}
		if i > 0 {
			l.b = append(l.b, ' ')
		}
		l.value(open(v.Index(i)))
	}
	l.b = append(l.b, ']')
}

// number returns the text of a number or a bool.
func number(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())
	case reflect.Complex64, reflect.Complex128:
		return strconv.FormatComplex(v.Complex(), 'g', -1, v.Type().Bits())
	}
	if v.CanInt() {
		return strconv.FormatInt(v.Int(), 10)
	}
	return strconv.FormatUint(v.Uint(), 10)
}

func timeText(t time.Time) string { return t.Format(time.RFC3339Nano) }

// entityOf returns the entity in a value, which may be an unexported field.
func entityOf(v reflect.Value) vast.Entity {
	return vast.EntityOf(v.Field(1).Uint()<<32 | v.Field(0).Uint())
}

func entityText(v reflect.Value) string {
	if e := entityOf(v); !e.IsZero() {
		return e.String()
	}
	return "none"
}

// open returns v without the restrictions of an unexported field. If v is not addressable, open returns v
// unchanged. The conversion is sound because the type stays the same, and callers write only to copies.
func open(v reflect.Value) reflect.Value {
	if v.CanInterface() || !v.CanAddr() {
		return v
	}
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

func addressable(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}
