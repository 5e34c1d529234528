package store

import (
	"reflect"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/state"
)

// readOrder is the order of the links into an entity, as the document lists their sources.
type readOrder struct {
	row     int   // row of the entity
	at      int   // position in the document, for errors
	sources []int // rows of the sources
}

// edges decodes the edges out of an entity.
func (r *documentReader) edges(c *readColumn, row int) error {
	const must = "%s must be a list of objects with \"to\" and \"value\", not %s"
	if r.next() != '[' {
		return r.errorf(r.at, must, c.Name, r.shown())
	}
	r.open()
	for r.more() {
		if r.next() != '{' {
			return r.errorf(r.at, must, c.Name, r.shown())
		}
		l := readLink{from: row, at: r.at}
		v := c.values.next(c.shape.t)
		var hasTo, hasValue bool
		r.open()
		for r.more() {
			at := r.at
			member, err := r.member()
			if err != nil {
				return err
			}
			r.next()
			switch {
			case string(member) == "to" && !hasTo:
				hasTo = true
				l.to, err = r.reference(c.Name)
			case string(member) == "value" && !hasValue:
				hasValue = true
				err = r.value(c.shape, v)
			default:
				err = r.errorf(at, "%s: an edge may have only \"to\" and \"value\", each once", c.Name)
			}
			if err != nil {
				return err
			}
		}
		if !hasTo {
			return r.errorf(l.at, "%s: the edge has no \"to\"", c.Name)
		}
		c.links = append(c.links, l)
	}
	return nil
}

// sources decodes the lists of sources of an entity.
func (r *documentReader) sources(row int) error {
	var seen seenMembers
	r.open()
	for r.more() {
		at := r.at
		c, err := r.column()
		switch {
		case err != nil:
			return err
		case c == nil:
			continue
		case c.Linked == "":
			return r.errorf(at, "%s is neither a relation nor edges, so it has no sources", c.Name)
		case !seen.add(c.number):
			return r.errorf(at, "%s comes twice", c.Name)
		case r.next() != '[':
			return r.errorf(r.at, "the sources in %s must be a list, not %s", c.Name, r.shown())
		}
		o := readOrder{row: row, at: at}
		r.open()
		for r.more() {
			at := r.at
			source, err := r.reference(c.Name)
			if err != nil {
				return err
			}
			if source.row < 0 {
				return r.errorf(at, "the sources in %s must be entities of the document", c.Name)
			}
			o.sources = append(o.sources, source.row)
		}
		c.orders = append(c.orders, o)
	}
	return nil
}

// plan is the order in which the links of a column are made.
type plan struct {
	links  []int // indices of readColumn.links
	levels int   // upper bound of the depth of a hierarchy, for Relation.GrowLevels
}

// plan returns the order in which to make the links of a column. It preserves the order of the links out of
// each source, and the order of the links into each target.
func (r *documentReader) plan(c *readColumn) (plan, error) {
	if c.Linked == "" || len(c.links) == 0 && len(c.orders) == 0 {
		return plan{}, nil
	}
	into, err := r.linksInto(c)
	if err != nil {
		return plan{}, err
	}
	if c.relation != nil && !documents.Cyclic(c.Of) {
		return r.planHierarchy(c, into)
	}
	return r.planLinks(c, into)
}

// linksInto maps the row of each entity to the ordered links into the entity, as indices of c.links.
func (r *documentReader) linksInto(c *readColumn) (map[int][]int, error) {
	into := make(map[int][]int)
	outside := make(map[vast.Entity]int) // maps an entity of the world to the row of its last source so far
	inside := make(map[int]int)          // maps the row of an entity to the row of its last source so far
	for i, l := range c.links {
		var twice bool
		if l.to.row >= 0 {
			from, ok := inside[l.to.row]
			twice = ok && from == l.from
			inside[l.to.row] = l.from
			into[l.to.row] = append(into[l.to.row], i)
		} else {
			from, ok := outside[l.to.Entity]
			twice = ok && from == l.from
			outside[l.to.Entity] = l.from
		}
		if twice {
			return nil, r.errorf(l.at, "%s has two edges from one source to one target", c.Name)
		}
	}
	for _, o := range c.orders {
		links := into[o.row]
		bySource := make(map[int]int, len(links))
		for _, i := range links {
			bySource[c.links[i].from] = i
		}
		ordered := make([]int, 0, len(links))
		for _, source := range o.sources {
			i, ok := bySource[source]
			if !ok {
				return nil, r.errorf(o.at, "the sources in %s list an entity twice, or an entity without a "+
					"link to this entity", c.Name)
			}
			delete(bySource, source)
			ordered = append(ordered, i)
		}
		for _, i := range links {
			if _, left := bySource[c.links[i].from]; left {
				ordered = append(ordered, i)
			}
		}
		into[o.row] = ordered
	}
	return into, nil
}

// planHierarchy orders the links of a hierarchy from the top down: the link from an entity to its target
// comes before the links from descendants of the entity. So making a link moves no descendants to
// another level. planHierarchy returns an error if links form a circle.
func (r *documentReader) planHierarchy(c *readColumn, into map[int][]int) (plan, error) {
	var p plan
	linked := make([]bool, len(r.rows)) // for each row, whether the entity has a target
	for _, l := range c.links {
		linked[l.from] = true
	}
	depths := make(map[vast.Entity]int)
	for i, l := range c.links {
		if l.to.row < 0 {
			depth, known := depths[l.to.Entity]
			if !known {
				depth = c.relation.Depth(l.to.Entity)
				depths[l.to.Entity] = depth
			}
			p.links = append(p.links, i)
			p.levels = max(p.levels, depth+1)
		}
	}
	for row := range r.rows {
		if !linked[row] {
			p.links = append(p.links, into[row]...)
		}
	}
	depth := p.levels + 1
	for at, end := 0, len(p.links); at < len(p.links); at++ {
		if at == end {
			depth++
			end = len(p.links)
		}
		p.links = append(p.links, into[c.links[p.links[at]].from]...)
	}
	p.levels = depth
	if len(p.links) < len(c.links) {
		made := make([]bool, len(c.links))
		for _, i := range p.links {
			made[i] = true
		}
		l := c.links[slices.Index(made, false)]
		return plan{}, r.errorf(l.at, "%s: the links of the entity and of its ancestors form a circle, or "+
			"lead to one", c.Name)
	}
	return p, nil
}

// planLinks orders links that may form circles.
func (r *documentReader) planLinks(c *readColumn, into map[int][]int) (plan, error) {
	from := make([]int, len(c.links))
	for i, l := range c.links {
		from[i] = l.from
	}
	links := state.InBothOrders(from, into)
	if len(links) < len(c.links) {
		return plan{}, r.errorf(c.orders[0].at, "%s: the orders of sources and of targets contradict each "+
			"other: leave \"sources\" out", c.Name)
	}
	return plan{links: links}, nil
}

// room reserves memory for the names and links of the document, so that adding them later cannot fail.
func (r *documentReader) room(plans []plan) error {
	for i, c := range r.columns {
		n := len(plans[i].links)
		if n == 0 {
			continue
		}
		var err error
		if c.relation != nil {
			err = c.relation.GrowLevels(plans[i].levels)
		} else {
			err = documents.GrowEdges(c.Of, n)
		}
		if err != nil {
			return err
		}
	}
	if len(r.names) > 0 {
		r.w.Names()
		return documents.GrowNames(r.w)
	}
	return nil
}

func (r *documentReader) link(c *readColumn, p plan) {
	entityAt := func(to end) vast.Entity {
		if to.row >= 0 {
			return r.entities[to.row]
		}
		return to.Entity
	}
	if len(p.links) == 0 {
		return
	}
	if c.relation != nil {
		for _, i := range p.links {
			c.relation.Set(r.entities[c.links[i].from], entityAt(c.links[i].to))
		}
		return
	}
	values := make([]reflect.Value, 0, len(c.links))
	c.values.all(func(_ int, v reflect.Value) bool {
		values = append(values, v)
		return true
	})
	for _, i := range p.links {
		documents.AddEdge(c.Of, r.entities[c.links[i].from], entityAt(c.links[i].to), values[i])
	}
}
