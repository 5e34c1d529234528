package store

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/vastgo/vast"
)

// form is the JSON form of the values of a type.
type form uint8

const (
	formBool     form = iota
	formInt           // a number, or a string of its digits
	formUint          // a number, or a string of its digits
	formFloat         // a number, or a string for NaN and infinities
	formComplex       // a list of two floats
	formString        // a string, or {"base64": …} if the string is not UTF-8
	formBytes         // a string in base64, or null
	formEntity        // a reference
	formDuration      // a string such as 1h30m, or a number of nanoseconds
	formJSON          // what the type's method MarshalJSON returns
	formText          // a string that the type's method MarshalText returns
	formCodec         // the bytes of a codec, as a string in base64
	formSlice         // a list, or null
	formArray         // a list
	formStruct        // an object
	formMap           // an object, a list of objects with "key" and "value", or null
)

// shape describes the JSON form of the values of a type.
type shape struct {
	form   form
	t      reflect.Type
	path   string // path of the value, such as Position.X
	codec  Codec
	key    *shape // shape of a map's keys
	elem   *shape // shape of the elements of an array, a slice or a map
	fields []shapeField
	named  map[string]int // maps names in documents to indices in fields; -1: a dropped field
	refs   bool           // whether values can hold references to entities
	used   bool           // whether the document has a value of this shape
}

type shapeField struct {
	*shape
	name     string
	index    int
	exported bool
	seen     bool // whether the document has the field
}

// of returns the field of the addressable struct v. The result is settable, even if the field is unexported.
func (f *shapeField) of(v reflect.Value) reflect.Value {
	if f.exported {
		return v.Field(f.index)
	}
	return field(v, f.index)
}

var (
	typeEntity          = reflect.TypeFor[vast.Entity]()
	typeDuration        = reflect.TypeFor[time.Duration]()
	typeJSON            = reflect.TypeFor[json.Marshaler]()
	typeFromJSON        = reflect.TypeFor[json.Unmarshaler]()
	typeTextMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	typeTextUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// implements returns a function for hasOwn, which reports whether a type implements all of the interfaces.
func implements(interfaces ...reflect.Type) func(reflect.Type) bool {
	return func(p reflect.Type) bool {
		return !slices.ContainsFunc(interfaces, func(i reflect.Type) bool { return !p.Implements(i) })
	}
}

type shapes struct {
	codecs
	*changes
}

// of returns the shape of the values of a type. If JSON cannot hold a part of the type, the error names the
// path of that part. above holds the types that contain t.
func (c shapes) of(t reflect.Type, path string, above ...reflect.Type) (*shape, error) {
	s := &shape{t: t, path: path}
	switch {
	case t == typeEntity:
		s.form, s.refs = formEntity, true
		return s, nil
	case t == typeDuration:
		s.form = formDuration
		return s, nil
	case hasOwn(t, implements(typeJSON, typeFromJSON)):
		s.form = formJSON
		return s, nil
	case hasOwn(t, implements(typeTextMarshaler, typeTextUnmarshaler)):
		s.form = formText
		return s, nil
	}
	if codec, ok := c.codecs.of(t); ok {
		s.form, s.codec = formCodec, codec
		return s, nil
	}
	for _, other := range above {
		if other == t {
			return nil, fmt.Errorf("%s: the type %v %w: %s", path, t, errRecursive, remedyJSON)
		}
	}
	return s, c.complete(s, append(above, t))
}

// remedyJSON is the end of messages about types that JSON cannot hold.
const remedyJSON = "give the type the methods MarshalText and UnmarshalText, or name a codec in " +
	"Options.Codecs"

func (c shapes) complete(s *shape, above []reflect.Type) (err error) {
	switch t := s.t; t.Kind() {
	case reflect.Bool:
		s.form = formBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		s.form = formInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		s.form = formUint
	case reflect.Float32, reflect.Float64:
		s.form = formFloat
	case reflect.Complex64, reflect.Complex128:
		s.form = formComplex
	case reflect.String:
		s.form = formString
	case reflect.Slice:
		s.form = formSlice
		if t.Elem() == reflect.TypeFor[byte]() {
			s.form = formBytes
			return nil
		}
		s.elem, err = c.of(t.Elem(), s.path+"[]", above...)
	case reflect.Array:
		s.form = formArray
		if t.Len() > 0 {
			s.elem, err = c.of(t.Elem(), s.path+"[]", above...)
		}
	case reflect.Map:
		s.form = formMap
		if s.key, err = c.of(t.Key(), s.path+" (key)", above...); err == nil {
			s.elem, err = c.of(t.Elem(), s.path+"[]", above...)
		}
		s.refs = err == nil && s.key.refs
	case reflect.Struct:
		s.form = formStruct
		return c.completeStruct(s, above)
	default:
		return fmt.Errorf("%s is %s, which cannot be written as JSON: %s", s.path, article(t), remedyJSON)
	}
	s.refs = s.refs || err == nil && s.elem != nil && s.elem.refs
	return err
}

func (c shapes) completeStruct(s *shape, above []reflect.Type) error {
	s.named = make(map[string]int)
	for i := range s.t.NumField() {
		f := s.t.Field(i)
		if f.Name == "_" {
			continue
		}
		one, err := c.of(f.Type, s.path+"."+f.Name, above...)
		if err != nil {
			return err
		}
		s.named[f.Name] = len(s.fields)
		s.fields = append(s.fields, shapeField{shape: one, name: f.Name, index: i, exported: f.IsExported()})
		s.refs = s.refs || one.refs
	}
	return c.rename(s)
}

// rename adds the old names of fields to s.named. Options.Renamed maps the old names to the new names.
func (c shapes) rename(s *shape) error {
	if c.changes == nil {
		return nil
	}
	byOldName := make(map[string]int)
	for old, name := range c.renamed {
		field, ok := strings.CutPrefix(old, s.path+".")
		if !ok || strings.ContainsAny(field, ".[ ") { // a field of another struct
			continue
		}
		byOldName[field] = -1
		if name == "" {
			continue
		}
		short, err := c.nameOfField(s.path, field)
		if err != nil {
			return err
		}
		if at, ok := s.named[short]; ok {
			byOldName[field] = at
		} else {
			delete(byOldName, field)
		}
	}
	for field, at := range byOldName { // after the loop above, so that two fields can exchange their names
		s.named[field] = at
	}
	return nil
}

// textKeys reports whether the keys of a map can be the member names of a JSON object.
func (s *shape) textKeys() bool {
	f := s.key.form
	return f == formString || f == formInt || f == formUint || f == formText
}

// added adds to r.Added the fields that the document lacks.
func (s *shape) added(r *Report) {
	if s == nil || !s.used {
		return
	}
	for i := range s.fields {
		if f := &s.fields[i]; f.seen {
			f.shape.added(r)
		} else {
			r.Added = append(r.Added, f.path)
		}
	}
	s.key.added(r)
	s.elem.added(r)
}
