package store

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// schema describes a type: how its values lie in memory, or how they are encoded.
type schema struct {
	Kind   string   `json:"kind"`             // as reflect.Kind names it, or kindOpaque
	Name   string   `json:"name,omitempty"`   // of a declared type, with its package
	Size   int      `json:"size,omitempty"`   // bytes in memory; of encoded values only numbers have one
	Len    int      `json:"len,omitempty"`    // of an array
	Key    *schema  `json:"key,omitempty"`    // of a map
	Elem   *schema  `json:"elem,omitempty"`   // of an array, a slice or a map
	Fields []member `json:"fields,omitempty"` // of a struct
}

// member is a field of a struct.
type member struct {
	Name   string  `json:"name"`
	Offset int     `json:"offset"` // in memory
	Type   *schema `json:"type"`
}

// kindOpaque is the kind of a type whose values a codec encodes.
const kindOpaque = "opaque"

// schemaOf describes a type whose values lie in memory without Go pointers.
func schemaOf(t reflect.Type) *schema {
	s := &schema{Kind: t.Kind().String(), Size: int(t.Size())}
	if t.PkgPath() != "" {
		s.Name = t.String()
	}
	switch t.Kind() {
	case reflect.Array:
		s.Len = t.Len()
		if s.Len > 0 {
			s.Elem = schemaOf(t.Elem())
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name != "_" {
				s.Fields = append(s.Fields, member{f.Name, int(f.Offset), schemaOf(f.Type)})
			}
		}
	}
	return s
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

// check returns an error if a schema from a file is not complete, or if parts of it lie outside of it. The
// parts of encoded values have no place.
func (s *schema) check(encoded bool) error {
	if s == nil || s.Size < 0 || s.Len < 0 {
		return fmt.Errorf("the description of a type is incomplete")
	}
	switch {
	case s.Kind == "array" && s.Len > 0:
		if err := s.Elem.check(encoded); err != nil {
			return err
		}
		if !encoded && s.Elem.Size > 0 && s.Len > s.Size/s.Elem.Size {
			return fmt.Errorf("an array of %d × %d bytes has %d bytes", s.Len, s.Elem.Size, s.Size)
		}
	case s.Kind == "slice":
		return s.Elem.check(encoded)
	case s.Kind == "map":
		if err := s.Key.check(encoded); err != nil {
			return err
		}
		return s.Elem.check(encoded)
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

// integer reports whether the type is an integer, and whether it is signed.
func (s *schema) integer() (signed, ok bool) {
	switch {
	case strings.HasPrefix(s.Kind, "int") && s.Kind != "interface":
		return true, true
	case strings.HasPrefix(s.Kind, "uint"):
		return false, true
	}
	return false, false
}

// changes collects what differs between the types of a file and those of the program.
type changes struct {
	renamed map[string]string // old path → new path
	report  *Report
}

// match pairs the fields of a struct in the file with those of a struct in the program. It calls both for
// each pair and reports the fields without a partner.
func (c *changes) match(from, to *schema, path string, both func(from, to member) error) error {
	paired := make(map[string]bool)
	for _, f := range from.Fields {
		name := f.Name
		if now, ok := c.renamed[path+"."+name]; ok {
			name = strings.TrimPrefix(now, path+".")
		}
		i := slices.IndexFunc(to.Fields, func(m member) bool { return m.Name == name })
		if i < 0 {
			c.report.Dropped = append(c.report.Dropped, path+"."+f.Name)
			continue
		}
		paired[name] = true
		if err := both(f, to.Fields[i]); err != nil {
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

// fit returns an error unless values of one basic type can become values of another. Integers become integers
// that can hold them. A float32 becomes a float64.
func (c *changes) fit(from, to *schema, path string) error {
	_, a := from.integer()
	_, b := to.integer()
	switch {
	case from.Kind == to.Kind && from.Size == to.Size:
		return nil
	case a && b && from.Kind == to.Kind: // an int of another machine
		return nil
	case a && b, from.Kind == "float32" && to.Kind == "float64", from.Kind == "complex64" &&
		to.Kind == "complex128":
		c.report.Converted = append(c.report.Converted, fmt.Sprintf("%s from %v to %v", path, from, to))
		return nil
	}
	return fmt.Errorf("%s is %v in the file and %v in the program: keep the old type, or give the new field "+
		"another name and fill it after Load", path, from, to)
}
