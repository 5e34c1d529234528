package query

import (
	"regexp"
	"strconv"
	"strings"
)

// Query is what a text says.
type Query struct {
	Terms []Term
}

// Term is what an entity must fulfil: one of some alternatives.
type Term struct {
	Not      bool // it must fulfil none
	Optional bool // it need not; there is one alternative then
	Either   []Atom
	Span     Span
}

// Atom is a condition.
type Atom struct {
	Name   string  // of a component or relation
	Number string  // of its column, such as #7; empty where none is given
	Target *Target // in a relation; nil where none is given
	Fields []Field // from the component to what is compared; none where that is the whole
	Op     string  // "" where nothing is compared
	Value  Value

	NameSpan, FieldsSpan, OpSpan, Span Span
}

// Field is a step from a value to a part of it.
type Field struct {
	Name  string // of a field of a struct; "" for an element
	Index int    // of an element of an array
}

// Target is what an entity is to be related to.
type Target struct {
	Any  bool
	ID   string // as vast.Entity.String writes it
	Name string // where it is neither
	Span Span
}

// Value is what a field is compared with.
type Value struct {
	Text   string
	Quoted bool
	Span   Span
}

// String returns a text that says the same.
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

// pathOf returns fields as a path such as .Strain.Rates[1], without the first dot unless it is to lead.
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

// keywords are the words that stand between and before names.
var keywords = []string{"and", "or", "not"}

// quoteName returns the name of a component as it stands in a text.
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

// quoteTarget returns the name of a target as it stands in brackets.
func quoteTarget(name string) string {
	l := lexer{text: []rune(name)}
	if t := l.name(); t.text != name || name == "" || idPattern.MatchString(name) {
		return strconv.Quote(name)
	}
	return name
}
