package query

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Schema lists the columns that a query may name. [NewSchema] makes a Schema.
type Schema struct {
	Columns []Column
}

// Column is a column of the world.
type Column struct {
	vast.AnyColumn
	ID       int // number of the column in the world
	Storage  probe.Storage
	Type     reflect.Type // type of an element; nil for a tag
	Relation bool         // whether the column is a relation
	Linked   bool         // whether the column belongs to a relation or to edges
	Disabled bool         // whether the column is the tag of a vast.Disabled
	Private  bool         // whether the column holds the targets of a relation or edges
	Values   []Part

	numbered bool // whether the name alone is ambiguous
}

// NewSchema returns the schema of a world's columns. The schema keeps the slice, and NewSchema changes the
// elements of the slice.
func NewSchema(columns []Column) *Schema {
	count := make(map[string]int)            // number of columns with a name
	namesWithNumber := make(map[string]bool) // such as Body#7, which may also be a column's name
	for i := range columns {
		c := &columns[i]
		count[c.Name()]++
		namesWithNumber[c.Name()+c.number()] = true
	}
	for i := range columns {
		c := &columns[i]
		c.numbered = count[c.Name()] > 1 || namesWithNumber[c.Name()]
	}
	return &Schema{columns}
}

// number returns the column's number as written in a query, such as #7.
func (c *Column) number() string { return "#" + strconv.Itoa(c.ID) }

// Label returns the column's name, followed by the number if the name alone is ambiguous. Each column of a
// schema has a different label.
func (c *Column) Label() string {
	if c.numbered {
		return c.Name() + c.number()
	}
	return c.Name()
}

// Text returns the column's label as written in a query.
func (c *Column) Text() string {
	if c.numbered {
		return quoteName(c.Name()) + c.number()
	}
	return quoteName(c.Name())
}

// Part is a value within a component, such as a number or a string.
type Part struct {
	Path   string // path such as Strain.Rates[1]; empty if the component is a single value
	Kind   Kind
	Offset int // offset in bytes from the start of the component
	Type   reflect.Type
}

// Kind determines how a value is compared.
type Kind string

// The kinds of values. Values of KindOther cannot be compared.
const (
	KindFloat  Kind = "float"
	KindInt    Kind = "int"
	KindUint   Kind = "uint"
	KindBool   Kind = "bool"
	KindString Kind = "string"
	KindEntity Kind = "entity"
	KindEnum   Kind = "enum" // an integer whose type has a String method
	KindOther  Kind = "other"
)

// nameOfEntities denotes the name of an entity in a query, if no component is called Name.
const nameOfEntities = "Name"

// find returns the column with a name and a number such as #7. If only one column has the name, number may be
// empty. known is false if number is empty and no column has the name.
func (s *Schema) find(name, number string, at Span) (c *Column, known bool, err error) {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b },
		strings.EqualFold} {
		var found []*Column
		for i := range s.Columns {
			if c := &s.Columns[i]; same(c.Name(), name) && (number == "" || number == c.number()) {
				found = append(found, c)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], true, nil
		case len(found) > 1 && found[0].Name() == name:
			return nil, true, at.errorf("%d components have the name %q: write %s", len(found), name,
				textsOf(found))
		case len(found) > 1:
			return nil, true, at.errorf("%q may be %s or %s: write the exact name", name, found[0].Label(),
				found[1].Label())
		}
	}
	if number != "" {
		for i := range s.Columns {
			if c := &s.Columns[i]; c.number() == number {
				return nil, true, at.errorf("the component with the number %s is called %s", number,
					quoteName(c.Name()))
			}
		}
		return nil, true, at.errorf("no component has the number %.20s", number)
	}
	var names []string
	for i := range s.Columns {
		names = append(names, s.Columns[i].Name())
	}
	return nil, false, at.errorf("no component has the name %q%s", name, didYouMean(name, names))
}

func textsOf(columns []*Column) string {
	const most = 8
	var list []string
	for _, c := range columns[:min(len(columns), most)] {
		list = append(list, c.Text())
	}
	text := strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
	if len(columns) > most {
		text = strings.Join(list, ", ") + " or another"
	}
	return text
}

func firstWhere[T any](list []T, f func(*T) bool) int {
	for i := range list {
		if f(&list[i]) {
			return i
		}
	}
	return -1
}

// value returns the part of c at a path, or an error if the part does not exist or cannot be compared.
func (c *Column) value(fields []Field, at Span) (*Part, error) {
	name, path := c.Label(), pathOf(fields, false)
	switch {
	case c.Type == nil:
		return nil, at.errorf("%s is a tag without a value: write %s or !%[2]s", name, c.Text())
	case c.Relation:
		return nil, at.errorf("%s is a relation: write %s(target)", name, c.Text())
	case len(c.Values) == 0:
		return nil, at.errorf("%s has no fields", name)
	case c.isCopied() && c.size() > CopyMost:
		return nil, at.errorf("%s has %d bytes: too large to compare in %v storage", name, c.size(),
			c.Storage)
	}
	find := func(same func(a, b string) bool) int {
		return firstWhere(c.Values, func(p *Part) bool { return same(p.Path, path) })
	}
	i := find(func(a, b string) bool { return a == b })
	if i < 0 {
		i = find(strings.EqualFold)
	}
	if i >= 0 {
		if c.Values[i].Kind == KindOther {
			return nil, at.errorf("%s has the type %v, which cannot be compared", name+dotted(path),
				c.Values[i].Type)
		}
		return &c.Values[i], nil
	}
	if p := firstWhere(c.Values, func(p *Part) bool { return within(p.Path, path) }); p >= 0 {
		return nil, at.errorf("%s is not a single value: name a field, such as %s", name+dotted(path),
			name+dotted(c.Values[p].Path))
	}
	var paths []string
	for i := range c.Values {
		paths = append(paths, c.Values[i].Path)
	}
	return nil, at.errorf("%s has no field %q%s", name, path, didYouMean(path, paths))
}

// dotted returns a path as written after a component's name.
func dotted(path string) string {
	if path == "" || path[0] == '[' {
		return path
	}
	return "." + path
}

// within reports whether the value at path is a part of the value at outer.
func within(path, outer string) bool {
	if outer == "" {
		return true
	}
	return len(path) > len(outer) && strings.EqualFold(path[:len(outer)], outer) &&
		(path[len(outer)] == '.' || path[len(outer)] == '[')
}

// didYouMean returns the end of a message that suggests a similar name, or "" if no name is similar.
func didYouMean(name string, among []string) string {
	if best := nearest(name, among); best != "" {
		return fmt.Sprintf(": did you mean %s?", best)
	}
	return ""
}

// nearest returns the most similar name, or "" if no name is similar.
func nearest(name string, among []string) string {
	best, least := "", max(1, len([]rune(name))/3)+1
	for _, other := range among {
		if d := distance(strings.ToLower(name), strings.ToLower(other), least); d < least {
			best, least = other, d
		}
	}
	return best
}

// distance returns how many letters must be inserted, deleted, changed or swapped with a neighbour to turn
// one text into the other text. If the distance is at least limit, or `from` has more than 64 letters, the
// result is at least limit. See F. J. Damerau, "A Technique for Computer Detection and Correction of
// Spelling Errors", 1964.
func distance(from, to string, limit int) int {
	a, b := []rune(from), []rune(to)
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit || len(a) > 64 {
		return limit
	}
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := range a {
		above, row, two := rows[i%3], rows[(i+1)%3], rows[(i+2)%3]
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], two[j-1]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}
