package vast

import "slices"

// combinedEdges holds Edges and the model of their content.
type combinedEdges struct {
	Edges[uint64]
	rule  OnDelete
	out   map[Entity][]Entity  // targets, by source, in the order of creation
	in    map[Entity][]Entity  // sources, by target, in the order of creation
	value map[[2]Entity]uint64 // values, by source and target
}

func without(es map[Entity][]Entity, key, e Entity) {
	i := slices.Index(es[key], e)
	if es[key] = slices.Delete(es[key], i, i+1); len(es[key]) == 0 {
		delete(es, key)
	}
}

func (r *combinedEdges) has(from, to Entity) bool {
	_, ok := r.value[[2]Entity{from, to}]
	return ok
}

func (r *combinedEdges) remove(from, to Entity) {
	delete(r.value, [2]Entity{from, to})
	without(r.out, from, to)
	without(r.in, to, from)
}

func (m *combinedModel) link(i int, source, target Entity) {
	r := m.relations[i]
	was, had := r.target[source]
	if had && was == target {
		return
	}
	first := len(r.sources[target]) == 0
	r.link(source, target)
	m.wrote(combinedLinks+2*i, source)
	if first {
		m.wrote(combinedLinks+2*i+1, target)
	}
}

func (m *combinedModel) connect(from, to Entity, v uint64) {
	r := m.roads
	if !r.has(from, to) {
		if len(r.in[to]) == 0 {
			m.wrote(combinedRoads+1, to)
		}
		r.out[from], r.in[to] = append(r.out[from], to), append(r.in[to], from)
	}
	r.value[[2]Entity{from, to}] = v
	m.wrote(combinedRoads, from)
}

func (m *combinedModel) disconnect(from, to Entity) {
	m.roads.remove(from, to)
	if len(m.roads.out[from]) > 0 {
		m.wrote(combinedRoads, from)
	}
}

func (m *combinedModel) disconnectAll(from Entity) {
	for _, to := range slices.Clone(m.roads.out[from]) {
		m.roads.remove(from, to)
	}
}

// eachLink calls f for the sources of a target, in the relations and edges that have the rule.
func (m *combinedModel) eachLink(rule OnDelete, target Entity, f func(source Entity)) {
	for _, r := range m.relations {
		if r.options.OnDelete == rule {
			for _, s := range r.sources[target] {
				f(s)
			}
		}
	}
	if m.roads.rule == rule {
		for _, s := range m.roads.in[target] {
			f(s)
		}
	}
}

// closure returns the entities that a deletion of the seeds deletes. It skips a seed if a surviving entity
// would lose its target in a relation or edges with the rule Refuse.
func (m *combinedModel) closure(seeds []Entity) map[Entity]bool {
	for {
		goes := map[Entity]bool{}
		by := map[Entity][]Entity{} // by source, the targets whose deletion deletes the source
		var queue []Entity
		for _, s := range seeds {
			goes[s] = true
			queue = append(queue, s)
		}
		for len(queue) > 0 {
			e := queue[0]
			queue = queue[1:]
			m.eachLink(Cascade, e, func(s Entity) {
				by[s] = append(by[s], e)
				if !goes[s] {
					goes[s] = true
					queue = append(queue, s)
				}
			})
		}
		stays := map[Entity]bool{}
		for e := range goes {
			m.eachLink(Refuse, e, func(s Entity) {
				if !goes[s] && !stays[e] {
					stays[e] = true
					queue = append(queue, e)
				}
			})
		}
		if len(stays) == 0 {
			return goes
		}
		for len(queue) > 0 {
			e := queue[0]
			queue = queue[1:]
			for _, t := range by[e] {
				if !stays[t] {
					stays[t] = true
					queue = append(queue, t)
				}
			}
		}
		seeds = slices.DeleteFunc(slices.Clone(seeds), func(e Entity) bool { return stays[e] })
	}
}

func (m *combinedModel) die(goes map[Entity]bool) {
	if len(goes) == 0 {
		return
	}
	for _, e := range m.order {
		if !goes[e] {
			continue
		}
		for _, r := range m.relations {
			r.unlink(e)
			for _, s := range slices.Clone(r.sources[e]) {
				r.unlink(s)
			}
		}
		m.disconnectAll(e)
	}
	for _, e := range m.order {
		if goes[e] {
			for _, from := range slices.Clone(m.roads.in[e]) {
				m.disconnect(from, e)
			}
			delete(m.entities, e)
			m.stale = append(m.stale, e)
		}
	}
	m.stale = m.stale[max(0, len(m.stale)-100):]
	m.order = slices.DeleteFunc(m.order, func(e Entity) bool { return goes[e] })
}
