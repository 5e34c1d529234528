package prefab

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/vastgo/vast"
)

// Apply carries the changes that the program has made to the template, since the last Apply or Mark, to all
// instances, as the package documentation says. It returns the number of changes in entities of instances:
// fields, components, links, edges, and entities that were copied or deleted. Apply also applies the
// templates that contain instances of t, such as variants. If t is stale, Apply changes nothing.
//
// Apply panics if a template would contain itself, or a node of another template. It returns an error that
// wraps a [*vm.Error] if the world has no room for the changes of a template. In this case, the instances of
// this template and of the templates that come later are unchanged, and the earlier templates are applied.
// Call Apply again when there is room. If a callback panics, Apply stops between two changes, and a later
// Apply makes the other changes.
//
// Complexity: the number of changed fields times the number of instances, a few steps for each component of
// the template, and one step for each entity of an instance if nodes, links, edges or references have
// changed.
func (t Template) Apply() (changes int, err error) {
	if _, ok := t.prepare("prefab.Template.Apply"); !ok {
		return 0, nil
	}
	order := t.p.dependents(t.root)
	for _, root := range order {
		t.p.mustBeSound(root)
	}
	for _, root := range order {
		n, err := t.p.apply(root)
		changes += n
		if err != nil {
			return changes, fmt.Errorf("prefab: applying the template with root %v: %w", root, err)
		}
	}
	return changes, nil
}

// dependents returns a template and the templates that contain its instances, directly or through others.
// Each template comes before the templates that contain its instances.
func (p *Prefabs) dependents(root vast.Entity) (order []vast.Entity) {
	seen := make(map[vast.Entity]bool)
	var visit func(root vast.Entity)
	visit = func(root vast.Entity) {
		seen[root] = true
		for b := range p.root.Sources(root) {
			for e := range p.of.Sources(b) {
				if !p.tag.Has(e) {
					continue
				}
				for other := range p.node.Sources(e) {
					if next, _ := p.root.Target(other); !seen[next] {
						visit(next)
					}
				}
			}
		}
		order = append(order, root)
	}
	visit(root)
	slices.Reverse(order)
	return order
}

// mustBeSound panics if the program has put something into a template that cannot become a node of it.
func (p *Prefabs) mustBeSound(root vast.Entity) {
	var dependents []vast.Entity
	for _, n := range p.subtree(root) {
		if p.node.CountSources(n) > 0 {
			b := slices.Collect(p.node.Sources(n))[0]
			if owner, _ := p.root.Target(b); owner == root {
				continue
			}
		}
		p.mustBeFree("Template.Apply", n)
		b, _ := p.of.Target(n)
		inner, ok := p.root.Target(b)
		if !ok {
			continue
		}
		if dependents == nil {
			dependents = p.dependents(root)
		}
		if slices.Contains(dependents, inner) {
			panic(fmt.Sprintf("prefab: Template.Apply: the template with root %v contains entity %v, an "+
				"instance of the template with root %v, which contains the first one: remove the "+
				"instance", root, n, inner))
		}
	}
}

// copiesOf returns the entities of instances that are copies of a base.
func (p *Prefabs) copiesOf(base vast.Entity) []vast.Entity {
	return slices.AppendSeq(make([]vast.Entity, 0, p.of.CountSources(base)), p.of.Sources(base))
}

// change is a change of one node.
type change struct {
	kind      changeKind
	node      int            // number of the node in the family
	rank      int            // changes of a node are made in the order of ranks
	column    *column        // not for a link; for an edge it describes the values
	field     part           // of changedField
	link      vast.Relation  // of changedLink
	edges     *edges         // of changedEdge
	ends      [2]vast.Entity // targets before and after, zero for none, bases for nodes; edge: only ends[1]
	before    reflect.Value  // values before and after, with bases in place of nodes; zero for none
	after     reflect.Value
	hierarchy bool          // of changedLink: whether link is a hierarchy
	refers    bool          // whether entities of different instances get different values
	on        []vast.Entity // entities of instances for which the change is considered
}

type changeKind uint8

const (
	addedComponent changeKind = iota
	removedComponent
	changedField
	changedLink
	changedEdge // an edge that is added, removed, or has another value
)

// plan returns the changes of node number i.
func (f *family) plan(i int) (changes []change) {
	node, base := f.nodes[i], f.bases[i]
	var on []vast.Entity
	add := func(c change) {
		if on == nil {
			on = f.p.copiesOf(base)
		}
		c.node, c.on = i, on
		changes = append(changes, c)
	}
	for k := range f.p.columns {
		c := &f.p.columns[k]
		before, had := c.value(base)
		after, has := c.value(node)
		if has {
			after = f.translated(c, after, f.nodes, f.bases)
		}
		switch one := (change{column: c, before: before, after: after, refers: c.refers}); {
		case has && !had:
			// An addition adds required components with zeros, so these come first, with their values.
			one.kind, one.rank = addedComponent, engine.Required(c.of)
			add(one)
		case had && !has:
			one.kind, one.rank = removedComponent, math.MaxInt // an addition may require the component
			add(one)
		case has:
			one.kind = changedField
			c.differing(before, after, func(field part) bool {
				one.field = field
				one.refers = c.refers && (c.heap || field.typ == typeEntity)
				add(one)
				return true
			})
		}
	}
	for _, r := range f.p.relations {
		if f.isPlace(r, i) {
			continue
		}
		before, _ := r.Target(base)
		after, _ := r.Target(node)
		if at, ok := f.numbers[after]; ok {
			after = f.bases[at]
		}
		if before != after {
			add(change{kind: changedLink, link: r, hierarchy: slices.Contains(f.p.hierarchies, r),
				ends: [2]vast.Entity{before, after}, refers: true})
		}
	}
	for k := range f.p.edges {
		f.p.edges[k].plan(f, i, add)
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.rank, b.rank) })
	// An addition also adds required components. So find now, before the first addition, the entities that
	// lack the component.
	for k := range changes {
		if c := &changes[k]; c.kind == addedComponent {
			c.on = slices.DeleteFunc(slices.Clone(c.on), func(e vast.Entity) bool {
				_, has := c.column.value(e)
				return has
			})
		}
	}
	return changes
}
