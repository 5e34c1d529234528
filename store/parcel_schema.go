package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"unicode/utf8"
)

// parcelSchema describes the columns of parcels. [Packer.Schema] returns it as JSON.
type parcelSchema struct {
	Version int            `json:"parcel"` // version of the format of parcels
	Columns []parcelColumn `json:"columns"`
}

const versionParcel = 1

// parcelColumn is a column of a parcelSchema. The columns are in the order of their names.
type parcelColumn struct {
	Name string  `json:"name"`
	Form string  `json:"form"`
	Type *schema `json:"type,omitempty"` // type of the components or of the values of edges; else nil
}

// The forms of columns in parcels.
const (
	parcelTag      = "tag"      // a Tag
	parcelValue    = "value"    // any other column of components; a component has its fields side by side
	parcelEncoded  = "encoded"  // a HeapColumn
	parcelRelation = "relation" // the links of a relation
	parcelEdges    = "edges"    // edges and their values
	parcelNames    = "names"    // the names of entities
)

// isComponent reports whether the column holds components. Unpack adds components at the birth of an entity,
// and adds links and names later.
func (c *parcelColumn) isComponent() bool {
	return c.Form == parcelTag || c.Form == parcelValue || c.Form == parcelEncoded
}

// minBytes returns a lower bound for the number of bytes of a component in a parcel.
func (c *parcelColumn) minBytes() int {
	switch c.Form {
	case parcelValue:
		return c.Type.Size
	case parcelEncoded:
		return c.Type.least()
	}
	return 0
}

// portable returns the schema of a type in parcels. This schema is the same on every processor: it has no
// names of types, and an int, uint or uintptr has 8 bytes. encoded says whether values are encoded. If not,
// the parts of a value lie side by side, and a reference has 4 bytes.
func (s *schema) portable(encoded bool) *schema {
	p := &schema{Kind: s.Kind, Size: s.Size, Len: s.Len}
	switch s.Kind {
	case "int", "uint", "uintptr":
		p.Size = 8
	case kindEntity:
		p.Size = 4
	case "struct":
		p.Size = 0
	case "array":
		p.Size = 0
		if s.Len > 0 {
			p.Elem = s.Elem.portable(encoded)
		}
		if s.Len > 0 && !encoded {
			p.Size = s.Len * p.Elem.Size
		}
	case "slice":
		p.Elem = s.Elem.portable(encoded)
	case "map":
		p.Key, p.Elem = s.Key.portable(encoded), s.Elem.portable(encoded)
	}
	for _, f := range s.Fields {
		one := member{Name: f.Name, Offset: p.Size, Type: f.Type.portable(encoded)}
		if encoded {
			one.Offset = 0
		} else {
			p.Size += one.Type.Size
		}
		p.Fields = append(p.Fields, one)
	}
	return p
}

// text returns the schema as JSON. The columns must be in the order of their names.
func (s *parcelSchema) text() (string, error) {
	for i, c := range s.Columns {
		switch {
		case i > 0 && s.Columns[i-1].Name == c.Name:
			return "", fmt.Errorf("two columns have the name %q: give one of them another name with Named",
				c.Name)
		case !utf8.ValidString(c.Name):
			return "", fmt.Errorf("the name of column %q is not UTF-8", c.Name)
		}
	}
	b, err := json.Marshal(s)
	return string(b), err
}

// markOf returns the mark of a schema: a checksum of its text. Each parcel begins with the mark.
func markOf(schema string) uint32 { return crc32.Checksum([]byte(schema), castagnoli) }

func parseParcelSchema(text string) (*parcelSchema, error) {
	s := new(parcelSchema)
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil, err
	}
	if s.Version != versionParcel {
		return nil, fmt.Errorf("the schema has version %d, and this program reads version %d", s.Version,
			versionParcel)
	}
	for i := range s.Columns {
		c := &s.Columns[i]
		if i > 0 && s.Columns[i-1].Name >= c.Name {
			return nil, errors.New("the columns are not in the order of their names")
		}
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return s, nil
}

// check returns an error if a column of a schema is incomplete or not portable.
func (c *parcelColumn) check() error {
	typed := []string{parcelValue, parcelEncoded, parcelEdges}
	if !slices.Contains(typed, c.Form) {
		if !slices.Contains([]string{parcelTag, parcelRelation, parcelNames}, c.Form) || c.Type != nil {
			return fmt.Errorf("the form %q is unknown, or must not have a type", c.Form)
		}
		return nil
	}
	encoded := c.Form == parcelEncoded
	if err := c.Type.check(encoded); err != nil {
		return err
	}
	if !c.Type.same(c.Type.portable(encoded)) {
		return errors.New("the type is not portable: make the schema with Packer.Schema")
	}
	return nil
}
