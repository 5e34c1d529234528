package vast

import (
	"reflect"
	"strconv"
	"unicode/utf8"
)

// sprintLimit is the length in bytes at which [World.Sprint] cuts a name or a component.
const sprintLimit = 120

// Sprint describes e for a person: the slot and the generation, the name if the world has [Names], and the
// components with their values, such as
//
//	17.3 "Paris" {Position{X:1 Y:2} Docked}
//
// The name and each component are cut to about 120 bytes; a … marks the cut. A stale entity is shown as 17.3
// (stale). Complexity: proportional to the number of columns.
func (w *World) Sprint(e Entity) string {
	b := []byte(e.String())
	if !w.Alive(e) {
		return string(append(b, " (stale)"...))
	}
	if w.names != nil {
		if name, ok := w.names.Of(e); ok {
			b = shown{append(b, ' '), len(b) + sprintLimit}.text(name).b
		}
	}
	b = append(b, " {"...)
	first := true
	for _, c := range w.columns {
		if c.internal || w.namedBy(c) {
			continue
		}
		v, ok := c.value(e)
		if !ok {
			continue
		}
		if !first {
			b = append(b, ' ')
		}
		first = false
		b = append(b, c.name...)
		switch {
		case v.Kind() == reflect.Struct && v.Type() != entityType:
			if v.NumField() > 0 {
				b = shown{b, len(b) + sprintLimit}.value(v).b
			}
		default:
			b = append(b, '(')
			b = append(shown{b, len(b) + sprintLimit}.value(v).b, ')')
		}
	}
	return string(append(b, '}'))
}

var entityType = reflect.TypeFor[Entity]()

// shown is a text under construction, and the length at which it is cut.
type shown struct {
	b     []byte
	limit int
}

func (s shown) add(text string) shown {
	s.b = append(s.b, text...)
	return s
}

// text adds a string in quotes.
func (s shown) text(v string) shown {
	cut := max(s.limit-len(s.b), 0)
	if len(v) <= cut {
		s.b = strconv.AppendQuote(s.b, v)
		return s
	}
	for cut > 0 && !utf8.RuneStart(v[cut]) {
		cut--
	}
	s.b = strconv.AppendQuote(s.b, v[:cut])
	return s.add("…")
}

// value adds v. It shows neither the targets of pointers nor the elements of maps. A slice may contain
// itself: each level adds to the text, and value stops when the text is full.
func (s shown) value(v reflect.Value) shown {
	switch v.Kind() {
	case reflect.Bool:
		s.b = strconv.AppendBool(s.b, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		s.b = strconv.AppendInt(s.b, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		s.b = strconv.AppendUint(s.b, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		s.b = strconv.AppendFloat(s.b, v.Float(), 'g', -1, v.Type().Bits())
	case reflect.Complex64, reflect.Complex128:
		return s.add(strconv.FormatComplex(v.Complex(), 'g', -1, v.Type().Bits()))
	case reflect.String:
		return s.text(v.String())
	case reflect.Struct:
		if v.Type() == entityType {
			e := Entity{slot: uint32(v.Field(0).Uint()), generation: uint32(v.Field(1).Uint())}
			return s.add(e.String())
		}
		s = s.add("{")
		for i := range v.NumField() {
			if s = s.next(i); s.full() {
				break
			}
			s = s.add(v.Type().Field(i).Name + ":").value(v.Field(i))
		}
		return s.add("}")
	case reflect.Array, reflect.Slice:
		s = s.add("[")
		for i := range v.Len() {
			if s = s.next(i); s.full() {
				break
			}
			s = s.value(v.Index(i))
		}
		return s.add("]")
	case reflect.Interface:
		if !v.IsNil() {
			return s.value(v.Elem())
		}
		return s.add("nil")
	case reflect.Map:
		return s.add(v.Type().String() + " of " + strconv.Itoa(v.Len()))
	default:
		if v.IsNil() {
			return s.add("nil")
		}
		return s.add(v.Type().String())
	}
	return s
}

func (s shown) full() bool { return len(s.b) >= s.limit }

// next adds the separator before part i of a struct or an array, or a … if the text is full.
func (s shown) next(i int) shown {
	switch {
	case s.full():
		return s.add("…")
	case i > 0:
		return s.add(" ")
	}
	return s
}
