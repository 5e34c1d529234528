package vast

import (
	"maps"
	"slices"
)

func (m *combinedModel) applyMoves(b *byteStream) {
	o := MoveOptions{Most: max(0, b.next()-100)}
	m.moved = nil
	var moves Moves
	var ok bool
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
	} else if b.next()%4 == 0 {
		if moves, ok = m.regroupBy(b); !ok {
			return
		}
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

// regroupBy brings together the entities of a query that have the same target in a relation. It reports
// whether the world did so.
func (m *combinedModel) regroupBy(b *byteStream) (moves Moves, ok bool) {
	m.operation = "Regroup by target"
	rel := m.relations[b.next()%len(m.relations)]
	q := m.query(b)
	m.lifted = true
	matches := slices.DeleteFunc(m.matching(q), func(e Entity) bool { return rel.target[e] == Entity{} })
	m.lifted = false
	if !m.try(func() { moves = m.world.Regroup(q.Query, MoveOptions{By: rel}) }) {
		m.must(m.moved == nil, "a refused Regroup calls OnMove")
		return moves, false
	}
	runs, targets := m.targetRuns(rel, matches)
	n := 0
	for a, r := range runs {
		if r > 2*len(targets[a]) {
			for _, e := range matches {
				if m.entities[e].archetype == a {
					n++
					m.must(moves.Resolve(e) != e, "%v did not move, though %d targets have %d runs", e,
						len(targets[a]), r)
				}
			}
		}
	}
	m.must(moves.Len() == n, "moves %d entities, want %d", moves.Len(), n)
	m.move(moves)
	for i, e := range matches {
		matches[i] = moves.Resolve(e)
	}
	slices.SortFunc(matches, bySlot)
	runs, targets = m.targetRuns(rel, matches)
	for a, r := range runs {
		m.must(r <= 2*len(targets[a]), "%d targets have %d runs after Regroup", len(targets[a]), r)
	}
	return moves, true
}

// targetRuns returns, for each archetype, the number of runs of entities with the same target, and the set of
// the entities' targets. The entities must be in the order of slots.
func (m *combinedModel) targetRuns(rel *relationModel, es []Entity) (map[*Archetype]int,
	map[*Archetype]map[Entity]bool) {
	runs, targets, last := map[*Archetype]int{}, map[*Archetype]map[Entity]bool{}, map[*Archetype]Entity{}
	for _, e := range es {
		a, target := m.entities[e].archetype, rel.target[e]
		if last[a] != target {
			runs[a]++
		}
		if last[a] = target; targets[a] == nil {
			targets[a] = map[Entity]bool{}
		}
		targets[a][target] = true
	}
	return runs, targets
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
