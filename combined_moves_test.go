package vast

import (
	"maps"
	"slices"
)

func (m *combinedModel) applyMoves(b *byteStream) {
	o := MoveOptions{Most: max(0, b.next()-100)}
	m.moved = nil
	var moves Moves
	if b.next()%2 == 0 {
		m.operation = "Pack"
		a := m.world.archetypes[b.next()%len(m.world.archetypes)]
		moves = a.Pack(o)
		for old := range moves.All() {
			m.must(m.entities[old] != nil && m.entities[old].archetype == a,
				"moves %v, which is not in the archetype", old)
		}
		m.move(moves)
		m.must(o.Most > 0 && moves.Len() == o.Most || a.Pack(MoveOptions{}).Len() == 0,
			"a second Pack still finds entities to move")
	} else {
		m.operation = "Regroup"
		q := m.query(b)
		var want []Entity
		m.lifted = true
		all := m.matching(q)
		m.lifted = false
		for _, e := range all {
			if m.misplaced(e) {
				want = append(want, e)
			}
		}
		if !m.try(func() { moves = m.world.Regroup(q.Query, o) }) {
			m.must(m.moved == nil, "a refused Regroup calls OnMove")
			return
		}
		n := len(want)
		if o.Most > 0 {
			n = min(n, o.Most)
		}
		m.must(moves.Len() == n, "moves %d entities, want %d", moves.Len(), n)
		for old := range moves.All() {
			m.must(slices.Contains(want, old),
				"moves %v, which is in the right archetype or not in the query", old)
			m.entities[old].archetype = m.archetypeNow(old)
		}
		m.move(moves)
	}
	m.must(slices.Equal(m.moved, moves.pairs), "calls OnMove for %v, but moves %v", m.moved, moves.pairs)
	for _, p := range moves.pairs {
		m.note(p.old, p.new)
		m.checkEntity(p.old)
		m.checkEntity(p.new)
		m.checkLinks(p.new)
	}
}

// misplaced reports whether an entity's components differ from those of its archetype. Tags of Disabled are
// no components here.
func (m *combinedModel) misplaced(e Entity) bool {
	v, n := m.entities[e], 0
	for _, c := range v.archetype.columns {
		if c.switches {
			continue
		}
		if _, ok := v.values[slices.IndexFunc(m.columns, func(col AnyColumn) bool {
			return col.column() == c
		})]; !ok {
			return true
		}
		n++
	}
	return n != len(v.values)
}

// archetypeNow returns the archetype of an entity's present components.
func (m *combinedModel) archetypeNow(e Entity) *Archetype {
	var columns []AnyColumn
	for i := range m.entities[e].values {
		columns = append(columns, m.columns[i])
	}
	return m.world.Archetype(columns...)
}

// move replaces the references of the moved entities in the model.
func (m *combinedModel) move(moves Moves) {
	now := moves.Resolve
	renewKeys := func(es map[Entity][]Entity) map[Entity][]Entity {
		renewed := map[Entity][]Entity{}
		for e, list := range es {
			for i := range list {
				list[i] = now(list[i])
			}
			renewed[now(e)] = list
		}
		return renewed
	}
	for i, r := range m.relations {
		targets := map[Entity]Entity{}
		for e, t := range r.target {
			targets[now(e)] = now(t)
			if now(t) != t {
				m.wrote(combinedLinks+2*i, now(e))
			}
		}
		r.target, r.sources = targets, renewKeys(r.sources)
	}
	values := map[[2]Entity]uint64{}
	for ends, v := range m.roads.value {
		values[[2]Entity{now(ends[0]), now(ends[1])}] = v
		if now(ends[1]) != ends[1] {
			m.wrote(combinedRoads, now(ends[0]))
		}
	}
	m.roads.value, m.roads.out, m.roads.in = values, renewKeys(m.roads.out), renewKeys(m.roads.in)
	for old, e := range moves.All() {
		m.must(m.entities[e] == nil && !slices.Contains(m.stale, e), "%v is not a new reference", e)
		m.entities[e] = m.entities[old]
		delete(m.entities, old)
		m.stale = append(m.stale, old)
	}
	for i := range m.order {
		m.order[i] = now(m.order[i])
	}
	for _, told := range m.told {
		for e := range maps.Clone(told) {
			if now(e) != e {
				delete(told, e)
				told[now(e)] = true
			}
		}
	}
	for _, c := range m.buffers {
		for _, k := range c.pending {
			k.e.e, k.other.e = now(k.e.e), now(k.other.e)
		}
		for _, p := range c.made {
			p.entity = now(p.entity)
		}
	}
}
