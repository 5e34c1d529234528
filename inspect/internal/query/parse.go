package query

import (
	"slices"
	"strconv"
)

const (
	maxText  = 4 << 10 // largest size of a text in bytes
	maxTerms = 64      // largest number of terms; each alternative of a term counts as a term
)

var operators = []string{"==", "!=", "<", "<=", ">", ">=", "~", "!~"}

// Parse parses a query. Its errors are of type [*Error].
func Parse(text string) (*Query, error) {
	p := parser{lexer: lexer{text: []rune(text)}}
	if len(text) > maxText {
		return nil, Span{0, len(p.text)}.errorf("the query is longer than %d bytes: shorten it", maxText)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	q := &Query{}
	for p.now.sort != sortEnd {
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		q.Terms = append(q.Terms, t)
		if p.count > maxTerms {
			return nil, t.Span.errorf("a query has at most %d terms: leave some out", maxTerms)
		}
		if err := p.between(); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// parser parses a text with one token of lookahead.
type parser struct {
	lexer
	now      token
	prevSpan Span // span of the previous token
	count    int  // number of alternatives so far
}

func (p *parser) advance() (err error) {
	p.prevSpan = p.now.Span
	p.now, err = p.next()
	return err
}

// between parses the separator after a term. A separator at the end of the text is an error.
func (p *parser) between() error {
	switch {
	case p.now.sort == sortEnd:
		return nil
	case p.now.is(",", "and"):
		sign := p.now
		if err := p.advance(); err != nil {
			return err
		}
		if p.now.sort == sortEnd {
			return sign.Span.errorf("a term is missing after %v: add one, or remove %[1]v", sign)
		}
		return nil
	case p.now.is("&&"):
		return p.now.errorf("write a comma or the word \"and\" instead")
	case p.now.is("||"):
		return p.now.errorf("write | or the word \"or\" instead")
	case p.now.is("="):
		return p.now.errorf("write == to compare")
	case p.now.is(operators...):
		return p.now.errorf("a field is missing before %v: write Component.Field %s value", p.now, p.now.text)
	}
	return p.now.errorf("%v is not expected here: separate terms by commas, and quote names with special "+
		"characters", p.now)
}

func (p *parser) term() (Term, error) {
	t := Term{}
	start := p.now
	switch {
	case p.now.is("!", "not"):
		t.Not = true
	case p.now.is("?"):
		t.Optional = true
	}
	if t.Not || t.Optional {
		if err := p.advance(); err != nil {
			return t, err
		}
		if p.now.is("!", "not", "?") {
			return t, p.now.errorf("%v after %v is not allowed: write one of the two", p.now, start)
		}
	}
	for {
		a, err := p.atom()
		if err != nil {
			return t, err
		}
		t.Either = append(t.Either, a)
		t.Span = start.Span.to(p.prevSpan)
		if p.count++; p.count > maxTerms || !p.now.is("|", "or") {
			break
		}
		if t.Optional {
			return t, p.now.errorf("? is not allowed before alternatives: write ?A, ?B")
		}
		if t.Not {
			return t, p.now.errorf("! before alternatives is ambiguous: write !A, !B to exclude both")
		}
		bar := p.now
		if err := p.advance(); err != nil {
			return t, err
		}
		switch {
		case p.now.is("!", "not", "?"):
			return t, p.now.errorf("%v is not allowed before an alternative: write a separate term", p.now)
		case p.now.sort == sortEnd:
			return t, bar.errorf("an alternative is missing after %v: add one, or remove %[1]v", bar)
		}
	}
	if a := t.Either[0]; t.Optional && (a.Join != "" || a.Target != nil || a.Op != "") {
		return t, t.Span.errorf("? is not allowed before a target or a comparison: write ?%s",
			quoteName(a.Name)+a.Number)
	}
	return t, nil
}

func (p *parser) atom() (a Atom, err error) {
	start := p.now
	switch {
	case p.now.is(keywords...), p.now.sort == sortEnd:
		return a, start.errorf("the name of a component is missing before %v", p.now)
	case p.now.sort == sortNumber:
		return a, start.errorf("a term begins with the name of a component, not with a number")
	case p.now.sort == sortColumn:
		return a, start.errorf("the number of a column follows the name, as in Position%s", p.now.text)
	case p.now.is("*"):
		return a, start.errorf("* stands for any target, as in Relation(*): to select all entities, leave " +
			"the query empty")
	case p.now.is(operators...):
		return a, start.errorf("a field is missing before %v: write Component.Field %s value", p.now,
			p.now.text)
	case p.now.sort == sortSign:
		return a, start.errorf("%v is not expected here: write the name of a component", p.now)
	}
	if p.isJoin() {
		a.Join = p.now.text
		if err := p.advance(); err != nil {
			return a, err
		}
	}
	if a.Name, a.Number, a.NameSpan, err = p.name(); err != nil {
		return a, err
	}
	if a.Join != "" {
		a.Has, err = p.components(a.Join)
		a.Span = start.Span.to(p.prevSpan)
		return a, err
	}
	if p.now.is("(") {
		if a.Target, err = p.target(); err != nil {
			return a, err
		}
	}
	fields := p.now.Span
	for p.now.is(".", "[") || p.now.sort == sortNumber && p.now.text[0] == '.' {
		f, err := p.field()
		if err != nil {
			return a, err
		}
		a.Fields = append(a.Fields, f)
		a.FieldsSpan = fields.to(p.prevSpan)
	}
	if a.Target != nil && len(a.Fields) > 0 {
		return a, a.FieldsSpan.errorf("a target has no fields: compare a field of a component in a " +
			"separate term")
	}
	if p.now.is(operators...) {
		err = p.comparison(&a)
	} else if len(a.Fields) > 0 {
		err = a.FieldsSpan.errorf("%s%s needs a comparison: add == and a value, or name only the component",
			quoteName(a.Name)+a.Number, pathOf(a.Fields, true))
		if p.now.is("=") {
			err = p.now.errorf("write == to compare")
		}
	}
	a.Span = start.Span.to(p.prevSpan)
	return a, err
}

// name parses the name of a component and an optional number, as in Position#7.
func (p *parser) name() (name, number string, at Span, err error) {
	name, at = p.now.text, p.now.Span
	if err = p.advance(); err != nil || p.now.sort != sortColumn {
		return name, "", at, err
	}
	number = p.now.text
	err = p.advance()
	return name, number, at.to(p.prevSpan), err
}

// target parses a target in brackets, as in ChildOf(Paris).
func (p *parser) target() (*Target, error) {
	open := p.now
	p.space()
	t := &Target{}
	switch name := p.lexer.name(); {
	case name.text != "":
		t.Span = name.Span
		if idPattern.MatchString(name.text) {
			t.ID = name.text
		} else {
			t.Name = name.text
		}
	default:
		if err := p.advance(); err != nil {
			return nil, err
		}
		t.Span = p.now.Span
		switch {
		case p.now.is("*"):
			t.Any = true
		case p.now.sort == sortQuoted && p.now.text != "":
			t.Name = p.now.text
		case p.now.is(")"), p.now.sort == sortQuoted:
			return nil, open.to(p.now.Span).errorf("the target is missing: write a name, an ID such as " +
				"17.3, or * for any")
		case p.now.sort == sortEnd:
			return nil, open.errorf("the bracket is not closed: add a target and )")
		default:
			return nil, p.now.errorf("a target is a name, an ID such as 17.3, or *; quote names with " +
				"special characters")
		}
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.now.is(")") {
		if p.now.sort == sortEnd {
			return nil, open.errorf("the bracket is not closed: add )")
		}
		return nil, p.now.errorf("%v is not expected here: close the bracket, and quote names with "+
			"special characters", p.now)
	}
	return t, p.advance()
}

// field parses a step of a path, such as .X or [2].
func (p *parser) field() (Field, error) {
	sign := p.now
	if sign.sort == sortNumber { // the lexer reads .5 as one token
		return Field{}, sign.errorf("the dot needs the name of a field, not a number: write [2] for an " +
			"element of an array")
	}
	if err := p.advance(); err != nil {
		return Field{}, err
	}
	what := p.now
	if sign.text == "." {
		if what.sort != sortWord {
			return Field{}, sign.to(what.Span).errorf("the name of a field is missing after the dot")
		}
		return Field{Name: what.text}, p.advance()
	}
	index, err := strconv.ParseUint(what.text, 10, 31)
	if what.sort != sortNumber || err != nil {
		return Field{}, sign.to(what.Span).errorf("the brackets must hold the index of an element: a " +
			"whole number up to 2147483647")
	}
	if err := p.advance(); err != nil {
		return Field{}, err
	}
	if !p.now.is("]") {
		return Field{}, sign.to(what.Span).errorf("the bracket is not closed: add ]")
	}
	return Field{Index: int(index)}, p.advance()
}

func (p *parser) comparison(a *Atom) error {
	if a.Target != nil {
		return p.now.errorf("a target cannot be compared: write %s(name)", quoteName(a.Name)+a.Number)
	}
	a.Op, a.OpSpan = p.now.text, p.now.Span
	if err := p.advance(); err != nil {
		return err
	}
	v := p.now
	if v.is("=") || slices.Contains(operators, v.text) && v.sort == sortSign {
		return a.OpSpan.to(v.Span).errorf("unknown operator: use == != < <= > >= ~ or !~")
	}
	switch v.sort {
	case sortEnd, sortSign:
		return a.OpSpan.errorf("a value is missing after %s: add a number, a word or a quoted text", a.Op)
	}
	a.Value = Value{v.text, v.sort == sortQuoted, v.Span}
	return p.advance()
}
