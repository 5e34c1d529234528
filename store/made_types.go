package store

import (
	"fmt"
	"go/token"
	"reflect"
	"time"

	"github.com/vastgo/vast/probe"
)

// The functions of this file make Go types from schemas, for LoadAny and tools.

// opaque is a value that a codec of another program has encoded.
type opaque []byte

func (o opaque) AppendBinary(b []byte) ([]byte, error) { return append(b, o...), nil }

func (o *opaque) UnmarshalBinary(b []byte) error {
	*o = append(opaque{}, b...)
	return nil
}

// opaqueKey is like opaque, for the keys of maps.
type opaqueKey string

func (o opaqueKey) AppendBinary(b []byte) ([]byte, error) { return append(b, o...), nil }

func (o *opaqueKey) UnmarshalBinary(b []byte) error {
	*o = opaqueKey(b)
	return nil
}

// knownTypes are types whose methods or meaning matter to tools. A type in a file becomes a known type if
// names and schemas are equal.
var knownTypes = []reflect.Type{typeEntity, typeDuration, reflect.TypeFor[time.Time]()}

// basicTypes maps each basic kind to its type, except the kinds of wordTypes.
var basicTypes = map[string]reflect.Type{
	"bool": reflect.TypeFor[bool](), "int8": reflect.TypeFor[int8](), "int16": reflect.TypeFor[int16](),
	"int32": reflect.TypeFor[int32](), "int64": reflect.TypeFor[int64](), "uint8": reflect.TypeFor[uint8](),
	"uint16": reflect.TypeFor[uint16](), "uint32": reflect.TypeFor[uint32](),
	"uint64": reflect.TypeFor[uint64](), "float32": reflect.TypeFor[float32](),
	"float64": reflect.TypeFor[float64](), "complex64": reflect.TypeFor[complex64](),
	"complex128": reflect.TypeFor[complex128](), "string": reflect.TypeFor[string](),
}

// wordTypes holds the kinds whose size depends on the processor. own is the Go type of the kind. If own has
// another size than the values in the file, four replaces it for values of 4 bytes, and eight for 8 bytes.
var wordTypes = map[string]struct {
	own         reflect.Type
	four, eight reflect.Type
}{
	"int":     {reflect.TypeFor[int](), basicTypes["int32"], basicTypes["int64"]},
	"uint":    {reflect.TypeFor[uint](), basicTypes["uint32"], basicTypes["uint64"]},
	"uintptr": {reflect.TypeFor[uintptr](), basicTypes["uint32"], basicTypes["uint64"]},
}

// typeOf returns a type for values of a file. The type has the layout of the schema if this processor allows
// that layout. Otherwise only the names and kinds of the fields are equal. encoded is true for the values of
// HeapColumns and resources, whose schemas have no layout.
func typeOf(s *schema, encoded bool) (t reflect.Type, err error) {
	defer func() {
		if v := recover(); v != nil { // package reflect panics if there is no such type
			t, err = nil, fmt.Errorf("%v", v)
		}
	}()
	return typeMaker{encoded, make(codecs)}.of(s, false)
}

type typeMaker struct {
	encoded bool
	codecs
}

// of returns the type for a schema. key is true for a part of the key of a map.
func (m typeMaker) of(s *schema, key bool) (reflect.Type, error) {
	for _, t := range knownTypes {
		if s.Name == t.String() && m.describes(s, t) {
			return t, nil
		}
	}
	if t := basicTypes[s.Kind]; t != nil {
		return t, nil
	}
	if word, ok := wordTypes[s.Kind]; ok {
		switch {
		case s.Size == int(word.own.Size()):
			return word.own, nil
		case s.Size == 4:
			return word.four, nil
		}
		return word.eight, nil
	}
	switch s.Kind {
	case kindOpaque:
		if key {
			return reflect.TypeFor[opaqueKey](), nil
		}
		return reflect.TypeFor[opaque](), nil
	case "array", "slice":
		if s.Kind == "array" && s.Len == 0 {
			return reflect.TypeFor[[0]byte](), nil
		}
		elem, err := m.of(s.Elem, key)
		if err != nil {
			return nil, err
		}
		if s.Kind == "slice" {
			return reflect.SliceOf(elem), nil
		}
		return reflect.ArrayOf(s.Len, elem), nil
	case "map":
		k, err := m.of(s.Key, true)
		if err != nil {
			return nil, err
		}
		elem, err := m.of(s.Elem, false)
		if err != nil {
			return nil, err
		}
		return reflect.MapOf(k, elem), nil
	}
	return m.structOf(s, key)
}

// describes reports whether s is the schema of a type.
func (m typeMaker) describes(s *schema, t reflect.Type) bool {
	if !m.encoded {
		return schemaOf(t).same(s)
	}
	own, err := m.codecs.schemaOf(t, "")
	return err == nil && own.same(s)
}

// structOf returns a struct type. If the schema has a name, the first field is a nameField.
func (m typeMaker) structOf(s *schema, key bool) (reflect.Type, error) {
	l := probe.Layout{Name: s.String(), Size: s.Size}
	fields := []reflect.StructField{nameField(s.Name, "")}
	for _, f := range s.Fields {
		t, err := m.of(f.Type, key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		l.Parts = append(l.Parts, probe.Layout{Name: f.Name, Offset: f.Offset, Type: t})
		one := reflect.StructField{Name: f.Name, Type: t}
		if !token.IsExported(f.Name) {
			one.PkgPath = pathOfTypes
		}
		fields = append(fields, one)
	}
	if !m.encoded {
		if exact, err := probe.TypeOf(l); err == nil {
			fields = fields[:1]
			for i := range exact.NumField() {
				f := exact.Field(i)
				fields = append(fields, reflect.StructField{Name: f.Name, PkgPath: f.PkgPath, Type: f.Type})
			}
		}
	}
	for i := range fields {
		if fields[i].PkgPath != "" {
			fields[i].PkgPath = pathOfTypes
		}
	}
	if s.Name == "" {
		fields = fields[1:]
	}
	return reflect.StructOf(fields), nil
}

const pathOfTypes = "github.com/vastgo/vast/store"

// nameField returns a field that takes no memory. Its tag holds the name of a type and, if resource is not
// empty, the name of a resource of that type.
func nameField(name, resource string) reflect.StructField {
	tag := fmt.Sprintf("%s:%q", tagType, name)
	if resource != "" {
		tag += fmt.Sprintf(" %s:%q", tagResource, resource)
	}
	return reflect.StructField{Name: "_", PkgPath: pathOfTypes, Type: reflect.TypeFor[struct{}](),
		Tag: reflect.StructTag(tag)}
}

const (
	tagType     = "vastType"
	tagResource = "vastResource"
)

// madeName returns the name that nameField has stored in a type under the key tag, or an empty string.
func madeName(t reflect.Type, tag string) string {
	if t.Kind() != reflect.Struct || t.PkgPath() != "" || t.NumField() == 0 {
		return ""
	}
	if f := t.Field(0); f.Name == "_" && f.PkgPath == pathOfTypes {
		return f.Tag.Get(tag)
	}
	return ""
}

// resourceOf returns the type of a resource. It returns nil if the type cannot hold the name of the resource:
// otherwise two resources could have one type.
func resourceOf(m *resourceManifest) (reflect.Type, error) {
	for _, t := range knownTypes {
		if nameOf(t) == m.Name {
			return t, nil
		}
	}
	t, err := typeOf(m.Type, true)
	if err != nil || t.Kind() != reflect.Struct || madeName(t, tagType) == "" {
		return nil, err
	}
	fields := []reflect.StructField{nameField(m.Type.Name, m.Name)}
	for i := range t.NumField() - 1 {
		f := t.Field(i + 1)
		fields = append(fields, reflect.StructField{Name: f.Name, PkgPath: f.PkgPath, Type: f.Type})
	}
	return reflect.StructOf(fields), nil
}
