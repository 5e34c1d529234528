package metamorphic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/prefab"
	"github.com/vastgo/vast/probe"
)

// maxTemplates is the largest number of templates that operations make.
const maxTemplates = 4

// prefabs holds the templates of a world.
type prefabs struct {
	*prefab.Prefabs
	base  vast.AnyColumn // the tag of bases
	owner vast.Relation  // from a base to the root of its template
	roots []vast.Entity  // of the templates, in the order in which they were made
}

func newPrefabs(w *vast.World) prefabs {
	p := prefabs{Prefabs: prefab.New(w)}
	for _, c := range probe.Columns(w) {
		switch probe.Describe(c).Name {
		case "PrefabBase":
			p.base = c
		case "PrefabRoot":
			p.owner, _ = probe.RelationOf(c)
		}
	}
	return p
}

// prefab performs an operation on the templates. If the world has no template, prefab first makes entity e
// the root of a template.
func (p *player) prefab(op Op, e vast.Entity) {
	p.prefabs.roots = slices.DeleteFunc(p.prefabs.roots,
		func(root vast.Entity) bool { return !p.world.Alive(root) })
	if op.Do == Mark || len(p.prefabs.roots) == 0 {
		p.mark(e)
	}
	if len(p.prefabs.roots) == 0 {
		return
	}
	t, _ := p.prefabs.Template(p.prefabs.roots[int(op.A)%len(p.prefabs.roots)])
	switch op.Do {
	case Instantiate:
		p.instantiate(t, int(op.B%4))
	case Override:
		if p.fits(t, 1) && len(p.prefabs.roots) < maxTemplates {
			key := uint64(p.at+1) << 16
			root := t.Override("key", key).Root()
			p.prefabs.roots = append(p.prefabs.roots, root)
			p.living = append(p.living, keyed{key, root})
		}
	case Apply:
		p.apply(op, t)
	case Revert:
		p.revert(op, t)
	}
	p.rename()
}

// mark makes a template.
func (p *player) mark(e vast.Entity) {
	nodes := append([]vast.Entity{e}, slices.Collect(p.parent.Descendants(e))...)
	edges := p.roads.Len()
	for _, n := range nodes {
		edges += p.roads.CountTargets(n)
	}
	if !p.world.Alive(e) || len(nodes) > 20 || edges > maxEntities/2 ||
		len(p.prefabs.roots) >= maxTemplates || slices.Contains(p.prefabs.roots, e) {
		return
	}
	if !p.refuses(func() { p.prefabs.Mark(e) }) {
		p.prefabs.roots = append(p.prefabs.roots, e)
	}
}

// instantiate makes instances of a template.
func (p *player) instantiate(t prefab.Template, n int) {
	if !p.fits(t, n) {
		return
	}
	key := uint64(p.at+1)<<16 | 1<<15
	t.InstantiateN(n, func(r vast.Run) {
		for _, e := range r.All() {
			p.key.Set(e, key)
			p.living = append(p.living, keyed{key, e})
			key++
		}
	})
	for e := range t.Instances() {
		p.see("instance", p.keyOf(e))
	}
}

// apply changes a node of a template and applies the template.
func (p *player) apply(op Op, t prefab.Template) {
	nodes := append([]vast.Entity{t.Root()}, slices.Collect(p.parent.Descendants(t.Root()))...)
	n, c := nodes[int(op.B)%len(nodes)], p.columns[op.V%2]
	switch op.V / 2 % 4 {
	case 0:
		c.Remove(n)
	case 1:
		p.tag.Add(n)
	default:
		c.Add(n, uint64(op.V))
		c.Set(n, uint64(op.V))
	}
	if !p.mayGrow() {
		return
	}
	p.refuses(func() {
		changes, err := t.Apply()
		if err != nil {
			panic(err)
		}
		// The number of changes depends on the configuration: a HeapColumn has one field, and other columns
		// have several.
		p.see("Apply", changes > 0)
	})
}

// revert reverts an entity of an instance to the template.
func (p *player) revert(op Op, t prefab.Template) {
	instances := slices.Collect(t.Instances())
	if len(instances) == 0 {
		return
	}
	e := instances[int(op.B)%len(instances)]
	if parts := slices.Collect(p.parent.Descendants(e)); op.V%3 > 0 && len(parts) > 0 {
		e = parts[int(op.V)%len(parts)]
	}
	differs := p.differs(e)
	for _, name := range differs {
		p.see("Revert", name, p.prefabs.Revert(e, name))
	}
	if slices.Contains(differs, "key") {
		p.key.Set(e, uint64(p.at+1)<<16)
	}
}

// fits reports whether the world may get n instances of a template.
func (p *player) fits(t prefab.Template, n int) bool {
	edges := 0
	for b := range p.prefabs.owner.Sources(t.Root()) {
		edges += p.roads.CountTargets(b)
	}
	return len(p.living)+n*p.prefabs.owner.CountSources(t.Root()) <= maxLiving &&
		p.roads.Len()+2*n*edges <= maxEntities/2
}

// mayGrow reports whether the world has room for a copy of each node in each instance.
func (p *player) mayGrow() bool {
	nodes, edges, instances := 0, 0, 0
	for _, root := range p.prefabs.roots {
		t, _ := p.prefabs.Template(root)
		instances += 1 + len(slices.Collect(t.Instances()))
		nodes, edges = nodes+1, edges+p.roads.CountTargets(root)
		for n := range p.parent.Descendants(root) {
			nodes, edges = nodes+1, edges+p.roads.CountTargets(n)
		}
	}
	return nodes*instances <= maxLiving && p.roads.Len()+edges*instances <= maxEntities/2
}

// refuses calls f and reports whether package prefab refuses the call.
func (p *player) refuses(f func()) (refused bool) {
	defer func() {
		switch r := recover(); {
		case r == nil:
		case strings.HasPrefix(fmt.Sprint(r), "prefab: "):
			refused = true
			p.see("refused")
		default:
			panic(r)
		}
	}()
	f()
	return false
}

// differs returns the names of the components and relations in which e differs from its template.
func (p *player) differs(e vast.Entity) (names []string) {
	for field := range p.prefabs.Differs(e) {
		name, _, _ := strings.Cut(field, ".")
		names = append(names, name)
	}
	return slices.Compact(names)
}

// rename gives a new key to each entity below the entities in p.living that p.living lacks: package prefab
// has copied the entity with the key of its original.
func (p *player) rename() {
	known := make(map[vast.Entity]bool, len(p.living))
	for _, one := range p.living {
		known[one.e] = true
	}
	key := uint64(p.at+1)<<16 | 1<<14
	for _, one := range p.living {
		for e := range p.parent.Descendants(one.e) {
			if !known[e] {
				known[e] = true
				p.key.Set(e, key)
				key++
			}
		}
	}
}
