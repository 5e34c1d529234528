package query

import (
	"slices"
	"strings"

	"github.com/vastgo/vast"
)

// Plan is a query compiled for a world's columns.
type Plan struct {
	with, minus []*Column   // an entity must have all columns of with, and none of minus
	any         [][]*Column // an entity must have at least one column of each group
	to          []wanted
	tests       []test
	shown       []*Column
	text        string
}

// wanted is a target that an entity must have.
type wanted struct {
	column *Column
	target *Target
}

// test is a term that needs more than presence bits.
type test struct {
	not    bool
	either []alternative
}

// alternative is one way to pass a test. An entity passes if it has the component. If target or compare is
// set, the entity must also have this target, or a value for which the comparison holds.
type alternative struct {
	column  *Column // nil for the name of the entity
	target  *Target
	compare *comparison
}

// Compile resolves the names of components and fields in a query. Its errors are of type [*Error].
func Compile(q *Query, s *Schema) (*Plan, error) {
	p := &Plan{text: q.String()}
	for i := range q.Terms {
		if err := p.add(&q.Terms[i], s); err != nil {
			return nil, err
		}
	}
	return p, p.simplify(q)
}

// Shown returns the columns of all terms that are not negated. A list of matches shows these columns.
func (p *Plan) Shown() []*Column { return p.shown }

// Text returns the query in canonical form: queries with the same terms in the same order have the same text.
func (p *Plan) Text() string { return p.text }

func (p *Plan) add(t *Term, s *Schema) error {
	var either []alternative
	plain := true
	for i := range t.Either {
		a, err := compileAtom(&t.Either[i], s)
		if err != nil {
			return err
		}
		plain = plain && a.column != nil && a.target == nil && a.compare == nil
		either = append(either, a)
		if a.column != nil && !t.Not && !slices.Contains(p.shown, a.column) {
			p.shown = append(p.shown, a.column)
		}
	}
	one := either[0]
	switch {
	case t.Optional:
		if one.column == nil {
			return t.Span.errorf("the name is always shown: remove this term")
		}
	case t.Not && plain:
		p.minus = appendNew(p.minus, one.column)
	case plain && len(either) == 1:
		p.with = appendNew(p.with, one.column)
	case plain:
		var group []*Column
		for _, a := range either {
			group = appendNew(group, a.column)
		}
		p.any = append(p.any, group)
	case !t.Not && len(either) == 1 && one.target != nil:
		return p.addTarget(one)
	default:
		if !t.Not && len(either) == 1 && one.column != nil {
			p.with = appendNew(p.with, one.column)
		}
		p.tests = append(p.tests, test{t.Not, either})
	}
	return nil
}

func appendNew(columns []*Column, c *Column) []*Column {
	if slices.Contains(columns, c) {
		return columns
	}
	return append(columns, c)
}

func (p *Plan) addTarget(a alternative) error {
	for _, w := range p.to {
		if w.column == a.column {
			if *w.target == (Target{ID: a.target.ID, Name: a.target.Name, Span: w.target.Span}) {
				return nil
			}
			return a.target.Span.errorf("an entity has one target in %s: for either target write "+
				"%[1]s(…) | %[1]s(…)", a.column.Text())
		}
	}
	p.to = append(p.to, wanted{a.column, a.target})
	return nil
}

func compileAtom(a *Atom, s *Schema) (alternative, error) {
	c, known, err := s.find(a.Name, a.Number, a.NameSpan)
	if err != nil {
		if !known && strings.EqualFold(a.Name, nameOfEntities) && a.Target == nil && len(a.Fields) == 0 {
			part := &Part{Kind: KindString}
			if a.Op == "" {
				return alternative{compare: &comparison{kind: KindString, op: opNamed, slots: stepSlow}}, nil
			}
			compare, err := compileComparison(a, part)
			return alternative{compare: compare}, err
		}
		return alternative{}, err
	}
	switch {
	case a.Target != nil && !c.Relation:
		return alternative{}, a.Target.Span.errorf("%s is not a relation and has no targets: write %s",
			c.Label(), c.Text())
	case a.Target != nil && a.Target.Any:
		return alternative{column: c}, nil
	case a.Target != nil:
		return alternative{column: c, target: a.Target}, nil
	case a.Op == "":
		return alternative{column: c}, nil
	}
	at := a.NameSpan
	if len(a.Fields) > 0 {
		at = a.FieldsSpan
	}
	part, err := c.value(a.Fields, at)
	if err != nil {
		return alternative{}, err
	}
	compare, err := compileComparison(a, part)
	if err != nil {
		return alternative{}, err
	}
	compare.reach(c, part)
	return alternative{column: c, compare: compare}, nil
}

// simplify removes redundant conditions, and reports conditions that contradict each other.
func (p *Plan) simplify(q *Query) error {
	for _, w := range p.to {
		p.with = appendNew(p.with, w.column)
	}
	for _, c := range p.minus {
		if slices.Contains(p.with, c) {
			return q.spanOf(c).errorf("%s is both required and excluded: remove one of the terms", c.Text())
		}
	}
	var groups [][]*Column
	for _, group := range p.any {
		group = slices.DeleteFunc(slices.Clone(group), func(c *Column) bool {
			return slices.Contains(p.minus, c)
		})
		switch {
		case len(group) == 0:
			return q.spanOf(p.minus[len(p.minus)-1]).errorf("all alternatives are excluded: remove a term")
		case len(group) == 1:
			p.with = appendNew(p.with, group[0])
		default:
			groups = append(groups, group)
		}
	}
	p.any = slices.DeleteFunc(groups, func(group []*Column) bool {
		return slices.ContainsFunc(group, func(c *Column) bool { return slices.Contains(p.with, c) })
	})
	return nil
}

// spanOf returns the span of the term that excludes a column.
func (q *Query) spanOf(c *Column) Span {
	for _, t := range q.Terms {
		if a := t.Either[0]; t.Not && strings.EqualFold(a.Name, c.Name()) &&
			(a.Number == "" || a.Number == c.number()) {
			return t.Span
		}
	}
	return Span{}
}

// query returns a query with the plan's conditions on components, one more required column, and the given
// targets. more may be nil.
func (p *Plan) query(w *vast.World, more *Column, to []bound) vast.Query {
	var with, minus []vast.AnyColumn
	has := p.with
	if more != nil {
		has = appendNew(slices.Clip(has), more)
	}
	for _, c := range has {
		with = append(with, c.AnyColumn)
	}
	for _, c := range p.minus {
		minus = append(minus, c.AnyColumn)
	}
	q := w.Query(with...).Without(minus...)
	for _, group := range p.any {
		if more == nil || !slices.Contains(group, more) {
			var cols []vast.AnyColumn
			for _, c := range group {
				cols = append(cols, c.AnyColumn)
			}
			q = q.Any(cols...)
		}
	}
	for _, t := range to {
		q = q.To(t.relation, t.target)
	}
	return q
}
