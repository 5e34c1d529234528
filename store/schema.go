package store

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// schema describes a type: how its values lie in memory, or how they are encoded.
type schema struct {
	Kind   string   `json:"kind"`             // name of a reflect.Kind, or kindOpaque or kindEntity
	Name   string   `json:"name,omitempty"`   // name of a declared type, with its package; else empty
	Size   int      `json:"size,omitempty"`   // bytes in memory; 0 for encoded types except bools and numbers
	Len    int      `json:"len,omitempty"`    // length of an array
	Key    *schema  `json:"key,omitempty"`    // key type of a map
	Elem   *schema  `json:"elem,omitempty"`   // element type of an array, a slice or a map
	Fields []member `json:"fields,omitempty"` // fields of a struct
}

type member struct {
	Name   string  `json:"name"`
	Offset int     `json:"offset"` // offset in memory, in bytes; 0 in an encoded struct
	Type   *schema `json:"type"`
}

const (
	kindOpaque = "opaque" // a type whose values a codec encodes
	kindEntity = "entity" // vast.Entity in a parcel; in a file, an Entity has the kind struct
)

// schemaOf describes a type whose values lie in memory without Go pointers.
func schemaOf(t reflect.Type) *schema { return schemaInMemory(t, false) }

// schemaInMemory returns the schema of a type without Go pointers. If entities is true, a vast.Entity has the
// kind kindEntity.
func schemaInMemory(t reflect.Type, entities bool) *schema {
	s := &schema{Kind: t.Kind().String(), Size: int(t.Size())}
	s.Name = typeName(t)
	switch {
	case entities && t == typeEntity:
		s.Kind = kindEntity
	case t.Kind() == reflect.Array:
		s.Len = t.Len()
		if s.Len > 0 {
			s.Elem = schemaInMemory(t.Elem(), entities)
		}
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name != "_" {
				s.Fields = append(s.Fields, member{f.Name, int(f.Offset), schemaInMemory(f.Type, entities)})
			}
		}
	}
	return s
}

// typeName returns the name of a declared type. For a type that typeOf has made, it returns the name that the
// type has in the file.
func typeName(t reflect.Type) string {
	if t.PkgPath() != "" {
		return t.String()
	}
	return madeName(t, tagType)
}

// same reports whether values of two types have the same bytes and the same meaning.
func (s *schema) same(other *schema) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.Kind == other.Kind && s.Size == other.Size && s.Len == other.Len &&
		s.Key.same(other.Key) && s.Elem.same(other.Elem) &&
		slices.EqualFunc(s.Fields, other.Fields, func(a, b member) bool {
			return a.Name == b.Name && a.Offset == b.Offset && a.Type.same(b.Type)
		})
}

// sizes are the sizes that values of a kind can have. A kindEntity occurs only in parcels, where a
// reference to an entity has 4 bytes.
var sizes = map[string][]int{
	"bool": {1}, "int": {4, 8}, "int8": {1}, "int16": {2}, "int32": {4}, "int64": {8},
	"uint": {4, 8}, "uint8": {1}, "uint16": {2}, "uint32": {4}, "uint64": {8}, "uintptr": {4, 8},
	"float32": {4}, "float64": {8}, "complex64": {8}, "complex128": {16}, kindEntity: {4},
}

// maxParts is the largest number of parts of one value: see the method parts.
const maxParts = 1 << 24

// check returns an error if a schema from a file is incomplete, has an unknown kind, or has more than
// maxParts parts. If encoded is false, check also returns an error if a field lies outside of its struct, or
// an element outside of its array.
func (s *schema) check(encoded bool) error {
	if s == nil || s.Size < 0 || s.Len < 0 {
		return errors.New("the description of a type is incomplete")
	}
	known := sizes[s.Kind] != nil && slices.Contains(sizes[s.Kind], s.Size) || s.Kind == "array" ||
		s.Kind == "struct" || encoded && (s.Kind == "string" || s.Kind == "slice" || s.Kind == "map" ||
		s.Kind == kindOpaque)
	if !known {
		return fmt.Errorf("the kind %q of %d bytes is unknown", s.Kind, s.Size)
	}
	switch {
	case s.Kind == "array" && s.Len > 0:
		if err := s.Elem.check(encoded); err != nil {
			return err
		}
		if !encoded && s.Elem.Size > 0 && s.Len > s.Size/s.Elem.Size {
			return fmt.Errorf("an array with %d elements of %d bytes has only %d bytes", s.Len, s.Elem.Size,
				s.Size)
		}
	case s.Kind == "slice":
		return s.Elem.check(encoded)
	case s.Kind == "map":
		if err := s.Key.check(encoded); err != nil {
			return err
		}
		return s.Elem.check(encoded)
	}
	if s.parts() > maxParts {
		return fmt.Errorf("a value has more than %d parts", maxParts)
	}
	for _, f := range s.Fields {
		if err := f.Type.check(encoded); err != nil {
			return err
		}
		if !encoded && (f.Offset < 0 || f.Offset > s.Size || f.Type.Size > s.Size-f.Offset) {
			return fmt.Errorf("field %s lies outside of its struct", f.Name)
		}
	}
	return nil
}

// parts returns the number of parts of a value, at most maxParts + 1. A struct counts as one part in addition
// to its fields. The elements of slices and maps do not count.
func (s *schema) parts() int {
	n := 1
	if s.Kind == "array" && s.Len > 0 && s.Elem != nil {
		if n = s.Elem.parts(); n > maxParts/s.Len {
			return maxParts + 1
		}
		return n * s.Len
	}
	for _, f := range s.Fields {
		if f.Type != nil {
			n = min(n+f.Type.parts(), maxParts+1)
		}
	}
	return n
}

// String names the type in messages.
func (s *schema) String() string {
	if s.Name != "" {
		return s.Name
	}
	switch s.Kind {
	case "array":
		return fmt.Sprintf("[%d]%v", s.Len, s.Elem)
	case "slice":
		return fmt.Sprintf("[]%v", s.Elem)
	case "map":
		return fmt.Sprintf("map[%v]%v", s.Key, s.Elem)
	}
	return s.Kind
}

// integer reports whether the type is an integer, as ok, and whether the integer is signed.
func (s *schema) integer() (signed, ok bool) {
	switch {
	case strings.HasPrefix(s.Kind, "int") && s.Kind != "interface":
		return true, true
	case strings.HasPrefix(s.Kind, "uint"):
		return false, true
	}
	return false, false
}

// changes collects the differences between the types of a file and the types of the program.
type changes struct {
	renamed map[string]string // new paths, keyed by old paths
	report  *Report
}

// match pairs the fields of a struct in the file with the fields of a struct in the program. It calls visit
// for each pair, and reports the fields without a partner.
func (c *changes) match(from, to *schema, path string, visit func(from, to member) error) error {
	paired := make(map[string]bool)
	for _, f := range from.Fields {
		name, err := c.nameOfField(path, f.Name)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(to.Fields, func(m member) bool { return m.Name == name })
		if i < 0 {
			c.report.Dropped = append(c.report.Dropped, path+"."+f.Name)
			continue
		}
		if paired[name] {
			return fmt.Errorf("two fields of the saved data get the name %s.%s: correct Options.Renamed",
				path, name)
		}
		paired[name] = true
		if err := visit(f, to.Fields[i]); err != nil {
			return err
		}
	}
	for _, f := range to.Fields {
		if !paired[f.Name] {
			c.report.Added = append(c.report.Added, path+"."+f.Name)
		}
	}
	return nil
}

// nameOfField returns the name that a field of the file has in the program.
func (c *changes) nameOfField(path, name string) (string, error) {
	now, ok := c.renamed[path+"."+name]
	if !ok {
		return name, nil
	}
	short, ok := strings.CutPrefix(now, path+".")
	if !ok {
		return "", fmt.Errorf("Options.Renamed: the new name of %s.%s is %q: begin it with %q", path, name,
			now, path+".")
	}
	return short, nil
}

// fit returns an error if values of one basic type cannot be converted to another. Any integer type can be
// converted to any other, because the conversion checks each value. A float32 can become a float64, and a
// complex64 can become a complex128.
func (c *changes) fit(from, to *schema, path string) error {
	_, a := from.integer()
	_, b := to.integer()
	switch {
	case from.Kind == to.Kind && from.Size == to.Size:
		return nil
	case a && b && from.Kind == to.Kind: // an int, uint or uintptr, whose size depends on the processor
		return nil
	case a && b, from.Kind == "float32" && to.Kind == "float64", from.Kind == "complex64" &&
		to.Kind == "complex128":
		c.report.Converted = append(c.report.Converted, fmt.Sprintf("%s from %v to %v", path, from, to))
		return nil
	}
	return fmt.Errorf("%s is %v in the saved data and %v in the program: keep the old type, or give the new "+
		"field another name and fill it later", path, from, to)
}
