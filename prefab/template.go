package prefab

import (
	"fmt"
	"iter"
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Template is a template. It is a small value; copy it freely. A Template is stale if its root was deleted: a
// stale Template makes no instances and has none. Make a Template with [Prefabs.Mark].
type Template struct {
	p    *Prefabs
	root vast.Entity
}

// prepare checks that a method may use the world, and returns the base of the root, or false if the template
// is stale.
func (t Template) prepare(function string) (base vast.Entity, ok bool) {
	if t.p == nil {
		panic("prefab: the zero Template belongs to no world: make a Template with Prefabs.Mark")
	}
	t.p.prepare(function)
	return t.p.baseOf(t.root)
}

// baseOf returns the base of the root of a template.
func (p *Prefabs) baseOf(root vast.Entity) (base vast.Entity, ok bool) {
	for base := range p.root.Sources(root) {
		return base, true
	}
	return base, false
}

// Root returns the root. Its components, and its descendants in hierarchies, are the template: change them,
// and call [Template.Apply].
func (t Template) Root() vast.Entity { return t.root }

// Instantiate makes one instance and returns the copy of the root, as [Template.InstantiateN] does. If the
// template is stale, Instantiate returns the zero Entity.
func (t Template) Instantiate() vast.Entity {
	if !t.make("prefab.Template.Instantiate", 1) {
		return vast.Entity{}
	}
	_, copies := t.p.trees.Originals()
	return copies[0]
}

// InstantiateN makes n instances, as the template was at the last [Template.Apply] or at [Prefabs.Mark].
// Queries find the instances. Links, edges and references between nodes lead to entities of the same
// instance. All others keep their targets, but the root of an instance has no parent.
//
// Then InstantiateN calls fill for each run of the copies of the root. fill can write components as slices,
// must not change the structure of the world, and may be nil. The copies of the root lie side by side if no
// other node has the same columns; otherwise each run has one entity.
//
// Callbacks of OnAdd run before fill. If a callback panics, the instances are deleted. InstantiateN panics
// with a [*vm.Error], and has changed nothing, if the world has no room. Complexity: a copy of each
// component, by runs, and a few writes for each entity and each link.
func (t Template) InstantiateN(n int, fill func(vast.Run)) {
	if n < 0 {
		panic(fmt.Sprintf("prefab: Template.InstantiateN(%d): the number of instances cannot be negative", n))
	}
	if !t.make("prefab.Template.InstantiateN", n) || fill == nil {
		return
	}
	before := t.p.w.Changes()
	t.p.trees.Roots(func(r vast.Run) {
		fill(r)
		if t.p.w.Changes() != before {
			panic("prefab: Template.InstantiateN: fill changed the structure of the world: write " +
				"components in fill, and make structural changes after InstantiateN")
		}
	})
}

// make makes n instances, and reports whether it has made any.
func (t Template) make(function string, n int) bool {
	base, ok := t.prepare(function)
	if !ok || n == 0 {
		return false
	}
	t.p.trees.SetOrigins(t.p.of)
	t.p.trees.Find(base, t.p.hierarchies)
	if err := t.p.trees.Copy(n); err != nil {
		panic(err)
	}
	return true
}

// Override returns a new variant of the template: a template whose root differs from the root of t in one
// part of a component. name is the name of the column, with the path to the part if it is not the whole
// component, such as Hull.Points. To override more, call Override on the result, or change the nodes of the
// variant and call [Template.Apply].
//
// Override panics if the root of t has no such part, and if the value does not fit. Numbers are converted if
// the part can hold them. Override panics with a [*vm.Error], and has changed nothing, if the world has no
// room. If t is stale, Override returns the zero Template.
func (t Template) Override(name string, value any) Template {
	base, ok := t.prepare("prefab.Template.Override")
	if !ok {
		return Template{}
	}
	c, v := t.p.overridden(base, name, value)
	e := t.Instantiate()
	marked := false
	defer func() {
		if !marked {
			t.p.delete(t.p.subtree(e))
		}
	}()
	if c.shared {
		if err := engine.GrowAdditions(c.handle, int(e.Slot())+1, 1); err != nil {
			panic(err)
		}
	}
	probe.SetValue(c.handle, e, v)
	variant := t.p.Mark(e)
	marked = true
	return variant
}

// overridden returns the column of a part, and the component of base with another value in this part.
func (p *Prefabs) overridden(base vast.Entity, name string, value any) (column, reflect.Value) {
	for _, c := range p.columns {
		v, ok := c.value(base)
		if !ok {
			continue
		}
		for _, f := range c.parts {
			if f.name != name {
				continue
			}
			if !assign(partOf(f, v), value) {
				panic(fmt.Sprintf("prefab: Template.Override: %s is a %s and cannot take %v (%[3]T): give a "+
					"value that fits", name, f.typ, value))
			}
			return c, v
		}
	}
	panic(fmt.Sprintf("prefab: Template.Override: the root has no %q: name a column of the root, and the "+
		"path to a field, as in Hull.Points", name))
}

// Instances yields the roots of the instances, in the order in which they were made. It leaves out instances
// of variants, and entities that are nodes of templates. Do not change the structure of the world during the
// loop.
func (t Template) Instances() iter.Seq[vast.Entity] {
	return func(yield func(vast.Entity) bool) {
		if t.p == nil {
			return
		}
		base, _ := t.p.baseOf(t.root)
		for e := range t.p.of.Sources(base) {
			if !t.p.tag.Has(e) && !yield(e) {
				return
			}
		}
	}
}
