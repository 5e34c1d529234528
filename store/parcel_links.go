package store

import (
	"fmt"
	"sort"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/state"
)

// A parcel lists the links of a relation by target: a target, and its sources in the order of the relation.
// Unpack makes the links in the order of the list. Except in circles and below them, the list names an entity
// as a source before it names the entity as a target. So the source of a new link has no descendants yet. A
// new link whose source has descendants may close a circle: readLinks refuses the link in a hierarchy.
//
// The list of edges keeps the order of the targets of each source, and of the sources of each target.

func (k *packing) writeLinks(c *packedColumn) error {
	n := 0
	for _, e := range k.entities {
		if target, ok := c.relation.Target(e); ok {
			if k.row(target) == 0 {
				return leadsOut(c, e, target)
			}
			n++
		}
	}
	k.uint(n)
	if n == 0 {
		return nil
	}
	w := linkWriter{packing: k, relation: c.relation, added: make([]bool, len(k.entities))}
	for i, e := range k.entities {
		if !c.relation.Has(e) {
			w.addTarget(i)
		}
	}
	w.write()
	for i := range k.entities { // entities in circles, and entities below circles
		w.addTarget(i)
		w.write()
	}
	return nil
}

func leadsOut(c *packedColumn, source, target vast.Entity) error {
	return fmt.Errorf("entity %v: the link in %s leads to entity %v, which lives outside of the parcel: "+
		"pack it, too, or remove the link first", source, c.Name, target)
}

type linkWriter struct {
	*packing
	relation   *vast.Relation
	added      []bool // by the number of an entity, whether addTarget has added it to targets
	targets    []int  // the entities whose sources are not written yet
	sources    []int  // sources of the present target
	lastTarget int
	lastSource int
}

// addTarget adds an entity to targets if it has sources and was not added before.
func (w *linkWriter) addTarget(i int) {
	if !w.added[i] && w.relation.CountSources(w.entities[i]) > 0 {
		w.added[i] = true
		w.targets = append(w.targets, i)
	}
}

// write appends the entities in targets and their descendants, each followed by its sources.
func (w *linkWriter) write() {
	for at := 0; at < len(w.targets); at++ {
		target := w.targets[at]
		w.sources = w.sources[:0]
		for source := range w.relation.Sources(w.entities[target]) {
			if row := w.row(source); row > 0 { // the links of sources outside of the parcel are not packed
				w.sources = append(w.sources, int(row)-1)
			}
		}
		if len(w.sources) == 0 {
			continue
		}
		w.int(target - w.lastTarget)
		w.uint(len(w.sources))
		for _, i := range w.sources {
			w.int(i - w.lastSource)
			w.lastSource = i
			w.addTarget(i)
		}
		w.lastTarget = target
	}
	w.targets = w.targets[:0]
}

// packedEdge is a link or an edge between two entities. from and to are their numbers in the parcel.
type packedEdge struct{ from, to int }

// writeEdges appends edges, and then their values.
func (k *packing) writeEdges(c *packedColumn) error {
	links, values, err := k.edgesOf(c)
	if err != nil {
		return err
	}
	k.uint(len(links))
	from, into := make([]int, len(links)), make(map[int][]int)
	for i, l := range links {
		from[i] = l.from
		into[l.to] = append(into[l.to], i)
	}
	for to, edges := range into {
		k.sortEdges(c, links, to, edges)
	}
	var last packedEdge
	order := state.InBothOrders(from, into)
	for _, i := range order {
		k.int(links[i].from - last.from)
		k.int(links[i].to - last.to)
		last = links[i]
	}
	size := c.Type.Size
	for _, i := range order {
		k.b = append(k.b, values[i*size:(i+1)*size]...)
	}
	return nil
}

// edgesOf returns the edges whose sources are in the parcel, and their values in the form of a parcel.
func (k *packing) edgesOf(c *packedColumn) (links []packedEdge, values []byte, err error) {
	written := k.b
	defer func() { k.b = written }()
	k.b = nil
	for i, e := range k.entities {
		if c.edges.CountTargets(e) == 0 {
			continue
		}
		for to, v := range c.edges.Targets(e) {
			row := k.row(to)
			if row == 0 {
				return nil, nil, leadsOut(c, e, to)
			}
			links = append(links, packedEdge{i, int(row) - 1})
			if _, err := k.writeMemory(c, bytesOf(v)); err != nil {
				return nil, nil, fmt.Errorf("entity %v: %w", e, err)
			}
		}
	}
	return links, k.b, nil
}

// sortEdges brings the edges of a target into their order in the world. edges holds their indices in links,
// at first in the order of the sources' numbers.
func (k *packing) sortEdges(c *packedColumn, links []packedEdge, to int, edges []int) {
	ordered := make([]int, 0, len(edges))
	for source := range c.edges.Sources(k.entities[to]) {
		if row := int(k.row(source)); row > 0 {
			at := sort.Search(len(edges), func(i int) bool { return links[edges[i]].from >= row-1 })
			ordered = append(ordered, edges[at])
		}
	}
	copy(edges, ordered)
}

// unpackedLinks are links of a relation, or edges with their values.
type unpackedLinks struct {
	*layoutColumn
	links  []packedEdge
	values []byte // the values of the edges, as in memory, with stand-ins for references
	levels int    // number of levels of a hierarchy below its roots
}

// linkEnd describes an entity by the links that readLinks has read.
type linkEnd struct {
	hasTarget, hasSources bool
	depth                 int // number of levels above the entity
}

func (k *unpacking) readLinks(c *layoutColumn) error {
	l := &unpackedLinks{layoutColumn: c}
	hierarchy := c.to != nil && !c.to.col.Cyclic
	n, err := k.count(1)
	if err != nil || n == 0 {
		return err
	}
	l.links = make([]packedEdge, 0, n)
	ends := make([]linkEnd, k.n)
	target, source := 0, 0
	for n > 0 {
		if target, err = k.entityNumber(target); err != nil {
			return err
		}
		sources, err := k.count(1)
		if err != nil {
			return err
		}
		if sources == 0 || sources > n {
			return errDamaged
		}
		n -= sources
		above := &ends[target]
		above.hasSources = true
		for range sources {
			if source, err = k.entityNumber(source); err != nil {
				return err
			}
			below := &ends[source]
			if below.hasTarget || hierarchy && below.hasSources {
				return fmt.Errorf("%s: an entity has two targets, or links form a circle", c.path)
			}
			below.hasTarget, below.depth = true, above.depth+1
			l.levels = max(l.levels, below.depth)
			l.links = append(l.links, packedEdge{source, target})
		}
	}
	if c.to != nil {
		k.links = append(k.links, l)
	}
	return nil
}

func (k *unpacking) readEdges(c *layoutColumn) error {
	l := &unpackedLinks{layoutColumn: c}
	n, err := k.count(2 + c.Type.Size)
	if err != nil {
		return err
	}
	l.links = make([]packedEdge, 0, n)
	var at packedEdge
	for range n {
		if at.from, err = k.entityNumber(at.from); err != nil {
			return err
		}
		if at.to, err = k.entityNumber(at.to); err != nil {
			return err
		}
		l.links = append(l.links, at)
	}
	if l.values, err = k.readMemory(c, n); err != nil {
		return err
	}
	if c.to != nil && n > 0 {
		k.links = append(k.links, l)
	}
	return nil
}
