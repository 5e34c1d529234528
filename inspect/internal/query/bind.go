package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Names say what entities are called, as inspect.Namer does.
type Names interface {
	Name(e vast.Entity) (string, bool)
	Find(name string) (vast.Entity, bool)
	Suggest(prefix string, most int) []Suggestion
}

// Suggestion is a name that may be meant.
type Suggestion struct {
	Name, Detail string
	Entity       vast.Entity
}

// Search is a plan with its targets found. It is for one goroutine at a time, where the world may be read.
type Search struct {
	names  Names
	base   vast.Query
	tests  []boundTest
	slots  int      // of a step
	key    string   // what was found for the targets
	passed []uint64 // by a test, in the step at work
}

// bound is a target that was found.
type bound struct {
	column   *Column
	relation vast.Relation
	target   vast.Entity
}

// boundTest is a test whose alternatives can be run.
type boundTest struct {
	not    bool
	either []boundAlternative
}

// boundAlternative is an alternative with its query, which asks for all that the rest of the text does too.
type boundAlternative struct {
	alternative
	query vast.Query
	value vast.Entity // what entities are compared with
}

const (
	fewSources = 1024 // of a target: so many are listed
	fewNames   = 256  // that begin alike: so many are listed
)

// Bind looks up the targets. Its errors are of type [*Error]. names may be nil where entities have none; own says that they
// are those of the world itself.
func (p *Plan) Bind(w *vast.World, names Names, own bool) (*Search, error) {
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
	p.listNamed(w, s, own)
	if n := p.alternatives(); n > 4 { // that many take longer
		s.slots = max(64, s.slots*4/n&^63)
	}
	return s, nil
}

// alternatives returns how many take a look at values or targets.
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

// findEntity returns the living entity with an ID or else a name.
func findEntity(w *vast.World, names Names, id, name string, at Span) (vast.Entity, error) {
	if id != "" {
		slot, generation, _ := strings.Cut(id, ".")
		n, err := strconv.ParseUint(slot, 10, 31)
		if e, ok := probe.EntityAt(w, int(n)); ok && err == nil && e.String() == slot+"."+strings.TrimLeft(generation, "0") {
			return e, nil
		}
		return vast.Entity{}, at.errorf("no entity %s is alive", id)
	}
	if names == nil {
		return vast.Entity{}, at.errorf("the entities of this world have no names: write an ID such as 17.3")
	}
	if e, ok := names.Find(name); ok {
		return e, nil
	}
	return vast.Entity{}, at.errorf("nothing is called %q%s", name, alike(names, name))
}

// alike proposes a name that is spelled almost like one that there is not. What follows a comma, such as a country, need not
// be written.
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
			continue // no entity that the rest asks for has it
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
				if c.op == opEqual { // names may find more than what they call an entity in full
					target, _ = s.names.Find(c.text)
				}
			}
		}
		b.either = append(b.either, boundAlternative{a, q, target})
	}
	return b, nil
}

// listNamed keeps a search for the one or few entities of a name to these, where the names can list them.
func (p *Plan) listNamed(w *vast.World, s *Search, own bool) {
	if s.names == nil {
		return
	}
	namesColumn := -1 // others may be called Name, too
	if n, ok := probe.NamesOf(w); ok && own {
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
		if !own { // others may have the same name
			alike := s.names.Suggest(c.text, fewNames)
			if len(alike) >= fewNames {
				continue // and there may be more
			}
			for _, one := range alike {
				list = append(list, one.Entity)
			}
		}
		s.base = s.base.Among(list)
		s.slots = max(s.slots, stepCompared) // few values are got, wherever they are
		return
	}
}
