package prefab

import (
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// apply applies one template, and returns the number of changes in entities of instances.
func (p *Prefabs) apply(root vast.Entity) (n int, err error) {
	f := p.familyOf(root)
	nodes := p.subtree(root)
	inside := make(map[vast.Entity]bool, len(nodes))
	for _, e := range nodes {
		inside[e] = true
	}
	old := len(f.bases)
	var lost []int
	for i := range old {
		if !inside[f.nodes[i]] {
			lost = append(lost, i)
			delete(f.numbers, f.nodes[i])
			f.nodes[i] = vast.Entity{}
		}
	}
	done := false
	defer func() {
		if !done {
			p.delete(f.made)
		}
	}()
	copies, err := f.copyNew(nodes)
	if err != nil {
		return 0, err
	}
	var changes []change
	for _, node := range nodes { // in this order, links keep the order of sources
		changes = append(changes, f.plan(f.numbers[node])...)
	}
	if err := f.makeRoom(changes); err != nil {
		return 0, err
	}
	// The copies of new nodes get their parents before anything else changes: after a panic, the next Apply
	// finds the instance of an entity by its parents.
	var places, others []change
	for _, c := range changes {
		if c.isPlaceOfNew(old) {
			places = append(places, c)
		} else {
			others = append(others, c)
		}
	}
	n = copies + f.write(places)
	for _, base := range f.bases[old:] {
		p.root.Set(base, root)
	}
	done = true
	for _, node := range nodes {
		p.tag.Disable(node)
	}
	return n + f.write(others) + f.deleteLost(lost), nil
}

// copyNew adds the nodes that have no base to the family, and copies them into the instances. The copies have
// no edges yet and no links except those to their originals, and their references still lead to nodes. The
// plan then finds these differences. copyNew returns the number of copies in instances.
func (f *family) copyNew(nodes []vast.Entity) (copies int, err error) {
	p := f.p
	var roots []vast.Entity
	for _, node := range nodes {
		if _, ok := f.numbers[node]; ok {
			continue
		}
		if roots == nil {
			roots = p.copiesOf(f.bases[0])
		}
		var hosts []vast.Entity
		for _, e := range roots {
			if !f.members(e)[f.parentOf(node)].IsZero() {
				hosts = append(hosts, e)
			}
		}
		bases, err := f.copySingle(node, 1, p.node)
		if err != nil {
			return copies, err
		}
		p.hidden.Disable(bases[0])
		news, err := f.copySingle(bases[0], len(hosts), p.of)
		if err != nil {
			return copies, err
		}
		copies += len(news)
		f.add(node, bases[0])
		for _, e := range roots {
			f.known[e] = append(f.known[e], vast.Entity{})
		}
		for i, e := range hosts {
			f.known[e][len(f.bases)-1] = news[i]
			f.owners[news[i]] = e
		}
	}
	return copies, nil
}

// parentOf returns the number of a node's first parent that has a number. At least one parent has a number,
// because subtree lists each node after one of its parents.
func (f *family) parentOf(node vast.Entity) int {
	for _, r := range f.p.hierarchies {
		target, _ := r.Target(node)
		if i, ok := f.numbers[target]; ok {
			return i
		}
	}
	return 0
}

// copySingle makes n copies of an entity, without links except one to the entity.
func (f *family) copySingle(e vast.Entity, n int, origins vast.Relation) ([]vast.Entity, error) {
	if n == 0 {
		return nil, nil
	}
	single := f.p.single
	single.SetOrigins(origins)
	single.Find(e, nil)
	if err := single.Copy(n); err != nil {
		return nil, err
	}
	_, copies := single.Originals()
	f.made = append(f.made, copies...)
	return slices.Clone(copies), nil
}

// makeRoom makes room for all changes, so that write cannot fail. On an error only the committed memory has
// changed.
func (f *family) makeRoom(changes []change) error {
	end, total := 0, 0
	for _, c := range changes {
		end = max(end, int(f.bases[c.node].Slot())+1)
		for _, e := range c.on {
			end = max(end, int(e.Slot())+1)
		}
		total += len(c.on) + 1
	}
	for k := range f.p.columns {
		c := &f.p.columns[k]
		if slices.ContainsFunc(changes, func(one change) bool {
			return one.column == c && (one.kind == addedComponent || one.kind == changedField && c.shared)
		}) {
			// A component can require others, so the room of each column is for all changes.
			if err := engine.GrowAdditions(c.handle, end, total); err != nil {
				return err
			}
		}
	}
	for _, r := range f.p.relations {
		changed := func(one change) bool { return one.kind == changedLink && one.link == r }
		if !slices.ContainsFunc(changes, changed) {
			continue
		}
		if err := r.GrowLevels(f.deepest(r, changes)); err != nil {
			return err
		}
	}
	for k := range f.p.edges {
		x, n := &f.p.edges[k], 0
		for _, c := range changes {
			if c.edges == x && !c.before.IsValid() {
				n += len(c.on) + 1
			}
		}
		if n > 0 {
			if err := engine.GrowEdges(x.of, n); err != nil {
				return err
			}
		}
	}
	return f.p.root.GrowLevels(1)
}

// write makes the changes in the entities of instances and in the bases, and returns their number in entities
// of instances. Each base changes after the entities of instances: if a callback panics, the next Apply still
// finds the difference between node and base.
func (f *family) write(changes []change) (n int) {
	// Fill the caches of instanceOf and members now: after a link is changed, instanceOf may not find the
	// instance of an entity.
	for _, c := range changes {
		for _, e := range c.on {
			if !c.refers {
				break
			}
			if root, ok := f.instanceOf(e); ok {
				f.members(root)
			}
		}
	}
	var links, linksOfBases []link
	for i := range changes {
		c := &changes[i]
		base := f.bases[c.node]
		switch {
		case c.kind == changedLink:
			more, ofBase := f.linksOf(c)
			links, linksOfBases = append(links, more...), append(linksOfBases, ofBase)
			continue
		case !c.refers:
			n += c.write(c.on, *c)
		default:
			n += f.writeReferring(c)
		}
		if c.kind == changedEdge {
			c.writeEdge(base, c.ends[1], *c)
		} else {
			c.write([]vast.Entity{base}, *c)
		}
	}
	n += setLinks(links)
	setLinks(linksOfBases)
	return n
}

// writeReferring makes a change of components or edges whose values differ between instances, and returns the
// number of changed entities.
func (f *family) writeReferring(c *change) (n int) {
	for _, e := range c.on {
		root, ok := f.instanceOf(e)
		if !ok {
			continue
		}
		to := f.members(root)
		one := *c
		if c.before.IsValid() {
			one.before = f.translated(c.column, c.before, f.bases, to)
		}
		if c.after.IsValid() {
			one.after = f.translated(c.column, c.after, f.bases, to)
		}
		if c.kind != changedEdge {
			n += c.write([]vast.Entity{e}, one)
		} else if c.writeEdge(e, f.counterpart(c.ends[1], to), one) {
			n++
		}
	}
	return n
}

// write makes a change of a component in entities, with the values of v, and returns the number of entities
// that it has changed.
func (c *change) write(es []vast.Entity, v change) (n int) {
	col := c.column
	switch c.kind {
	case changedField:
		return col.patch(c.field, es, v.before, v.after)
	case addedComponent:
		for _, e := range es {
			probe.AddValue(col.handle, e, v.after)
		}
		return len(es)
	}
	for _, e := range es {
		now, ok := col.value(e)
		if ok && (col.typ == nil || col.same(now, v.before)) && probe.RemoveValue(col.handle, e) {
			n++
		}
	}
	return n
}

// deleteLost deletes the bases whose nodes no longer belong to the template, and the copies of these nodes. A
// copy lives on if it has an override, or if an entity below it lives on. deleteLost returns the number of
// deleted copies.
func (f *family) deleteLost(lost []int) int {
	if len(lost) == 0 {
		return 0
	}
	p := f.p
	doomed := make(map[vast.Entity]bool)
	var bases, order []vast.Entity
	for _, i := range lost {
		bases = append(bases, f.bases[i])
		for e := range p.of.Sources(f.bases[i]) {
			doomed[e] = true
			f.differing(e, i, func(string) bool { doomed[e] = false; return false })
			order = append(order, e)
		}
	}
	// An entity lives on if an entity below it lives on.
	for again := true; again; {
		again = false
		for _, e := range order {
			for _, r := range p.hierarchies {
				for s := range r.Sources(e) {
					if doomed[e] && !doomed[s] {
						doomed[e], again = false, true
					}
				}
			}
		}
	}
	order = slices.DeleteFunc(order, func(e vast.Entity) bool { return !doomed[e] })
	for _, b := range bases {
		if node, ok := p.node.Target(b); ok { // the program has moved the node out of the template
			p.tag.Enable(node)
		}
	}
	p.delete(order)
	p.delete(bases)
	return len(order)
}
