package metamorphic

import (
	"fmt"
	"slices"

	"github.com/vastgo/vast"
)

// join returns q with a further condition, which n selects: an entity must have a target that matches another
// query, or an ancestor with a component.
func (p *player) join(q vast.Query, n uint16) vast.Query {
	targets := p.baseQuery(n / 4)
	switch n % 4 {
	case 0:
		return q.Where(p.parent, targets)
	case 1:
		return q.Where(p.aim, targets)
	case 2:
		return q.Where(p.roads, targets)
	}
	return q.Up(p.parent, []vast.AnyColumn{p.tag, p.columns[0].In(), p.aim.TargetColumn()}[n/4%3])
}

// askLinks writes the targets and the nearest matching ancestors of a query's entities to the output.
func (p *player) askLinks(q vast.Query) {
	var pairs []string
	for s, t := range p.aim.Pairs(q) {
		pairs = append(pairs, fmt.Sprint(p.keyOf(s.Entity()), p.keyOf(t.Entity())))
	}
	for s := range q.Slots() {
		if above, ok := p.parent.Nearest(s, q); ok {
			pairs = append(pairs, fmt.Sprint(p.keyOf(s.Entity()), "below", p.keyOf(above.Entity())))
		}
	}
	slices.Sort(pairs)
	p.see("pairs", pairs)
}
