package query

import (
	"slices"
	"strings"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// joins are the words that begin a term about a target or an ancestor, as in "where ChildOf(City, !Closed)"
// and "up PartOf(Ship)".
var joins = []string{"where", "up"}

// maxAncestors is the largest number of ancestors that a term with "up" examines for an entity. The limit
// bounds the time of a step of a search (search.go), and ends the walk in a relation with cycles.
const maxAncestors = 256

// Component is the name of a component in the brackets of a term with "where" or "up".
type Component struct {
	Not          bool // whether the target or ancestor must lack the component
	Name, Number string
	Span         Span
}

// isJoin reports whether the current token is "where" or "up" before the name of a relation.
func (p *parser) isJoin() bool {
	ahead := p.lexer
	next, err := ahead.next()
	return p.now.is(joins...) && err == nil && !next.is(keywords...) &&
		(next.sort == sortWord || next.sort == sortQuoted)
}

// components parses the brackets of a term with "where" or "up".
func (p *parser) components(join string) (list []Component, err error) {
	open := p.now
	if !open.is("(") {
		return nil, p.prevSpan.errorf("%s needs components in brackets, as in %[1]s ChildOf(Position)", join)
	}
	for len(list) == 0 || p.now.is(",", "and") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		c := Component{Not: p.now.is("!", "not")}
		if c.Not {
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
		if p.now.is(keywords...) || p.now.sort != sortWord && p.now.sort != sortQuoted {
			return nil, p.now.errorf("the name of a component is missing before %v", p.now)
		}
		if c.Name, c.Number, c.Span, err = p.name(); err != nil {
			return nil, err
		}
		list = append(list, c)
		p.count++
	}
	switch {
	case p.now.sort == sortEnd:
		return nil, open.errorf("the bracket is not closed: add )")
	case !p.now.is(")"):
		return nil, p.now.errorf("%v is not expected here: the brackets after %s hold names of components, "+
			"separated by commas", p.now, join)
	}
	return list, p.advance()
}

// writeComponents writes the brackets of a term with "where" or "up".
func (a *Atom) writeComponents(b *strings.Builder) {
	separator := "("
	for _, c := range a.Has {
		b.WriteString(separator)
		if c.Not {
			b.WriteByte('!')
		}
		b.WriteString(quoteName(c.Name) + c.Number)
		separator = ", "
	}
	b.WriteByte(')')
}

// join is a condition on the target or the ancestors of an entity.
type join struct {
	up    bool      // whether ancestors count
	has   []*Column // components that the target, or an ancestor, must have
	lacks []*Column // components that it must lack
}

func compileJoin(a *Atom, c *Column, s *Schema) (alternative, error) {
	if !c.Relation {
		return alternative{}, a.NameSpan.errorf("%s is not a relation: %s follows the targets of a relation",
			c.Label(), a.Join)
	}
	j := &join{up: a.Join == "up"}
	for _, one := range a.Has {
		named, _, err := s.find(one.Name, one.Number, one.Span)
		if err != nil {
			return alternative{}, err
		}
		if one.Not {
			j.lacks = append(j.lacks, named)
		} else {
			j.has = append(j.has, named)
		}
	}
	return alternative{column: c, join: j}, nil
}

// holds reports whether the target of e in a relation, or an ancestor, meets the condition.
func (j *join) holds(w *vast.World, r vast.Relation, e vast.Entity) bool {
	has := func(c *Column) bool {
		return probe.Presence(w, c.AnyColumn, int(e.Slot()/64))>>(e.Slot()%64)&1 != 0
	}
	lacks := func(c *Column) bool { return !has(c) }
	for n := 0; n == 0 || j.up && n < maxAncestors; n++ {
		target, ok := r.Target(e)
		if !ok {
			return false
		}
		e = target
		if !slices.ContainsFunc(j.has, lacks) && !slices.ContainsFunc(j.lacks, has) {
			return true
		}
	}
	return false
}
