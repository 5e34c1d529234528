package vast

import (
	"maps"
	"slices"
)

// applyClone copies an entity, or a whole subtree.
func (m *combinedModel) applyClone(b *byteStream) {
	e, how := m.any(b), b.next()
	alive := m.entities[e] != nil
	switch how % 4 {
	case 0, 1:
		m.operation = "Clone"
		m.try(func() {
			c := m.world.Clone(e)
			m.must(c.IsZero() == !alive, "%v: Clone returns %v", e, c)
			if alive {
				m.cloned([]Entity{e}, [][]Entity{{c}})
			}
		})
	case 2:
		m.operation = "CloneN"
		n := b.next() % (1 + how/4)
		var copies [][]Entity
		fill := func(r Run) {
			for _, c := range r.All() {
				copies = append(copies, []Entity{c})
			}
			m.useFromCallback()
		}
		if !m.try(func() { m.world.CloneN(e, n, fill) }) {
			m.must(copies == nil, "a refused CloneN called fill")
			return
		}
		m.must(!alive && copies == nil || alive && len(copies) == n, "%d copies, want %d", len(copies), n)
		m.cloned([]Entity{e}, copies)
	case 3:
		m.operation = "clone of a subtree"
		m.applyCloneTree(e, b.next()%3)
	}
}

// applyCloneTree makes n copies of e and its descendants as package clone does.
func (m *combinedModel) applyCloneTree(e Entity, n int) {
	along := []Relation{m.relations[0].Relation, m.relations[2].Relation}
	if m.entities[e] == nil || len(m.below(e)) > 60 {
		return
	}
	counterparts := make([]any, len(m.world.columns))
	for i, c := range m.world.columns {
		counterparts[i] = c
	}
	k := states{}.Copying(m.world, m.world, counterparts).(*copying)
	m.must(k.Find(e, along), "Find returns false for the living %v", e)
	if !m.try(func() {
		if err := k.Copy(n); err != nil {
			panic(err)
		}
	}) {
		return
	}
	originals, all := k.Originals()
	m.must(maps.Equal(m.below(e), setOf(originals)), "%v is copied together with %v, want %v", e, originals,
		m.below(e))
	var copies [][]Entity
	for i := range n {
		copies = append(copies, all[i*len(originals):][:len(originals)])
	}
	m.cloned(originals, copies)
}

func setOf(es []Entity) map[Entity]bool {
	set := map[Entity]bool{}
	for _, e := range es {
		set[e] = true
	}
	return set
}

// below returns e and its descendants in hierarchies.
func (m *combinedModel) below(e Entity) map[Entity]bool {
	found := map[Entity]bool{e: true}
	for queue := []Entity{e}; len(queue) > 0; queue = queue[1:] {
		for _, i := range []int{0, 2} {
			for _, s := range m.relations[i].sources[queue[0]] {
				if !found[s] {
					found[s] = true
					queue = append(queue, s)
				}
			}
		}
	}
	return found
}

// cloned adds copies of originals to the model. copies[i][row] is copy i of originals[row].
func (m *combinedModel) cloned(originals []Entity, copies [][]Entity) {
	for _, one := range copies {
		for row, e := range originals {
			m.clonedOne(e, one[row])
		}
	}
	for i, r := range m.relations {
		for _, one := range copies {
			copyOf := copiesIn(originals, one)
			for row, e := range originals {
				if t, has := r.target[e]; has && copyOf(t) == t {
					m.link(i, one[row], t)
				}
				for _, s := range slices.Clone(r.sources[e]) {
					if copyOf(s) != s {
						m.link(i, copyOf(s), one[row])
					}
				}
			}
		}
	}
	for _, one := range copies {
		m.cloneEdges(originals, one, copiesIn(originals, one))
	}
	for _, one := range copies {
		for _, c := range one {
			m.note("cloned", c.Slot(), c.Generation())
			m.checkEntity(c)
			m.checkLinks(c)
		}
	}
}

// copiesIn returns a function that returns the copy of an original, and all other entities unchanged.
func copiesIn(originals, copies []Entity) func(Entity) Entity {
	return func(e Entity) Entity {
		if row := slices.Index(originals, e); row >= 0 {
			return copies[row]
		}
		return e
	}
}

func (m *combinedModel) clonedOne(e, c Entity) {
	from := m.entities[e]
	m.must(m.entities[c] == nil && !slices.Contains(m.stale, c), "the copy %v is not a new entity", c)
	var columns []*column
	for i := range from.values {
		columns = append(columns, m.columns[i].column())
	}
	for i, on := range from.tags {
		if on {
			columns = append(columns, m.columns[i].column())
		}
	}
	slices.SortFunc(columns, func(a, b *column) int { return int(a.id) - int(b.id) })
	m.entities[c] = &combinedEntity{m.world.archetypeOf(columns), map[int]uint64{}, map[int]bool{}}
	m.order = append(m.order, c)
	for i, v := range from.values {
		m.put(c, i, v)
	}
	for i, on := range from.tags {
		if on {
			m.toggle(c, i, true)
		}
	}
}

// cloneEdges adds the edges of one copy of the originals to the model. The edges of one source keep their
// order. An outer target is a target that is not an original. If edges of several sources lead to the same
// outer target, the world decides the order of these sources.
func (m *combinedModel) cloneEdges(originals, copies []Entity, copyOf func(Entity) Entity) {
	r := m.roads
	var outer []Entity
	for row, e := range originals {
		for _, to := range slices.Clone(r.out[e]) {
			m.connect(copies[row], copyOf(to), r.value[[2]Entity{e, to}])
			if copyOf(to) == to && !slices.Contains(outer, to) {
				outer = append(outer, to)
			}
		}
	}
	for row, e := range originals { // the sources of a target that is an original keep their order
		var sources []Entity
		for _, from := range r.in[e] {
			if copyOf(from) != from {
				sources = append(sources, copyOf(from))
			}
		}
		if len(sources) > 0 {
			r.in[copies[row]] = sources
		}
	}
	for _, to := range outer {
		var sources []Entity
		for from := range r.Sources(to) {
			sources = append(sources, from)
		}
		m.must(len(sources) >= len(r.in[to]) && maps.Equal(setOf(r.in[to]), setOf(sources[:len(r.in[to])])),
			"the target %v has the sources %v, want %v", to, sources, r.in[to])
		copy(r.in[to], sources)
	}
}
