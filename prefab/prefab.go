package prefab

import (
	"fmt"
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/probe"
)

// Prefabs holds the templates of a world. Make it with [New].
type Prefabs struct {
	w           *vast.World
	tag, hidden vast.Disabled
	of          vast.Relation // from an entity of an instance to a base
	node        vast.Relation // from a base to its node
	root        vast.Relation // from a base to the root of the template; the root's base is the first source

	known       int // number of columns of the world when the next fields were set
	columns     []column
	edges       []edges
	relations   []vast.Relation // all relations except those of Prefabs
	hierarchies []vast.Relation
	trees       copying // copies subtrees with their links
	single      copying // copies entities without links
}

// copying is the part of package vast that makes copies.
type copying interface {
	Find(e vast.Entity, along []vast.Relation) bool
	Copy(n int) error
	Originals() (originals, copies []vast.Entity)
	SetOrigins(r vast.Relation)
	Roots(f func(vast.Run))
	Aim(from, to []vast.Entity)
	Translate(v reflect.Value) bool
}

var engine = state.Vast.(interface {
	Columns(function string, w *vast.World, writes bool) ([]state.Column, error)
	Ready(function string, w *vast.World, writes bool) (columns int, err error)
	Copying(from, to *vast.World, columns []any) any
	GrowAdditions(col vast.AnyColumn, end, n int) error
	Required(of any) int
	GrowEdges(sources any, n int) error
	EdgeValue(sources any, from, to vast.Entity) (reflect.Value, bool)
	AddEdge(sources any, from, to vast.Entity, v reflect.Value) bool
	RemoveEdge(sources any, from, to vast.Entity) bool
	Patch(of any, es []vast.Entity, at, n uintptr, before, after reflect.Value) int
	Refers(t reflect.Type) bool
})

// New registers the tags and relations of templates with the world. Call New once for each world, before a
// store opens the world. New panics as [vast.NewDisabled] and [vast.NewRelation] do.
func New(w *vast.World) *Prefabs {
	cyclic := vast.RelationOptions{Cyclic: true}
	return &Prefabs{w: w, tag: vast.NewDisabled(w, "Prefab"), hidden: vast.NewDisabled(w, "PrefabBase"),
		of: vast.NewRelation(w, "PrefabOf", cyclic), node: vast.NewRelation(w, "PrefabNode", cyclic),
		root: vast.NewRelation(w, "PrefabRoot", vast.RelationOptions{Cyclic: true, OnDelete: vast.Cascade})}
}

// Tag returns the tag of all nodes. A query that names the tag yields nodes: w.Query(p.Tag()).
func (p *Prefabs) Tag() vast.Disabled { return p.tag }

// prepare checks that a public function may use the world, and learns the columns of the world. The argument
// function is the full name of the public function, such as prefab.Mark, because joining strings would
// allocate memory in each call.
func (p *Prefabs) prepare(function string) {
	n, err := engine.Ready(function, p.w, false)
	if err != nil {
		panic(err)
	}
	if n == p.known {
		return
	}
	columns, err := engine.Columns(function, p.w, false)
	if err != nil {
		panic(err)
	}
	p.known, p.columns, p.edges, p.relations, p.hierarchies = n, nil, nil, nil, nil
	trees, single := make([]any, n), make([]any, n)
	for i, handle := range probe.Columns(p.w) {
		c := columns[i]
		r, related := probe.RelationOf(handle)
		switch {
		case c.Names || related && (r == p.of || r == p.node || r == p.root):
		case c.Linked != "":
			trees[i] = c.Of
			if related && !c.Private {
				p.relations = append(p.relations, r)
				if !c.Cyclic {
					p.hierarchies = append(p.hierarchies, r)
				}
			}
			if x, ok := probe.EdgesOf(handle); ok && !c.Private {
				p.edges = append(p.edges, edgesOf(x, c))
			}
		case !probe.Describe(handle).Disabled:
			trees[i], single[i] = c.Of, c.Of
			p.columns = append(p.columns, columnOf(handle, c))
		}
	}
	p.trees = engine.Copying(p.w, p.w, trees).(copying)
	p.single = engine.Copying(p.w, p.w, single).(copying)
}

// Mark makes e and its descendants in hierarchies a template, and returns the template. From now on, queries
// skip the nodes of the template, unless the queries name [Prefabs.Tag]. If e is the root of a template, Mark
// returns this template. If e is stale, Mark returns the zero Template.
//
// Mark panics if a node belongs to another template: put an instance there instead. It also panics if a node
// is a base. It panics with a [*vm.Error], and has changed nothing, if the world has no room for the bases.
// If a callback panics, Mark deletes the bases, and e is no template. Complexity: a copy of the nodes.
func (p *Prefabs) Mark(e vast.Entity) Template {
	p.prepare("prefab.Mark")
	if !p.w.Alive(e) {
		return Template{}
	}
	if t, ok := p.Template(e); ok {
		return t
	}
	for _, n := range p.subtree(e) {
		p.mustBeFree("Mark", n)
	}
	p.trees.SetOrigins(p.node)
	p.trees.Find(e, p.hierarchies)
	if err := p.trees.Copy(1); err != nil {
		panic(err)
	}
	nodes, bases := p.trees.Originals()
	marked := false
	defer func() {
		if !marked {
			p.delete(bases)
		}
	}()
	if err := p.root.GrowLevels(1); err != nil {
		panic(err)
	}
	for _, r := range p.hierarchies {
		r.Remove(bases[0])
	}
	for i, b := range bases {
		p.root.Set(b, e)
		p.hidden.Disable(b)
		p.tag.Disable(nodes[i])
	}
	marked = true
	return Template{p, e}
}

// mustBeFree panics if e cannot become a node of a template.
func (p *Prefabs) mustBeFree(function string, e vast.Entity) {
	if p.hidden.Has(e) {
		panic(fmt.Sprintf("prefab: %s: entity %v is a base, which belongs to package prefab: use the node "+
			"of the template", function, e))
	}
	for b := range p.node.Sources(e) {
		root, _ := p.root.Target(b)
		panic(fmt.Sprintf("prefab: %s: entity %v belongs to the template with root %v: put an "+
			"instance of that template there", function, e, root))
	}
}

// subtree returns e and its descendants in hierarchies, each entity after one of its parents.
func (p *Prefabs) subtree(e vast.Entity) []vast.Entity {
	seen := map[vast.Entity]bool{e: true}
	list := []vast.Entity{e}
	for i := 0; i < len(list); i++ { // the loop appends to the list
		for _, r := range p.hierarchies {
			for s := range r.Sources(list[i]) {
				if !seen[s] {
					seen[s] = true
					list = append(list, s)
				}
			}
		}
	}
	return list
}

// delete deletes entities, also those that a vast.Disabled switches off.
func (p *Prefabs) delete(list []vast.Entity) {
	if len(list) > 0 {
		p.w.DeleteAll(probe.All(p.w.Query()).Among(list))
	}
}

// Template returns the template with root e, and whether there is one. Use Template after a store has opened
// the world.
func (p *Prefabs) Template(e vast.Entity) (Template, bool) {
	if p.root.CountSources(e) == 0 {
		return Template{}, false
	}
	return Template{p, e}, true
}

// NodeOf returns the node of which e is a copy, and whether there is one. A node of a variant or of a
// nested instance is itself a copy of a node.
func (p *Prefabs) NodeOf(e vast.Entity) (node vast.Entity, ok bool) {
	b, _ := p.of.Target(e)
	return p.node.Target(b)
}
