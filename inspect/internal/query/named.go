package query

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Named is a component to show, or a value within a component.
type Named struct {
	Name   string // the column's label, followed by the path of Part
	Column *Column
	Part   *Part // nil for the whole component
}

// FindNamed parses the names of components and values, separated by commas, such as "Body, Life.Ends". The
// errors are of type [*Error].
func FindNamed(text string, s *Schema) (list []Named, err error) {
	p := parser{lexer: lexer{text: []rune(text)}}
	if len(text) > maxText {
		return nil, Span{0, len(p.text)}.errorf("the names are longer than %d bytes: leave some out", maxText)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	for p.now.sort != sortEnd {
		one, err := p.named(s)
		if err != nil {
			return nil, err
		}
		if list = append(list, one); len(list) > maxTerms {
			return nil, p.prevSpan.errorf("at most %d columns can be shown: leave some out", maxTerms)
		}
		if !p.now.is(",") && p.now.sort != sortEnd {
			return nil, p.now.errorf("%v is not expected here: separate names by commas, and quote names "+
				"with special characters",
				p.now)
		}
		if p.now.sort != sortEnd {
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

func (p *parser) named(s *Schema) (n Named, err error) {
	start := p.now
	if start.sort != sortWord && start.sort != sortQuoted {
		return n, start.errorf("%v is not expected here: write the name of a component", start)
	}
	name, number, at, err := p.name()
	if err != nil {
		return n, err
	}
	var fields []Field
	for p.now.is(".", "[") || p.now.sort == sortNumber && p.now.text[0] == '.' {
		f, err := p.field()
		if err != nil {
			return n, err
		}
		fields = append(fields, f)
	}
	if n.Column, _, err = s.find(name, number, at); err != nil {
		return n, err
	}
	n.Name = n.Column.Label()
	if len(fields) > 0 {
		n.Part, err = n.Column.value(fields, start.Span.to(p.prevSpan))
		if err == nil {
			n.Name += dotted(n.Part.Path)
		}
	}
	return n, err
}

// Number returns the part that n names, or an error if the part is not a number or a bool. If n names a whole
// component, the component must be a single number or bool.
func (n Named) Number(at Span) (*Part, error) {
	p := n.Part
	if p == nil {
		var err error
		if p, err = n.Column.value(nil, at); err != nil {
			return nil, err
		}
	}
	switch p.Kind {
	case KindString, KindEntity, KindOther:
		return nil, at.errorf("%s has the type %v: name a numeric field", n.Name, p.Type)
	}
	return p, nil
}

// has selects the entities in the slots [lo, hi) that have the component. Disabled entities and disabled
// components count too.
func (n Named) has(w *vast.World, lo, hi int) vast.Query {
	return probe.All(w.Query(n.Column.AnyColumn)).Between(lo, hi)
}
