package query

import (
	"regexp"
	"strconv"
	"strings"
)

// Query is a parsed query.
type Query struct {
	Terms []Term
}

// Term is a condition on an entity.
type Term struct {
	Not      bool   // the alternative in Either must not hold
	Optional bool   // the alternative in Either need not hold
	Either   []Atom // at least one must hold; one element if Not or Optional is set
	Span     Span
}

// Atom is an alternative of a term.
type Atom struct {
	Join   string      // where or up in front of the name of a relation; empty for other terms
	Name   string      // name of a component or a relation
	Number string      // number of the column, such as #7; empty if the query gives no number
	Has    []Component // components in the brackets of a term with where or up
	Target *Target     // target of the relation; nil if the query gives no target
	Fields []Field     // path to a value; empty for the whole component
	Op     string      // comparison operator; empty if nothing is compared
	Value  Value

	NameSpan, FieldsSpan, OpSpan, Span Span
}

// Field is a step of a path: a field of a struct or an element of an array.
type Field struct {
	Name  string // name of the struct's field; empty for an array element
	Index int    // index of the array element
}

// Target is the target of a relation in a query.
type Target struct {
	Any  bool   // whether the target is *
	ID   string // ID in the format of vast.Entity.String; empty if the target is * or a name
	Name string // name of an entity; empty if the target is * or an ID
	Span Span
}

// Value is the value of a comparison.
type Value struct {
	Text   string
	Quoted bool
	Span   Span
}

// String returns the query in canonical form.
func (q *Query) String() string {
	var b strings.Builder
	for i, t := range q.Terms {
		if i > 0 {
			b.WriteString(", ")
		}
		switch {
		case t.Not:
			b.WriteByte('!')
		case t.Optional:
			b.WriteByte('?')
		}
		for i := range t.Either {
			if i > 0 {
				b.WriteString(" | ")
			}
			t.Either[i].write(&b)
		}
	}
	return b.String()
}

func (a *Atom) write(b *strings.Builder) {
	if a.Join != "" {
		b.WriteString(a.Join + " " + quoteName(a.Name) + a.Number)
		a.writeComponents(b)
		return
	}
	b.WriteString(quoteName(a.Name) + a.Number)
	if t := a.Target; t != nil {
		b.WriteByte('(')
		switch {
		case t.Any:
			b.WriteByte('*')
		case t.ID != "":
			b.WriteString(t.ID)
		default:
			b.WriteString(quoteTarget(t.Name))
		}
		b.WriteByte(')')
	}
	b.WriteString(pathOf(a.Fields, true))
	if a.Op != "" {
		b.WriteString(" " + a.Op + " ")
		if a.Value.Quoted {
			b.WriteString(strconv.Quote(a.Value.Text))
		} else {
			b.WriteString(a.Value.Text)
		}
	}
}

// pathOf returns a path such as Strain.Rates[1], or .Strain.Rates[1] if leadingDot is set.
func pathOf(fields []Field, leadingDot bool) string {
	var b strings.Builder
	for i, f := range fields {
		switch {
		case f.Name == "":
			b.WriteString("[" + strconv.Itoa(f.Index) + "]")
		case i > 0 || leadingDot:
			b.WriteString("." + f.Name)
		default:
			b.WriteString(f.Name)
		}
	}
	return b.String()
}

var keywords = []string{"and", "or", "not"}

// quoteName returns the name of a component as written in a query.
func quoteName(name string) string {
	for _, k := range keywords {
		if name == k {
			return strconv.Quote(name)
		}
	}
	for i, r := range name {
		if !isPart(r) || i == 0 && !isLetter(r) {
			return strconv.Quote(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

var idPattern = regexp.MustCompile(`^[0-9]{1,10}\.[0-9]{1,10}$`)

// quoteTarget returns the name of a target as written in brackets.
func quoteTarget(name string) string {
	l := lexer{text: []rune(name)}
	if t := l.name(); t.text != name || name == "" || idPattern.MatchString(name) {
		return strconv.Quote(name)
	}
	return name
}
