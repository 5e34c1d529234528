package metamorphic

import (
	"fmt"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/group"
	"github.com/vastgo/vast/shared"
)

// kinds is the number of values of the shared column.
const kinds = 4

// newGroups makes a group of each plain query, if the configuration has Grouping.
func (p *player) newGroups() {
	p.groups = nil
	for _, q := range p.plainQueries() {
		if p.Grouping {
			p.groups = append(p.groups, group.New(q))
		}
	}
}

// plainQueries returns the queries whose matches a group can keep.
func (p *player) plainQueries() []vast.Query {
	w, a, b := p.world, p.columns[0].In(), p.columns[1].In()
	return []vast.Query{w.Query(a), w.Query(b).Without(a), w.Query(p.tag).Any(a, b),
		p.kind.Where(w.Query(p.key), 0)}
}

// classify changes the shared value of entity e, gives a value to all entities of a query, or replaces one
// value in all entities that have it.
func (p *player) classify(op Op, e vast.Entity) {
	v := uint64(op.V / 8 % kinds)
	switch op.V % 8 {
	case 0:
		p.see("Remove", p.kind.Remove(e))
	case 1:
		p.see("Set", p.kind.Set(e, v))
	case 2:
		p.see("AddAll", p.kind.AddAll(p.query(op.B), v))
	case 3:
		p.see("SetAll", p.kind.SetAll(p.query(op.B), v))
	case 4:
		p.kind.Replace(uint64(op.B%kinds), v)
	default:
		p.see("Add", p.kind.Add(e, v))
	}
}

// askGroups records the entities of a query, grouped by their shared values and by their targets.
func (p *player) askGroups(q vast.Query) {
	var grouped []string
	see := func(of any, r vast.Run) {
		for _, e := range r.All() {
			grouped = append(grouped, fmt.Sprint(of, p.keyOf(e)))
		}
	}
	for v, r := range p.kind.GroupBy(q) {
		see(v, r)
	}
	for target, r := range shared.GroupByTarget(q, p.aim) {
		see(p.keyOf(target), r)
	}
	slices.Sort(grouped)
	p.see("groups", grouped)
}

// regroup moves entities, so that those with the same components, values or targets lie together.
func (p *player) regroup() {
	by := []vast.AnyColumn{nil, p.kind, p.aim}[p.at%3]
	p.world.Regroup(p.world.Query(p.key), vast.MoveOptions{By: by})
	p.find()
	p.watch.skip() // moved entities leave and enter
}

// moved renews the references that the world does not see.
func (p *player) moved(old, new vast.Entity) {
	if i := slices.Index(p.prefabs.roots, old); i >= 0 {
		p.prefabs.roots[i] = new
	}
	p.watch.moved(old, new)
}
