package query

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/vastgo/vast"
)

// Schema is what a text may name.
type Schema struct {
	Columns []Column
}

// Column is a column of the world.
type Column struct {
	vast.AnyColumn
	Storage  vast.Storage
	Type     reflect.Type // of an element; nil for a tag
	Relation bool         // whether it is a relation
	Linked   bool         // whether its elements are links, of a relation or edges, and have no fields
	Private  bool         // whether it is rather not proposed
	Values   []Part
}

// Part is a value within a component that is no struct or array of others.
type Part struct {
	Path   string // such as Strain.Rates[1]; empty where the component is one value
	Kind   Kind
	Offset int // bytes from the start of the component
	Type   reflect.Type
}

// Kind is how a value is compared.
type Kind string

// The kinds of values. Those of KindOther are not compared.
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

// nameOfEntities stands for what entities are called, where no component has that name.
const nameOfEntities = "Name"

// find returns the column that a name means. Names that several columns have mean the first.
func (s *Schema) find(name string, at Span) (*Column, error) {
	if i := firstWhere(s.Columns, func(c *Column) bool { return c.Name() == name }); i >= 0 {
		return &s.Columns[i], nil
	}
	found := -1
	for i := range s.Columns {
		if strings.EqualFold(s.Columns[i].Name(), name) {
			if found >= 0 {
				return nil, at.errorf("%q may be %s or %s: write it as it is", name, s.Columns[found].Name(), s.Columns[i].Name())
			}
			found = i
		}
	}
	if found >= 0 {
		return &s.Columns[found], nil
	}
	var names []string
	for i := range s.Columns {
		names = append(names, s.Columns[i].Name())
	}
	return nil, at.errorf("no component %q%s", name, didYouMean(name, names))
}

func firstWhere[T any](list []T, f func(*T) bool) int {
	for i := range list {
		if f(&list[i]) {
			return i
		}
	}
	return -1
}

// value returns the part of a component that fields lead to, or what keeps it from being compared.
func (c *Column) value(fields []Field, at Span) (*Part, error) {
	name, path := c.Name(), pathOf(fields, false)
	switch {
	case c.Type == nil:
		return nil, at.errorf("%s is a tag and has no value: write %s or !%[1]s", name, quoteName(name))
	case c.Relation:
		return nil, at.errorf("%s is a relation: write %s(target)", name, quoteName(name))
	case len(c.Values) == 0:
		return nil, at.errorf("%s has no fields", name)
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
			return nil, at.errorf("%s.%s is a %v, which is not compared", name, path, c.Values[i].Type)
		}
		return &c.Values[i], nil
	}
	if p := firstWhere(c.Values, func(p *Part) bool { return within(p.Path, path) }); p >= 0 {
		return nil, at.errorf("%s is no single value: name a field of it, such as %s", name+dotted(path),
			name+dotted(c.Values[p].Path))
	}
	var paths []string
	for i := range c.Values {
		paths = append(paths, c.Values[i].Path)
	}
	return nil, at.errorf("%s has no field %q%s", name, path, didYouMean(path, paths))
}

// dotted returns a path as it stands behind a name.
func dotted(path string) string {
	if path == "" || path[0] == '[' {
		return path
	}
	return "." + path
}

// within reports whether a path leads on from another.
func within(path, from string) bool {
	if from == "" {
		return true
	}
	return len(path) > len(from) && strings.EqualFold(path[:len(from)], from) && (path[len(from)] == '.' || path[len(from)] == '[')
}

// didYouMean proposes what is spelled almost like a name.
func didYouMean(name string, among []string) string {
	if best := nearest(name, among); best != "" {
		return fmt.Sprintf(": did you mean %s?", best)
	}
	return ""
}

// nearest returns what is spelled almost like a name; empty where nothing is.
func nearest(name string, among []string) string {
	best, least := "", max(1, len([]rune(name))/3)+1
	for _, other := range among {
		if d := distance(strings.ToLower(name), strings.ToLower(other), least); d < least {
			best, least = other, d
		}
	}
	return best
}

// distance returns how many letters must be put in, taken away, changed or swapped with the next to get from one text to the
// other: as in F. J. Damerau, "A Technique for Computer Detection and Correction of Spelling Errors", 1964. Where it is not
// below a limit, which it is not worth knowing beyond, it may return any number that is not.
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
