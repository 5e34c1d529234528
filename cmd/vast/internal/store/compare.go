package store

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// maxListed bounds the list of a difference: it has at most maxListed entities that went or changed, and at
// most 2*maxListed entities in all.
const maxListed = 200

// difference holds the changes between two moments.
type difference struct {
	Came     int       `json:"came"`    // entities that exist only in the second moment
	Went     int       `json:"went"`    // entities that exist only in the first moment
	Changed  int       `json:"changed"` // entities whose components differ
	Columns  []counted `json:"columns"`
	Entities []differs `json:"entities"` // at most 2*maxListed entities that came, went or changed
}

// counted has the numbers of components of a column that came, went and changed.
type counted struct {
	Name    string `json:"name"`
	Came    int    `json:"came"`
	Went    int    `json:"went"`
	Changed int    `json:"changed"`
}

// differs is an entity that came, went or changed.
type differs struct {
	ID    string  `json:"id"`
	Name  string  `json:"name,omitempty"`
	What  string  `json:"what"` // came, went or changed
	Parts []texts `json:"parts,omitempty"`
}

// texts has the texts of a component in both moments.
type texts struct {
	Column string `json:"column"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// pair is a column in both moments. A column that does not exist in a moment is nil.
type pair struct {
	name          string
	before, after vast.AnyColumn
	counted       *counted
}

// compare compares two states of a world. Complexity: one step for each pair of an entity and a column, and
// the time to read the components that both states have.
func compare(before, after *vast.World) *difference {
	d := &difference{Entities: []differs{}}
	pairs := pairsOf(before, after)
	d.Columns = make([]counted, len(pairs))
	for i := range pairs {
		d.Columns[i].Name = pairs[i].name
		pairs[i].counted = &d.Columns[i]
	}
	for e := range probe.All(before.Query()).All() {
		entity := differs{ID: e.String(), What: "changed"}
		alive, listed := after.Alive(e), len(d.Entities) < maxListed
		changed := false
		for _, p := range pairs {
			part, same := p.compare(e, alive, listed && alive)
			changed = changed || !same
			if !same && listed && alive {
				entity.Parts = append(entity.Parts, part)
			}
		}
		switch {
		case !alive:
			d.Went++
			entity.What = "went"
		case changed:
			d.Changed++
		default:
			continue
		}
		if listed {
			entity.Name = nameOf(before, e)
			d.Entities = append(d.Entities, entity)
		}
	}
	for e := range probe.All(after.Query()).All() {
		if before.Alive(e) {
			continue
		}
		d.Came++
		for _, p := range pairs {
			if p.after != nil && has(p.after, e) {
				p.counted.Came++
			}
		}
		if len(d.Entities) < 2*maxListed {
			d.Entities = append(d.Entities, differs{ID: e.String(), Name: nameOf(after, e), What: "came"})
		}
	}
	return d
}

// pairsOf pairs the columns of two worlds by their names. It leaves out private columns, which hold no
// components.
func pairsOf(before, after *vast.World) []*pair {
	byName := make(map[string]*pair)
	var all []*pair
	for i, w := range []*vast.World{before, after} {
		for _, col := range probe.Columns(w) {
			if probe.Describe(col).Private {
				continue
			}
			p := byName[col.Name()]
			if p == nil {
				p = &pair{name: col.Name()}
				byName[p.name] = p
				all = append(all, p)
			}
			if i == 0 {
				p.before = col
			} else {
				p.after = col
			}
		}
	}
	slices.SortFunc(all, func(a, b *pair) int { return cmp.Compare(a.name, b.name) })
	return all
}

func has(col vast.AnyColumn, e vast.Entity) bool {
	return probe.Presence(probe.Describe(col).World, col, int(e.Slot()/64))>>(e.Slot()%64)&1 != 0
}

// compare compares the component of an entity in both moments, and counts a difference in p.counted. The
// entity must be alive in the first moment; alive tells whether it is alive in the second moment. If describe
// is false, part lacks the text of a component that came or went.
func (p *pair) compare(e vast.Entity, alive, describe bool) (part texts, same bool) {
	was := p.before != nil && has(p.before, e)
	is := alive && p.after != nil && has(p.after, e)
	switch {
	case was && !is:
		p.counted.Went++
	case is && !was:
		p.counted.Came++
	case !was:
		return texts{}, true
	default:
		a, b := component(p.before, e), component(p.after, e)
		if reflect.DeepEqual(a, b) {
			return texts{}, true
		}
		// DeepEqual returns false for a NaN and for values of different types. If the values have equal
		// texts, the components nevertheless count as equal.
		before, after := text(a), text(b)
		if before == after {
			return texts{}, true
		}
		p.counted.Changed++
		return texts{p.name, cut(before), cut(after)}, false
	}
	part.Column = p.name
	if describe && was {
		part.Before = cut(text(component(p.before, e)))
	} else if describe {
		part.After = cut(text(component(p.after, e)))
	}
	return part, false
}

// component returns a component as a value that can be compared and printed. For edges, the value is a list
// with one text for each target: the target and the value of the edge.
func component(col vast.AnyColumn, e vast.Entity) any {
	if edges, ok := probe.EdgesOf(col); ok {
		var list []string
		for target, v := range edges.Targets(e) {
			list = append(list, fmt.Sprintf("%v %v", target, v))
		}
		return list
	}
	if v, ok := probe.Value(col, e); ok {
		return v.Interface()
	}
	return nil
}

// maxText is the largest number of characters of a component's text that a difference shows.
const maxText = 300

func text(v any) string {
	var b strings.Builder
	write(&b, reflect.ValueOf(v))
	return b.String()
}

func cut(text string) string {
	if r := []rune(text); len(r) > maxText {
		text = string(r[:maxText]) + "…"
	}
	return text
}

// write writes a value. It writes the fields of a struct with their names, and omits blank fields.
func write(b *strings.Builder, v reflect.Value) {
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[vast.Entity]() {
		fmt.Fprintf(b, "%v", v)
		return
	}
	separator := ""
	b.WriteByte('{')
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name != "_" {
			fmt.Fprintf(b, "%s%s: ", separator, name)
			write(b, v.Field(i))
			separator = ", "
		}
	}
	b.WriteByte('}')
}

func nameOf(w *vast.World, e vast.Entity) string {
	if names, ok := probe.NamesOf(w); ok {
		name, _ := names.Of(e)
		return name
	}
	return ""
}
