package query

import (
	"regexp"
	"strconv"
	"strings"
)

// Query is a parsed text.
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
	Name   string  // of a component or relation
	Number string  // of its column, such as #7; may be empty
	Target *Target // in a relation; may be nil
	Fields []Field // path to the value; empty for the whole component
	Op     string  // operator; empty if nothing is compared
	Value  Value

	NameSpan, FieldsSpan, OpSpan, Span Span
}

// Field is a step from a value to a part of it.
type Field struct {
	Name  string // of a field of a struct; "" for an element
	Index int    // of an element of an array
}

// Target is the target of a relation in a query.
type Target struct {
	Any  bool
	ID   string // as vast.Entity.String writes it
	Name string // set if the target is neither * nor an ID
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

// pathOf returns a path such as .Strain.Rates[1]. The first name has a dot in front only if lead is set.
func pathOf(fields []Field, lead bool) string {
	var b strings.Builder
	for i, f := range fields {
		switch {
		case f.Name == "":
			b.WriteString("[" + strconv.Itoa(f.Index) + "]")
		case i > 0 || lead:
			b.WriteString("." + f.Name)
		default:
			b.WriteString(f.Name)
		}
	}
	return b.String()
}

// keywords are the words of the language.
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
