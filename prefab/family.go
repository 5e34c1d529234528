package prefab

import (
	"reflect"
	"slices"

	"github.com/vastgo/vast"
)

// family holds the nodes and bases of a template, and finds the entities of its instances.
type family struct {
	p       *Prefabs
	bases   []vast.Entity
	nodes   []vast.Entity                 // the node of each base; zero if the program has deleted it
	index   map[vast.Entity]int           // for each base, its index in bases
	numbers map[vast.Entity]int           // for each node, its index in nodes
	known   map[vast.Entity][]vast.Entity // results of the method members
	owners  map[vast.Entity]vast.Entity   // results of the method instanceOf
	made    []vast.Entity                 // entities that copyNew has made
}

// familyOf returns the family of the template with the given root.
func (p *Prefabs) familyOf(root vast.Entity) *family {
	f := &family{p: p, index: make(map[vast.Entity]int), numbers: make(map[vast.Entity]int),
		known: make(map[vast.Entity][]vast.Entity), owners: make(map[vast.Entity]vast.Entity)}
	for b := range p.root.Sources(root) {
		n, _ := p.node.Target(b)
		f.add(n, b)
	}
	return f
}

func (f *family) add(node, base vast.Entity) {
	f.index[base] = len(f.bases)
	if !node.IsZero() {
		f.numbers[node] = len(f.bases)
	}
	f.nodes, f.bases = append(f.nodes, node), append(f.bases, base)
}

// instanceOf returns the root of the instance to which e belongs, and whether there is one. An entity that
// the program has taken out of its instance belongs to none.
func (f *family) instanceOf(e vast.Entity) (root vast.Entity, ok bool) {
	root, known := f.owners[e]
	if !known {
		root = f.findOwner(e)
		f.owners[e] = root
	}
	return root, !root.IsZero()
}

func (f *family) findOwner(e vast.Entity) vast.Entity {
	var buffer [32]vast.Entity
	climb := append(buffer[:0], e)
	for i := 0; i < len(climb); i++ { // the loop appends to the list
		if b, _ := f.p.of.Target(climb[i]); b == f.bases[0] {
			return climb[i]
		}
		for _, r := range f.p.hierarchies {
			above, ok := r.Target(climb[i])
			// Only several hierarchies together can lead to the same entity twice.
			if ok && (len(f.p.hierarchies) == 1 || !slices.Contains(climb, above)) {
				climb = append(climb, above)
			}
		}
	}
	return vast.Entity{}
}

// members returns an entity for each base: its copy in the instance with the given root, or the zero Entity.
func (f *family) members(root vast.Entity) []vast.Entity {
	if list, ok := f.known[root]; ok {
		return list
	}
	list := make([]vast.Entity, len(f.bases))
	queue := []vast.Entity{root}
	seen := map[vast.Entity]bool{root: true}
	for i := 0; i < len(queue); i++ { // the loop appends to the queue
		b, _ := f.p.of.Target(queue[i])
		at, ok := f.index[b]
		if ok && at == 0 && i > 0 {
			continue // the root of another instance
		}
		if ok && list[at].IsZero() {
			list[at] = queue[i]
		}
		for _, r := range f.p.hierarchies {
			for s := range r.Sources(queue[i]) {
				if !seen[s] {
					seen[s] = true
					queue = append(queue, s)
				}
			}
		}
	}
	f.known[root] = list
	return list
}

// translated returns a copy of a component. In the copy, to[i] replaces each reference to from[i]. If the
// component has no references, translated returns the component itself.
func (f *family) translated(c *column, v reflect.Value, from, to []vast.Entity) reflect.Value {
	if !c.refers {
		return v
	}
	var a, b []vast.Entity
	for i, e := range from {
		if !e.IsZero() {
			a, b = append(a, e), append(b, to[i])
		}
	}
	f.p.trees.Aim(a, b)
	v = copyOf(v)
	f.p.trees.Translate(v)
	return v
}

// differing compares e, an entity of an instance, with base number i. It yields the names that
// [Prefabs.Differs] describes.
func (f *family) differing(e vast.Entity, i int, yield func(name string) bool) {
	to := make([]vast.Entity, len(f.bases))
	if root, ok := f.instanceOf(e); ok {
		to = f.members(root)
	}
	for k := range f.p.columns {
		c := &f.p.columns[k]
		want, should := c.value(f.bases[i])
		v, has := c.value(e)
		if should != has {
			if !yield(c.name) {
				return
			}
		} else if has && !c.differing(v, f.translated(c, want, f.bases, to), func(p part) bool {
			return yield(p.name)
		}) {
			return
		}
	}
	for _, r := range f.p.relations {
		if f.isPlace(r, i) {
			continue
		}
		want, _ := r.Target(f.bases[i])
		if target, _ := r.Target(e); target != f.counterpart(want, to) && !yield(r.Name()) {
			return
		}
	}
	for k := range f.p.edges {
		if x := &f.p.edges[k]; !x.equal(e, x.wanted(f, i, to)) && !yield(x.name) {
			return
		}
	}
}

// isPlace reports whether the link of base number i in relation r is the link of the root to a parent. This
// link does not belong to the template.
func (f *family) isPlace(r vast.Relation, i int) bool {
	return i == 0 && slices.Contains(f.p.hierarchies, r)
}

// counterpart returns the copy of a base in an instance, and any other entity unchanged. members are the
// copies of the bases.
func (f *family) counterpart(e vast.Entity, members []vast.Entity) vast.Entity {
	if i, ok := f.index[e]; ok {
		return members[i]
	}
	return e
}
