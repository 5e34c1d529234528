package query

import (
	"slices"
	"strings"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Plan is a query compiled for a world's columns.
type Plan struct {
	with    []*Column   // columns that an entity must have
	without []*Column   // columns that an entity must not have
	any     [][]*Column // groups of columns; an entity must have a column of each group
	targets []requiredTarget
	tests   []test
	shown   []*Column
	text    string

	namesDisabled bool
}

type requiredTarget struct {
	column *Column
	target *Target
}

// test is a term that the other fields of a Plan cannot express.
type test struct {
	not    bool          // whether the term is negated
	either []alternative // at least one must hold; in a negated term, all must fail
}

// alternative is a condition on an entity.
type alternative struct {
	column  *Column     // component that the entity must have; nil for the entity's name
	target  *Target     // target that the entity must have; nil for any target
	compare *comparison // condition on the component or name; nil for none
	join    *join       // condition on the target or the ancestors; nil for none
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

// Shown returns the columns that a list of matches shows: those of all terms without negation.
func (p *Plan) Shown() []*Column { return p.shown }

// NamesDisabled reports whether the query names a tag of a vast.Disabled outside the brackets of where and
// up. Such a tag can change without a structural change of the world.
func (p *Plan) NamesDisabled() bool { return p.namesDisabled }

// Text returns the query in canonical form. Two queries have the same text if they differ only in spaces
// and in the spelling of operators, such as "and" for ",".
func (p *Plan) Text() string { return p.text }

func (p *Plan) add(t *Term, s *Schema) error {
	var either []alternative
	plain := true
	for i := range t.Either {
		a, err := compileAtom(&t.Either[i], s)
		if err != nil {
			return err
		}
		plain = plain && a.column != nil && a.target == nil && a.compare == nil && a.join == nil
		either = append(either, a)
		if a.column != nil && !t.Not && !slices.Contains(p.shown, a.column) {
			p.shown = append(p.shown, a.column)
		}
		p.namesDisabled = p.namesDisabled || a.column != nil && a.column.Disabled
	}
	one := either[0]
	switch {
	case t.Optional:
		if one.column == nil {
			return t.Span.errorf("the name is always shown: remove this term")
		}
	case t.Not && plain:
		p.without = appendNew(p.without, one.column)
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
	for _, w := range p.targets {
		if w.column == a.column {
			if *w.target == (Target{ID: a.target.ID, Name: a.target.Name, Span: w.target.Span}) {
				return nil
			}
			return a.target.Span.errorf("an entity has one target in %s: for either target write "+
				"%[1]s(…) | %[1]s(…)", a.column.Text())
		}
	}
	p.targets = append(p.targets, requiredTarget{a.column, a.target})
	return nil
}

func compileAtom(a *Atom, s *Schema) (alternative, error) {
	c, known, err := s.find(a.Name, a.Number, a.NameSpan)
	if err != nil {
		if !known && strings.EqualFold(a.Name, nameOfEntities) && a.Join == "" && a.Target == nil &&
			len(a.Fields) == 0 {
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
	case a.Join != "":
		return compileJoin(a, c, s)
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

// simplify removes redundant conditions. It returns an error if conditions contradict each other.
func (p *Plan) simplify(q *Query) error {
	for _, w := range p.targets {
		p.with = appendNew(p.with, w.column)
	}
	for _, c := range p.without {
		if slices.Contains(p.with, c) {
			return q.spanOf(c).errorf("%s is both required and excluded: remove one of the terms", c.Text())
		}
	}
	var groups [][]*Column
	for _, group := range p.any {
		group = slices.DeleteFunc(slices.Clone(group), func(c *Column) bool {
			return slices.Contains(p.without, c)
		})
		switch {
		case len(group) == 0:
			last := p.without[len(p.without)-1]
			return q.spanOf(last).errorf("all alternatives are excluded: remove a term")
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

// query returns a query with the plan's conditions on components and with the given targets. If more is not
// nil, an entity must also have that column.
func (p *Plan) query(w *vast.World, more *Column, targets []bound) vast.Query {
	var with, without []vast.AnyColumn
	has := p.with
	if more != nil {
		has = appendNew(slices.Clip(has), more)
	}
	for _, c := range has {
		with = append(with, c.AnyColumn)
	}
	for _, c := range p.without {
		without = append(without, c.AnyColumn)
	}
	q := probe.All(w.Query(with...)).Without(without...)
	for _, group := range p.any {
		if more == nil || !slices.Contains(group, more) {
			var cols []vast.AnyColumn
			for _, c := range group {
				cols = append(cols, c.AnyColumn)
			}
			q = q.Any(cols...)
		}
	}
	for _, t := range targets {
		q = q.To(t.relation, t.target)
	}
	return q
}
