package prefab

import (
	"fmt"
	"iter"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Differs yields the names of the fields in which e differs from its node, as the node was at the last
// [Template.Apply]. A name is the name of the column and the path to the field, such as Hull.Points. A
// component that one of the two lacks is yielded by the name of its column, a link by the name of its
// relation, and a difference of edges by their name. Differs yields nothing if e is no copy of a node. Do not
// change the world during the loop. Complexity: the number of fields and edges, and one step for each node of
// the template and each entity of the instance.
func (p *Prefabs) Differs(e vast.Entity) iter.Seq[string] {
	return func(yield func(string) bool) {
		if f, i, ok := p.find("prefab.Prefabs.Differs", e); ok {
			f.differing(e, i, yield)
		}
	}
}

// find returns the family of e's template, and the index of e's base in f.bases. ok is false if e is no copy
// of a node.
func (p *Prefabs) find(function string, e vast.Entity) (f *family, i int, ok bool) {
	p.prepare(function)
	b, ok := p.of.Target(e)
	if !ok {
		return nil, 0, false
	}
	root, _ := p.root.Target(b)
	f = p.familyOf(root)
	return f, f.index[b], true
}

// Revert gives a field of e the value that its node had at the last [Template.Apply], and reports whether the
// field differed. name is a name that [Prefabs.Differs] yields. For the name of a component, or of a part of
// a component, Revert reverts all fields in the component or part. Revert adds a component that e lacks, and
// removes a component that the node lacks. For the name of a relation or of edges, Revert gives e the link or
// the edges of the node. Revert returns false if e is no copy of a node.
//
// Revert panics if the world has no column, relation or edges of this name. It panics with a [*vm.Error],
// and has changed nothing, if it gets no memory.
func (p *Prefabs) Revert(e vast.Entity, name string) bool {
	f, i, ok := p.find("prefab.Prefabs.Revert", e)
	if !ok {
		return false
	}
	members := make([]vast.Entity, len(f.bases))
	if root, ok := f.instanceOf(e); ok {
		members = f.members(root)
	}
	for k := range p.columns {
		if c := &p.columns[k]; isWithin(name, c.name) {
			return f.revert(c, e, i, members, name)
		}
	}
	for _, r := range p.relations {
		if r.Name() != name {
			continue
		}
		want, _ := r.Target(f.bases[i])
		want = f.counterpart(want, members)
		target, _ := r.Target(e)
		if f.isPlace(r, i) || target == want {
			return false
		}
		return want.IsZero() && r.Remove(e) || !want.IsZero() && r.Set(e, want)
	}
	for k := range p.edges {
		if x := &p.edges[k]; x.name == name {
			return x.revert(e, x.wanted(f, i, members))
		}
	}
	panic(fmt.Sprintf("prefab: Prefabs.Revert: the world has no column, relation or edges for %q: use a "+
		"name that Differs yields", name))
}

// revert does the work of Revert for a column.
func (f *family) revert(c *column, e vast.Entity, i int, members []vast.Entity, name string) (changed bool) {
	want, should := c.value(f.bases[i])
	v, has := c.value(e)
	switch {
	case !should:
		return has && name == c.name && probe.RemoveValue(c.handle, e)
	case !has:
		return name == c.name && probe.AddValue(c.handle, e, f.translated(c, want, f.bases, members))
	}
	want = f.translated(c, want, f.bases, members)
	c.differing(copyOf(v), want, func(field part) bool {
		if isWithin(field.name, name) {
			partOf(field, v).Set(partOf(field, want))
			changed = true
		}
		return true
	})
	if changed {
		probe.SetValue(c.handle, e, v)
	}
	return changed
}
