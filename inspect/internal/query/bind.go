package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Names finds the names of entities, and entities by their names, like inspect.Namer.
type Names interface {
	Name(e vast.Entity) (string, bool)
	Find(name string) (vast.Entity, bool)
	Suggest(prefix string, most int) []Suggestion
}

// Suggestion is a name that completes a prefix.
type Suggestion struct {
	Name, Detail string
	Entity       vast.Entity
}

// Search is a plan whose targets are found. Use a Search on one goroutine at a time, while the world may be
// read.
type Search struct {
	names  Names
	base   vast.Query
	tests  []boundTest
	slots  int      // number of slots to search in a step
	key    string   // IDs of the bound targets
	passed []uint64 // scratch bits of a test
}

// bound is a target that Bind has found.
type bound struct {
	column   *Column
	relation vast.Relation
	target   vast.Entity
}

// boundTest is a test with bound alternatives.
type boundTest struct {
	not    bool
	either []boundAlternative
}

// boundAlternative is an alternative whose target is found. The query has the plan's conditions on components
// and targets, and those of the alternative.
type boundAlternative struct {
	alternative
	query vast.Query
	value vast.Entity // entity to compare with
}

const (
	fewSources = 1024 // limit of the sources of a target that Bind lists
	fewNames   = 256  // limit of the names with one prefix that Bind lists
)

// Bind finds the entities that the plan names. Its errors are of type [*Error]. names is nil if entities have
// no names. worldNames reports whether names is the world's vast.Names.
func (p *Plan) Bind(w *vast.World, names Names, worldNames bool) (*Search, error) {
	s := &Search{names: names, slots: stepPlain}
	var to []bound
	for _, t := range p.to {
		b, err := bindTarget(w, names, t.column, t.target)
		if err != nil {
			return nil, err
		}
		to = append(to, b)
		s.key += " " + b.target.String()
	}
	s.base = p.query(w, nil, to)
	for _, t := range p.tests {
		b, err := p.bindTest(w, s, t, to)
		if err != nil {
			return nil, err
		}
		s.tests = append(s.tests, b)
	}
	for i, t := range to {
		if t.relation.CountSources(t.target) <= fewSources {
			s.base = s.base.Among(slices.Collect(t.relation.Sources(t.target)))
			break
		}
		if i == len(to)-1 {
			s.slots = min(s.slots, stepRelated)
		}
	}
	p.listNamed(w, s, worldNames)
	if n := p.alternatives(); n > 4 { // a slot takes longer with many alternatives
		s.slots = max(64, s.slots*4/n&^63)
	}
	return s, nil
}

// alternatives returns the number of alternatives of all tests.
func (p *Plan) alternatives() (n int) {
	for _, t := range p.tests {
		n += len(t.either)
	}
	return n
}

func bindTarget(w *vast.World, names Names, c *Column, t *Target) (bound, error) {
	b := bound{column: c}
	b.relation, _ = probe.RelationOf(c.AnyColumn)
	var err error
	b.target, err = findEntity(w, names, t.ID, t.Name, t.Span)
	return b, err
}

// findEntity returns the living entity with an ID or, if id is empty, with a name.
func findEntity(w *vast.World, names Names, id, name string, at Span) (vast.Entity, error) {
	if id != "" {
		slot, generation, _ := strings.Cut(id, ".")
		n, err := strconv.ParseUint(slot, 10, 31)
		if e, ok := probe.EntityAt(w, int(n)); ok && err == nil &&
			e.String() == slot+"."+strings.TrimLeft(generation, "0") {
			return e, nil
		}
		return vast.Entity{}, at.errorf("no living entity has the ID %s", id)
	}
	if names == nil {
		return vast.Entity{}, at.errorf("the entities of this world have no names: write an ID such as 17.3")
	}
	if e, ok := names.Find(name); ok {
		return e, nil
	}
	return vast.Entity{}, at.errorf("no entity has the name %q%s", name, alike(names, name))
}

// alike returns a hint with an existing name of similar spelling, or "" if there is none. The given name may
// lack the part after a comma, such as a country.
func alike(names Names, name string) string {
	letters := []rune(name)
	if len(letters) < 2 {
		return ""
	}
	short := make(map[string]string)
	var list []string
	for _, s := range names.Suggest(string(letters[:2]), fewNames) {
		first, _, _ := strings.Cut(s.Name, ",")
		for _, text := range []string{s.Name, first} {
			if short[text] == "" {
				short[text] = s.Name
				list = append(list, text)
			}
		}
	}
	best := nearest(name, list)
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %s?", quoteTarget(short[best]))
}

func (p *Plan) bindTest(w *vast.World, s *Search, t test, to []bound) (boundTest, error) {
	b := boundTest{not: t.not}
	for _, a := range t.either {
		if a.column != nil && slices.Contains(p.minus, a.column) {
			continue // no match has the column
		}
		q := s.base
		target := vast.Entity{}
		switch {
		case a.target != nil:
			found, err := bindTarget(w, s.names, a.column, a.target)
			if err != nil {
				return b, err
			}
			if i := slices.IndexFunc(to, func(o bound) bool { return o.column == a.column }); i < 0 {
				q = p.query(w, a.column, append(slices.Clip(to), found))
			} else if to[i].target != found.target {
				continue
			}
			s.slots = min(s.slots, stepCompared)
		case a.column != nil && !slices.Contains(p.with, a.column):
			q = p.query(w, a.column, to)
		}
		if c := a.compare; c != nil {
			s.slots = min(s.slots, c.slots)
			if c.kind == KindEntity {
				var err error
				if target, err = findEntity(w, s.names, c.id, c.text, c.at); err != nil {
					return b, err
				}
			}
			if a.column == nil {
				if s.names == nil {
					return b, c.at.errorf("the entities of this world have no names")
				}
				if c.op == opEqual { // Find may also accept other names than the full name
					target, _ = s.names.Find(c.text)
				}
			}
		}
		b.either = append(b.either, boundAlternative{a, q, target})
	}
	return b, nil
}

// listNamed narrows a search for one name down to the entities with that name. If s.names cannot list all of
// these entities, the search stays unchanged.
func (p *Plan) listNamed(w *vast.World, s *Search, worldNames bool) {
	if s.names == nil {
		return
	}
	namesColumn := -1 // another component may be called Name too
	if n, ok := probe.NamesOf(w); ok && worldNames {
		namesColumn = probe.Describe(n).ID
	}
	for _, t := range p.tests {
		a := t.either[0]
		c := a.compare
		if t.not || len(t.either) > 1 || c == nil || c.kind != KindString || c.op != opEqual || c.not {
			continue
		}
		if a.column != nil && a.column.ID != namesColumn {
			continue
		}
		var list []vast.Entity
		if e, ok := s.names.Find(c.text); ok {
			list = append(list, e)
		}
		if !worldNames { // other entities may have the same name
			alike := s.names.Suggest(c.text, fewNames)
			if len(alike) >= fewNames {
				continue // the list may be incomplete
			}
			for _, one := range alike {
				list = append(list, one.Entity)
			}
		}
		s.base = s.base.Among(list)
		s.slots = max(s.slots, stepCompared) // only the values of the listed entities are read
		return
	}
}
