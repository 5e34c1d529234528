package vast

import "slices"

func (m *combinedModel) checkSome() {
	m.must(m.world.Len() == len(m.order), "%d entities, want %d", m.world.Len(), len(m.order))
	m.must(m.roads.Len() == len(m.roads.value), "%d edges, want %d", m.roads.Len(), len(m.roads.value))
	if n := len(m.order); n > 0 {
		m.checkEntity(m.order[m.step*7%n])
		m.checkEntity(m.order[n-1])
	}
	if n := len(m.stale); n > 0 {
		m.checkEntity(m.stale[m.step%n])
	}
	m.checkPlaceholders()
}

func (m *combinedModel) checkEntity(e Entity) {
	v := m.entities[e]
	m.must(m.world.Alive(e) == (v != nil), "Alive of %v returns %v", e, m.world.Alive(e))
	for i, c := range m.values {
		got, has := c.get(e)
		m.must(has == m.has(e, i), "%v: has %s is %v, want %v", e, c.Name(), has, !has)
		if has {
			m.must(got == v.values[i], "%s of %v is %d, want %d", c.Name(), e, got, v.values[i])
		}
	}
	for i, d := range m.switches {
		want := m.has(e, combinedOff+i)
		m.must(d.Has(e) == want, "%v: Has of %s returns %v", e, d.Name(), !want)
	}
	for _, r := range m.relations {
		got, has := r.Target(e)
		want, ok := r.target[e]
		m.must(got == want && has == ok && r.Has(e) == ok, "%s: the target of %v is %v, want %v", r.Name(), e,
			got, want)
		n := r.CountSources(e)
		m.must(n == len(r.sources[e]), "%s: %v has %d sources, want %d", r.Name(), e, n, len(r.sources[e]))
	}
	out, in := m.roads.CountTargets(e), m.roads.CountSources(e)
	m.must(out == len(m.roads.out[e]) && in == len(m.roads.in[e]),
		"%v has %d edges out and %d in, want %d and %d",
		e, out, in, len(m.roads.out[e]), len(m.roads.in[e]))
}

// checkLinks compares the order of an entity's links, its depth and its descendants with the model.
func (m *combinedModel) checkLinks(e Entity) {
	for _, r := range m.relations {
		sources := slices.Collect(r.Sources(e))
		m.must(slices.Equal(sources, r.sources[e]), "%s: the sources of %v are %v, want %v", r.Name(), e,
			sources, r.sources[e])
		if r.options.Cyclic {
			continue
		}
		m.must(r.Depth(e) == r.depth(e), "%s: the depth of %v is %d, want %d", r.Name(), e, r.Depth(e),
			r.depth(e))
		var below []Entity
		var walk func(Entity)
		walk = func(e Entity) {
			for _, s := range r.sources[e] {
				below = append(below, s)
				walk(s)
			}
		}
		if _, ok := r.target[e]; !ok {
			walk(e)
			got := slices.Collect(r.Descendants(e))
			m.must(slices.Equal(got, below), "%s: the descendants of %v are %v, want %v", r.Name(), e, got,
				below)
		}
	}
	var out, in []Entity
	for to, v := range m.roads.Targets(e) {
		out = append(out, to)
		m.must(*v == m.roads.value[[2]Entity{e, to}], "the edge %v → %v is %d", e, to, *v)
	}
	for from, v := range m.roads.Sources(e) {
		in = append(in, from)
		m.must(*v == m.roads.value[[2]Entity{from, e}], "the edge %v → %v is %d", from, e, *v)
	}
	m.must(slices.Equal(out, m.roads.out[e]) && slices.Equal(in, m.roads.in[e]),
		"%v has edges to %v and from %v, want %v and %v", e, out, in, m.roads.out[e], m.roads.in[e])
}

func (m *combinedModel) checkAll() {
	m.operation += ", checkAll"
	m.world.checkInvariants()
	m.done("Resident", func() error { _, err := m.world.Resident(); return err })
	if !m.options.faults {
		CheckAreas(m.t, m.world)
	}
	counts, born := make([]int, combinedCount), map[*Archetype]int{}
	for _, e := range m.order {
		m.checkEntity(e)
		m.checkLinks(e)
		born[m.entities[e].archetype]++
		for c := range combinedCount {
			if m.has(e, c) {
				counts[c]++
				m.must(m.told[c] == nil || m.told[c][e], "OnAdd of %s was not called for %v",
					m.columns[c].Name(), e)
			}
		}
	}
	for _, e := range m.stale {
		m.checkEntity(e)
		m.checkLinks(e)
	}
	for i, a := range m.world.archetypes {
		m.must(a.Len() == born[a], "archetype %d has %d entities, want %d", i, a.Len(), born[a])
	}
	for c, col := range m.columns {
		n := m.world.Query(col).lift("Query").Count()
		m.must(n == counts[c], "%s has %d entities, want %d", col.Name(), n, counts[c])
		m.must(c >= combinedValues || m.values[c].count() == n, "Len of %s is not %d, the Count of its query",
			col.Name(), n)
		m.must(m.told[c] == nil || len(m.told[c]) == n,
			"according to the hooks of %s, %d entities have the component, want %d",
			col.Name(), len(m.told[c]), n)
		if c < combinedValues && m.values[c].all != nil {
			m.checkSparseAll(c)
		}
	}
	for _, tr := range m.trackers {
		if tr != nil {
			m.checkTracker(tr)
		}
	}
	for _, g := range m.groups {
		if g != nil {
			m.checkGroup(g)
		}
	}
}

func (m *combinedModel) checkSparseAll(c int) {
	seen := map[Entity]bool{}
	for e, v := range m.values[c].all {
		m.must(m.has(e, c) && !seen[e], "%s: All yields %v, which lacks the component or was yielded before",
			m.columns[c].Name(), e)
		want := m.entities[e].values[c]
		m.must(v == want, "%s: All yields %d for %v, want %d", m.columns[c].Name(), v, e, want)
		seen[e] = true
	}
	n := m.values[c].count()
	m.must(len(seen) == n, "%s: All yields %d entities, want %d", m.columns[c].Name(), len(seen), n)
}
