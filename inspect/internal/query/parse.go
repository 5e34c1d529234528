package query

import (
	"slices"
	"strconv"
)

const (
	maxText  = 4 << 10 // bytes of a text
	maxTerms = 64      // alternatives counted apart
)

// operators compare.
var operators = []string{"==", "!=", "<", "<=", ">", ">=", "~", "!~"}

// Parse reads a text. Its errors are of type [*Error].
func Parse(text string) (*Query, error) {
	p := parser{lexer: lexer{text: []rune(text)}}
	if len(text) > maxText {
		return nil, Span{0, len(p.text)}.errorf("the query is longer than %d bytes: ask for less at once", maxText)
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
			return nil, t.Span.errorf("a query has %d terms at most: leave some out", maxTerms)
		}
		if err := p.between(); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// parser reads a text one token ahead.
type parser struct {
	lexer
	now   token
	end   Span // of the token before
	count int  // alternatives so far
}

func (p *parser) advance() (err error) {
	p.end = p.now.Span
	p.now, err = p.next()
	return err
}

// between reads what stands between terms, and makes sure that one follows.
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
			return sign.Span.errorf("nothing comes after %v: add a term or take it away", sign)
		}
		return nil
	case p.now.is("&&"):
		return p.now.errorf("write a comma, or and")
	case p.now.is("||"):
		return p.now.errorf("write |, or or")
	case p.now.is("="):
		return p.now.errorf("write == to compare")
	case p.now.is(operators...):
		return p.now.errorf("%v has nothing before it to compare: write Component.Field %s value", p.now, p.now.text)
	}
	return p.now.errorf("%v is not expected here: put a comma between terms, and quotes around names with signs in them", p.now)
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
			return t, p.now.errorf("%v comes after %v: write one of them", p.now, start)
		}
	}
	for {
		a, err := p.atom()
		if err != nil {
			return t, err
		}
		t.Either = append(t.Either, a)
		t.Span = start.Span.to(p.end)
		if p.count++; p.count > maxTerms || !p.now.is("|", "or") {
			break
		}
		if t.Optional {
			return t, p.now.errorf("what is shown if present needs no alternatives: write ?A, ?B")
		}
		if t.Not {
			return t, p.now.errorf("! before alternatives can be read in two ways: write !A, !B for none of them")
		}
		bar := p.now
		if err := p.advance(); err != nil {
			return t, err
		}
		switch {
		case p.now.is("!", "not", "?"):
			return t, p.now.errorf("%v cannot stand before one of several: write it before a term of its own", p.now)
		case p.now.sort == sortEnd:
			return t, bar.errorf("nothing comes after %v: add an alternative or take it away", bar)
		}
	}
	if a := t.Either[0]; t.Optional && (a.Target != nil || a.Op != "") {
		return t, t.Span.errorf("? is for components: write ?%s", quoteName(a.Name)+a.Number)
	}
	return t, nil
}

func (p *parser) atom() (a Atom, err error) {
	start := p.now
	switch {
	case p.now.is(keywords...), p.now.sort == sortEnd:
		return a, start.errorf("the name of a component is missing before %v", p.now)
	case p.now.sort == sortNumber:
		return a, start.errorf("a term begins with the name of a component, not with the number %s", p.now.text)
	case p.now.sort == sortColumn:
		return a, start.errorf("a number stands behind the name of a component, as in Position%s", p.now.text)
	case p.now.is("*"):
		return a, start.errorf("* stands for any target, as in Relation(*): for all entities leave the query empty")
	case p.now.is(operators...):
		return a, start.errorf("%v has nothing before it to compare: write Component.Field %s value", p.now, p.now.text)
	case p.now.sort == sortSign:
		return a, start.errorf("the name of a component is expected here, not %v", p.now)
	}
	if a.Name, a.Number, a.NameSpan, err = p.name(); err != nil {
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
		a.FieldsSpan = fields.to(p.end)
	}
	if a.Target != nil && len(a.Fields) > 0 {
		return a, a.FieldsSpan.errorf("a target has no fields here: compare them in a term of its own")
	}
	if p.now.is(operators...) {
		err = p.comparison(&a)
	} else if len(a.Fields) > 0 {
		err = a.FieldsSpan.errorf("%s%s is compared with nothing: add == and a value, or name the component only",
			quoteName(a.Name)+a.Number, pathOf(a.Fields, true))
		if p.now.is("=") {
			err = p.now.errorf("write == to compare")
		}
	}
	a.Span = start.Span.to(p.end)
	return a, err
}

// name reads the name of a component, and the number of its column where one is given.
func (p *parser) name() (name, number string, at Span, err error) {
	name, at = p.now.text, p.now.Span
	if err = p.advance(); err != nil || p.now.sort != sortColumn {
		return name, "", at, err
	}
	number = p.now.text
	err = p.advance()
	return name, number, at.to(p.end), err
}

// target reads what stands in the brackets after a relation.
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
			return nil, open.to(p.now.Span).errorf("the target is missing: write a name, an ID such as 17.3, or * for any")
		case p.now.sort == sortEnd:
			return nil, open.errorf("the bracket is not closed: add a target and )")
		default:
			return nil, p.now.errorf("the target is a name, an ID such as 17.3, or * for any; names with signs in them have quotes")
		}
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.now.is(")") {
		if p.now.sort == sortEnd {
			return nil, open.errorf("the bracket is not closed: add )")
		}
		return nil, p.now.errorf("%v is not expected here: close the bracket, and put quotes around names with signs in them", p.now)
	}
	return t, p.advance()
}

// field reads a step such as .X or [2].
func (p *parser) field() (Field, error) {
	sign := p.now
	if sign.sort == sortNumber { // .5 is one token
		return Field{}, sign.errorf("the name of a field comes after the dot, not a number; an element of an array is [2]")
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
		return Field{}, sign.to(what.Span).errorf("the number of an element is missing in the brackets")
	}
	if err := p.advance(); err != nil {
		return Field{}, err
	}
	if !p.now.is("]") {
		return Field{}, sign.to(what.Span).errorf("the bracket is not closed: add ]")
	}
	return Field{Index: int(index)}, p.advance()
}

// comparison reads an operator and a value.
func (p *parser) comparison(a *Atom) error {
	if a.Target != nil {
		return p.now.errorf("a target is not compared: write %s(name)", quoteName(a.Name)+a.Number)
	}
	a.Op, a.OpSpan = p.now.text, p.now.Span
	if err := p.advance(); err != nil {
		return err
	}
	v := p.now
	if v.is("=") || slices.Contains(operators, v.text) && v.sort == sortSign {
		return a.OpSpan.to(v.Span).errorf("there is no such comparison: use == != < <= > >= ~ or !~")
	}
	switch v.sort {
	case sortEnd, sortSign:
		return a.OpSpan.errorf("nothing comes after %s to compare with: add a number, a word or a quoted text", a.Op)
	}
	a.Value = Value{v.text, v.sort == sortQuoted, v.Span}
	return p.advance()
}
