package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Names gives entities names. Its methods are those of inspect.Namer.
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

// Search is a plan with the targets that Bind has found. Use a Search on one goroutine at a time, and only
// while this goroutine may read the world.
type Search struct {
	names  Names
	base   vast.Query
	tests  []boundTest
	slots  int      // result of Step
	key    string   // result of Key
	passed []uint64 // scratch memory of Words
}

// bound is a target that Bind has found.
type bound struct {
	column   *Column
	relation vast.Relation
	target   vast.Entity
}

type boundTest struct {
	not    bool
	either []boundAlternative
}

// boundAlternative is an alternative with the entities that Bind has found.
type boundAlternative struct {
	alternative
	query    vast.Query    // the plan's and the alternative's conditions on components and targets
	value    vast.Entity   // entity to compare with
	world    *vast.World   // for a join
	relation vast.Relation // of a join
}

const (
	maxSources = 1024 // Bind lists the sources of a target only if there are at most maxSources
	maxNames   = 256  // largest number of names with one prefix that Bind asks for
)

// Bind finds the entities that the plan names. Its errors are of type [*Error]. names may be nil. worldNames
// tells whether names is the world's vast.Names.
func (p *Plan) Bind(w *vast.World, names Names, worldNames bool) (*Search, error) {
	s := &Search{names: names, slots: stepPlain}
	var targets []bound
	for _, t := range p.targets {
		b, err := bindTarget(w, names, t.column, t.target)
		if err != nil {
			return nil, err
		}
		targets = append(targets, b)
		s.key += " " + b.target.String()
	}
	s.base = p.query(w, nil, targets)
	for _, t := range p.tests {
		b, err := p.bindTest(w, s, t, targets)
		if err != nil {
			return nil, err
		}
		s.tests = append(s.tests, b)
	}
	for i, t := range targets {
		if t.relation.CountSources(t.target) <= maxSources {
			s.base = s.base.Among(slices.Collect(t.relation.Sources(t.target)))
			break
		}
		if i == len(targets)-1 {
			s.slots = min(s.slots, stepRelated)
		}
	}
	p.listNamed(w, s, worldNames)
	if n := p.alternatives(); n > 4 { // each alternative adds time for a slot
		s.slots = max(64, s.slots*4/n&^63)
	}
	return s, nil
}

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

// findEntity returns the living entity with an ID. If id is empty, it returns the entity with a name.
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
	return vast.Entity{}, at.errorf("no entity has the name %q%s", name, nameHint(names, name))
}

// nameHint returns a hint with the most similar name, or "" if no name is similar. It also compares with the
// part of each name before a comma, because names such as "Paris, FR" may include a country.
func nameHint(names Names, name string) string {
	letters := []rune(name)
	if len(letters) < 2 {
		return ""
	}
	full := make(map[string]string)
	var list []string
	for _, s := range names.Suggest(string(letters[:2]), maxNames) {
		first, _, _ := strings.Cut(s.Name, ",")
		for _, text := range []string{s.Name, first} {
			if full[text] == "" {
				full[text] = s.Name
				list = append(list, text)
			}
		}
	}
	best := nearest(name, list)
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %s?", quoteTarget(full[best]))
}

func (p *Plan) bindTest(w *vast.World, s *Search, t test, targets []bound) (boundTest, error) {
	b := boundTest{not: t.not}
	for _, a := range t.either {
		if a.column != nil && slices.Contains(p.without, a.column) {
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
			if i := slices.IndexFunc(targets, func(o bound) bool { return o.column == a.column }); i < 0 {
				q = p.query(w, a.column, append(slices.Clip(targets), found))
			} else if targets[i].target != found.target {
				continue
			}
			s.slots = min(s.slots, stepCompared)
		case a.column != nil && !slices.Contains(p.with, a.column):
			q = p.query(w, a.column, targets)
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
				if c.op == opEqual { // Find may accept more names than the full name
					target, _ = s.names.Find(c.text)
				}
			}
		}
		one := boundAlternative{alternative: a, query: q, value: target, world: w}
		if a.join != nil {
			one.relation, _ = probe.RelationOf(a.column.AnyColumn)
			s.slots = min(s.slots, stepSlow)
		}
		b.either = append(b.either, one)
	}
	return b, nil
}

// listNamed restricts a search for one name to the entities that s.names lists for this name. If the list may
// be incomplete, listNamed changes nothing.
func (p *Plan) listNamed(w *vast.World, s *Search, worldNames bool) {
	if s.names == nil {
		return
	}
	namesColumn := -1 // ID of the column of w.Names; other columns may also be called Name
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
			alike := s.names.Suggest(c.text, maxNames)
			if len(alike) >= maxNames {
				continue
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
