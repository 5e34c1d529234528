package prefab_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/prefab"
)

// tree is the model of a template or an instance: entities by their labels.
type tree map[uint64]*modelNode

// modelNode is the model of an entity. References are labels, and 0 stands for no entity.
type modelNode struct {
	parent uint64
	copied bool              // whether the entity is a node, or a copy of a node
	roads  map[uint64]uint64 // lengths by targets
	// fields has values by the names that Differs yields. It lacks the fields of absent components. It always
	// has team.
	fields map[string]uint64
}

func (n *modelNode) clone() *modelNode {
	return &modelNode{n.parent, true, maps.Clone(n.roads), maps.Clone(n.fields)}
}

func (t tree) clone() tree {
	c := make(tree)
	for label, n := range t {
		c[label] = n.clone()
	}
	return c
}

func (t tree) below(label uint64) (list []uint64) {
	list = []uint64{label}
	for i := 0; i < len(list); i++ {
		for l, n := range t {
			if n.parent == list[i] {
				list = append(list, l)
			}
		}
	}
	return list
}

func (t tree) labels() []uint64 { return slices.Sorted(maps.Keys(t)) }

func (t tree) String() string {
	var b strings.Builder
	for _, label := range t.labels() {
		n := t[label]
		fmt.Fprintf(&b, "%d below %d:", label, n.parent)
		for _, name := range slices.Sorted(maps.Keys(n.fields)) {
			fmt.Fprintf(&b, " %s=%d", name, n.fields[name])
		}
		for _, to := range slices.Sorted(maps.Keys(n.roads)) {
			fmt.Fprintf(&b, " road to %d=%d", to, n.roads[to])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// parts are the fields of each component.
var parts = map[string][]string{"hull": {"hull.Points", "hull.Armour[0]", "hull.Armour[1]"},
	"aim": {"aim.At", "aim.Range"}, "rare": {"rare"}, "armed": {"armed"}}

func (n *modelNode) has(component string) bool {
	_, ok := n.fields[parts[component][0]]
	return ok
}

// differs returns what Differs yields for a copy of base.
func (n *modelNode) differs(base *modelNode, root bool) (names []string) {
	for _, component := range []string{"hull", "aim", "rare", "armed"} {
		if n.has(component) != base.has(component) {
			names = append(names, component)
		} else if n.has(component) {
			for _, name := range parts[component] {
				if n.fields[name] != base.fields[name] {
					names = append(names, name)
				}
			}
		}
	}
	if !root && n.parent != base.parent {
		names = append(names, "childOf")
	}
	if n.fields["team"] != base.fields["team"] {
		names = append(names, "team")
	}
	if !maps.Equal(n.roads, base.roads) {
		names = append(names, "roads")
	}
	return names
}

// modelTemplate is the model of a template and its instances.
type modelTemplate struct {
	prefab.Template
	root      uint64
	now, base tree
	from      tree // all nodes that the template got from another template
	instances []*modelInstance
	variants  []*modelTemplate
}

type modelInstance struct {
	root vast.Entity
	tree tree
	made *modelTemplate
}

// apply is a naive Template.Apply.
func (m *modelTemplate) apply() {
	var targets []tree
	for _, one := range m.instances {
		targets = append(targets, one.tree)
	}
	for _, v := range m.variants {
		targets = append(targets, v.now)
	}
	for _, to := range targets {
		m.applyTo(to)
	}
	for _, v := range m.variants {
		maps.Copy(v.from, m.now)
	}
	m.base = m.now.clone()
	for _, n := range m.now {
		n.copied = true
	}
	for _, v := range m.variants {
		v.apply()
	}
}

func (m *modelTemplate) applyTo(to tree) {
	for again := true; again; { // a new node can lie below another new node
		again = false
		for label, n := range m.now {
			p := to[n.parent]
			if m.base[label] == nil && to[label] == nil && p != nil && p.copied {
				to[label], again = n.clone(), true
			}
		}
	}
	for label, n := range m.now {
		old := m.base[label]
		if old == nil {
			continue
		}
		x := to[label]
		if x == nil || !x.copied {
			continue
		}
		if n.parent != old.parent && x.parent == old.parent && to[n.parent] != nil && to[n.parent].copied {
			x.parent = n.parent
		}
		if x.fields["team"] == old.fields["team"] {
			x.fields["team"] = n.fields["team"]
		}
		for target, length := range n.roads {
			if x.roads[target] == old.roads[target] { // no road has the length 0
				x.roads[target] = length
			}
		}
		for target, length := range old.roads {
			if n.roads[target] == 0 && x.roads[target] == length {
				delete(x.roads, target)
			}
		}
		for component, names := range parts {
			same := true
			for _, name := range names {
				same = same && x.fields[name] == old.fields[name]
			}
			switch {
			case n.has(component) && !old.has(component) && !x.has(component):
				for _, name := range names {
					x.fields[name] = n.fields[name]
				}
			case !n.has(component) && old.has(component) && x.has(component) && same:
				for _, name := range names {
					delete(x.fields, name)
				}
			case n.has(component) && old.has(component) && x.has(component):
				for _, name := range names {
					if x.fields[name] == old.fields[name] {
						x.fields[name] = n.fields[name]
					}
				}
			}
		}
	}
	var doomed []uint64
	for label, old := range m.base {
		if m.now[label] == nil && to[label] != nil && to[label].copied {
			to[label].copied = false
			if len(to[label].differs(old, false)) == 0 {
				doomed = append(doomed, label)
			}
		}
	}
	for again := true; again; {
		again = false
		doomed = slices.DeleteFunc(doomed, func(label uint64) bool {
			for l, n := range to {
				if n.parent == label && !slices.Contains(doomed, l) {
					again = true
					return true
				}
			}
			return false
		})
	}
	for _, label := range doomed {
		delete(to, label)
	}
}

// modelWorld plays random operations in a world and in the model.
type modelWorld struct {
	*fleet
	label     vast.Column[uint64]
	r         *rand.Rand
	last      uint64
	templates []*modelTemplate
	instances []*modelInstance
}

// find returns the entities of a tree by their labels.
func (w *modelWorld) find(root vast.Entity) map[uint64]vast.Entity {
	found := map[uint64]vast.Entity{*w.label.Get(root): root}
	for e := range w.child.Descendants(root) {
		found[*w.label.Get(e)] = e
	}
	return found
}

// read returns the model of root and its descendants.
func (w *modelWorld) read(root vast.Entity) tree {
	labelOf := func(e vast.Entity) uint64 {
		if v := w.label.Get(e); v != nil {
			return *v
		}
		return 0
	}
	t := make(tree)
	for label, e := range w.find(root) {
		parent, _ := w.child.Target(e)
		mate, _ := w.team.Target(e)
		n := &modelNode{labelOf(parent), true, make(map[uint64]uint64),
			map[string]uint64{"team": labelOf(mate)}}
		for to, v := range w.roads.Targets(e) {
			n.roads[labelOf(to)] = v.Length
			if v.Owner != to {
				n.roads[labelOf(to)] = 1000 + labelOf(v.Owner) // a reference that was not translated
			}
		}
		if v := w.hull.Get(e); v != nil {
			n.fields["hull.Points"] = uint64(v.Points)
			n.fields["hull.Armour[0]"], n.fields["hull.Armour[1]"] = uint64(v.Armour[0]), uint64(v.Armour[1])
		}
		if v := w.aim.Get(e); v != nil {
			n.fields["aim.At"], n.fields["aim.Range"] = labelOf(v.At), uint64(v.Range)
		}
		if v := w.rare.Get(e); v != nil {
			n.fields["rare"] = *v
		}
		if w.armed.Has(e) {
			n.fields["armed"] = 0
		}
		t[label] = n
	}
	return t
}

// set gives an entity the components of its model.
func (w *modelWorld) set(e vast.Entity, n *modelNode, found map[uint64]vast.Entity) {
	f := n.fields
	w.hull.Remove(e)
	if n.has("hull") {
		w.hull.Add(e, hull{int32(f["hull.Points"]), [2]uint16{uint16(f["hull.Armour[0]"]),
			uint16(f["hull.Armour[1]"])}})
	}
	w.aim.Remove(e)
	if n.has("aim") {
		w.aim.Add(e, aim{found[f["aim.At"]], float32(f["aim.Range"])})
	}
	w.rare.Remove(e)
	if n.has("rare") {
		w.rare.Add(e, f["rare"])
	}
	w.armed.Remove(e)
	if n.has("armed") {
		w.armed.Add(e)
	}
	w.team.Remove(e)
	if mate, ok := found[f["team"]]; ok {
		w.team.Set(e, mate)
	}
	w.roads.RemoveTargets(e)
	for to, length := range n.roads {
		w.roads.Add(e, found[to], road{length, found[to]})
	}
}

// random gives a model random components.
func (w *modelWorld) random(n *modelNode, label, root uint64) {
	to := func() uint64 { return []uint64{0, label, root}[w.r.IntN(3)] }
	for component, names := range parts {
		switch present := n.has(component); {
		case w.r.IntN(4) > 0:
		case present && w.r.IntN(3) == 0:
			for _, name := range names {
				delete(n.fields, name)
			}
		default:
			for _, name := range names {
				if v, had := n.fields[name]; !had || w.r.IntN(2) == 0 {
					v = w.r.Uint64N(5)
					if name == "aim.At" {
						v = to()
					} else if name == "armed" {
						v = 0
					}
					n.fields[name] = v
				} else {
					n.fields[name] = v
				}
			}
		}
	}
	if w.r.IntN(3) == 0 {
		n.fields["team"] = to()
	}
	if target := to(); target != 0 && w.r.IntN(3) == 0 {
		n.roads[target] = 1 + w.r.Uint64N(4)
	} else if w.r.IntN(6) == 0 {
		delete(n.roads, target)
	}
}

// change changes an entity of a tree, adds one, deletes some, or moves one. It does not move entities with
// labels in fixed: the order in which Apply moves entities would matter.
func (w *modelWorld) change(t tree, root vast.Entity, fixed tree) {
	found := w.find(root)
	top := *w.label.Get(root)
	labels := t.labels()
	label := labels[w.r.IntN(len(labels))]
	switch n := t[label]; w.r.IntN(6) {
	case 0: // the entity is no node before Apply
		w.last++
		e := w.Archetype(w.label).New()
		*w.label.Get(e) = w.last
		w.child.Set(e, found[label])
		t[w.last] = &modelNode{parent: label, fields: map[string]uint64{"team": 0},
			roads: make(map[uint64]uint64)}
		w.random(t[w.last], w.last, top)
		found[w.last] = e
		w.set(e, t[w.last], found)
	case 1:
		if label != top {
			for _, l := range t.below(label) {
				delete(t, l)
			}
			w.Delete(found[label])
		}
	case 2:
		to := labels[w.r.IntN(len(labels))]
		if fixed[label] == nil && label != top && !slices.Contains(t.below(label), to) {
			n.parent = to
			w.child.Set(found[label], found[to])
		}
	default:
		w.random(n, label, top)
		w.set(found[label], n, found)
	}
}

func (w *modelWorld) check(what string) {
	for i, m := range w.templates {
		if got, want := w.read(m.Root()).String(), m.now.String(); got != want {
			panic(fmt.Sprintf("%s: template %d is\n%swant\n%s", what, i, got, want))
		}
	}
	for i, one := range w.instances {
		if got, want := w.read(one.root).String(), one.tree.String(); got != want {
			panic(fmt.Sprintf("%s: instance %d is\n%swant\n%s", what, i, got, want))
		}
		for label, e := range w.find(one.root) {
			n, base := one.tree[label], one.made.base[label]
			var want []string
			if n.copied && base != nil {
				want = n.differs(base, label == one.made.root)
			}
			if got := slices.Collect(w.p.Differs(e)); !slices.Equal(got, want) {
				panic(fmt.Sprintf("%s: instance %d, entity %d differs in %q, want %q", what, i, label, got,
					want))
			}
		}
	}
}

func (w *modelWorld) step() string {
	m := w.templates[w.r.IntN(len(w.templates))]
	switch k := w.r.IntN(12); {
	case k < 4:
		w.change(m.now, m.Root(), m.from)
		return "a change of a template"
	case k < 7 && len(w.instances) > 0:
		one := w.instances[w.r.IntN(len(w.instances))]
		w.change(one.tree, one.root, one.tree)
		return "a change of an instance"
	case k < 8 && len(w.instances) < 20:
		one := &modelInstance{m.Instantiate(), m.base.clone(), m}
		w.instances, m.instances = append(w.instances, one), append(m.instances, one)
		return "Instantiate"
	case k < 9 && len(w.templates) < 5 && m.base[m.root].has("hull"):
		v := &modelTemplate{Template: m.Override("hull.Points", 9), root: m.root, now: m.base.clone(),
			from: m.base.clone()}
		v.now[v.root].fields["hull.Points"] = 9
		v.base = v.now.clone()
		w.templates, m.variants = append(w.templates, v), append(m.variants, v)
		return "Override"
	case k < 11:
		if _, err := m.Apply(); err != nil {
			panic(err)
		}
		m.apply()
		return "Apply"
	}
	return ""
}

// TestModel compares random changes and calls of Instantiate, Override and Apply with a naive model.
func TestModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round := range longtest.Pick(10, 500) {
		w := &modelWorld{fleet: newFleet(t, vast.Options{MaxEntities: 1 << 14}),
			r: rand.New(rand.NewPCG(seed, uint64(round))), last: 1}
		w.label = vast.NewColumn[uint64](w.World).Named("label")
		root := w.Archetype(w.label).New()
		*w.label.Get(root) = 1
		now := tree{1: {fields: map[string]uint64{"team": 0}, roads: make(map[uint64]uint64)}}
		for range 8 {
			w.change(now, root, nil)
		}
		w.templates = append(w.templates, &modelTemplate{Template: w.p.Mark(root), root: 1, now: now,
			base: now.clone()})
		for _, n := range now {
			n.copied = true
		}
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Fatalf("round %d: %v", round, r)
				}
			}()
			for range 100 {
				what := w.step()
				w.check(what)
			}
		}()
		w.Close()
	}
}
