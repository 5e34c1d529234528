package store

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
)

// Codec encodes and decodes values of one type. Make one with [CodecOf].
type Codec struct {
	typ    reflect.Type
	append func([]byte, reflect.Value) ([]byte, error) // the value is addressable
	decode func([]byte, reflect.Value) error
	// leavesOut reports whether the encoding of a map leaves out an entry if the value is the entry's key or
	// a part of the key. If leavesOut is nil, no entries are left out.
	leavesOut func(reflect.Value) bool
}

// CodecOf returns a codec for T. appendTo appends the encoded value to a slice. decode receives the appended
// bytes and a zero value, which it sets. decode must not keep the bytes.
func CodecOf[T any](appendTo func([]byte, *T) ([]byte, error), decode func([]byte, *T) error) Codec {
	return Codec{
		typ: reflect.TypeFor[T](),
		append: func(b []byte, v reflect.Value) ([]byte, error) {
			return appendTo(b, v.Addr().Interface().(*T))
		},
		decode: func(b []byte, v reflect.Value) error { return decode(b, v.Addr().Interface().(*T)) },
	}
}

var (
	typeAppender    = reflect.TypeFor[encoding.BinaryAppender]()
	typeMarshaler   = reflect.TypeFor[encoding.BinaryMarshaler]()
	typeUnmarshaler = reflect.TypeFor[encoding.BinaryUnmarshaler]()
)

// ownCodec returns the codec of a type that has the method UnmarshalBinary, and AppendBinary or
// MarshalBinary.
func ownCodec(t reflect.Type) (Codec, bool) {
	if !hasOwn(t, func(p reflect.Type) bool {
		return p.Implements(typeUnmarshaler) && (p.Implements(typeAppender) || p.Implements(typeMarshaler))
	}) {
		return Codec{}, false
	}
	return Codec{
		typ: t,
		append: func(b []byte, v reflect.Value) ([]byte, error) {
			if a, ok := v.Addr().Interface().(encoding.BinaryAppender); ok {
				return a.AppendBinary(b)
			}
			own, err := v.Addr().Interface().(encoding.BinaryMarshaler).MarshalBinary()
			return append(b, own...), err
		},
		decode: func(b []byte, v reflect.Value) error {
			return v.Addr().Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(b)
		},
	}, true
}

// hasOwn reports whether the type t has methods of its own. The function has reports whether a type has the
// methods; hasOwn calls it for the type of a pointer to a t. Methods that t gets from an embedded field are
// not its own if t has other fields, which the methods would leave out, or if the embedded field is a pointer
// or an interface, which may be nil.
func hasOwn(t reflect.Type, has func(p reflect.Type) bool) bool {
	if !has(reflect.PointerTo(t)) {
		return false
	}
	if t.Kind() != reflect.Struct {
		return true
	}
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case !f.Anonymous:
		case f.Type.Kind() == reflect.Pointer || f.Type.Kind() == reflect.Interface:
			if has(f.Type) {
				return false
			}
		case t.NumField() > 1 && has(reflect.PointerTo(f.Type)):
			return false
		}
	}
	return true
}

type codecs map[reflect.Type]Codec // a type without a codec has the zero Codec

func codecsOf(o Options) codecs {
	c := make(codecs)
	for _, one := range o.Codecs {
		c[one.typ] = one
	}
	return c
}

// of returns the codec of a type, and whether there is one: the codec in the options, or else the type's own
// methods.
func (c codecs) of(t reflect.Type) (Codec, bool) {
	one, known := c[t]
	if !known {
		one, _ = ownCodec(t)
		c[t] = one // a cache, because codecs.of is called for each value
	}
	return one, one.append != nil
}

// remedy ends the message about a type that cannot be encoded.
const remedy = "give the type the methods AppendBinary and UnmarshalBinary, or name a codec in Options.Codecs"

var errRecursive = errors.New("refers to itself")

// schemaOf describes how values of a type are encoded. If a part of the type cannot be encoded, the error
// names the path of that part. above are the types that contain t.
func (c codecs) schemaOf(t reflect.Type, path string, above ...reflect.Type) (*schema, error) {
	s := &schema{Kind: t.Kind().String()}
	if t.Kind() <= reflect.Complex128 { // the size of other values says nothing about their encoding
		s.Size = int(t.Size())
	}
	s.Name = typeName(t)
	if _, ok := c.of(t); ok {
		s.Kind = kindOpaque
		return s, nil
	}
	for _, other := range above {
		if other == t {
			return nil, fmt.Errorf("%s: the type %v %w: %s", path, t, errRecursive, remedy)
		}
	}
	above = append(above, t)
	var err error
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Chan, reflect.Func, reflect.UnsafePointer,
		reflect.Uintptr:
		return nil, fmt.Errorf("%s is %s, which cannot be saved: %s", path, article(t), remedy)
	case reflect.Slice:
		s.Elem, err = c.schemaOf(t.Elem(), path+"[]", above...)
	case reflect.Map:
		if s.Key, err = c.schemaOf(t.Key(), path+" (key)", above...); err == nil {
			s.Elem, err = c.schemaOf(t.Elem(), path+"[]", above...)
		}
	case reflect.Array:
		s.Len = t.Len()
		if s.Len > 0 {
			s.Elem, err = c.schemaOf(t.Elem(), path+"[]", above...)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "_" {
				continue
			}
			var one *schema
			if one, err = c.schemaOf(f.Type, path+"."+f.Name, above...); err != nil {
				break
			}
			s.Fields = append(s.Fields, member{Name: f.Name, Type: one})
		}
	}
	return s, err
}

func article(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Interface:
		return "an interface"
	case reflect.UnsafePointer:
		return "an unsafe.Pointer"
	case reflect.Chan:
		return "a channel"
	case reflect.Func:
		return "a function"
	}
	return "a " + t.Kind().String()
}
