package vast

import "slices"

// formWhere limits a query to the entities with a target that matches another query. i is the index of a
// relation, or the number of relations for the edges.
func (m *combinedModel) formWhere(b *byteStream, q *combinedQuery, i int) {
	col := combinedLinks + 2*i
	targets := m.query(b)
	if slices.Contains(q.without, col) || slices.Contains(targets.without, col+1) {
		return
	}
	matches := func(e Entity) bool {
		return m.present(e, col+1) &&
			!slices.ContainsFunc(targets.tests, func(f func(Entity) bool) bool { return !f(e) })
	}
	test := func(e Entity) bool { return m.present(e, col) && slices.ContainsFunc(m.roads.out[e], matches) }
	links := Links(m.roads.Edges)
	if i < len(m.relations) {
		r := m.relations[i]
		links = r.Relation
		test = func(e Entity) bool { return m.present(e, col) && matches(r.target[e]) }
	}
	if !m.fits(b, test(q.witness)) {
		return
	}
	q.Query = q.Where(links, targets.Query)
	q.include(col)
	q.test(test, " where %s [%s]", links.Name(), targets.text)
}

// formUp limits a query to the entities with an ancestor that has a component or two.
func (m *combinedModel) formUp(b *byteStream, q *combinedQuery, i int) {
	r, col := m.relations[i], combinedLinks+2*i
	if r.options.Cyclic || slices.Contains(q.without, col) {
		return
	}
	cols := []int{b.combinedColumn()}
	if c := b.combinedColumn(); b.next()%4 == 0 && c != cols[0] {
		cols = append(cols, c)
	}
	matches := func(e Entity) bool {
		on := m.lifted || slices.Contains(cols, combinedOff) || !m.has(e, combinedOff)
		return on && m.present(e, col+1) &&
			!slices.ContainsFunc(cols, func(c int) bool { return !m.present(e, c) })
	}
	nearest := func(e Entity) (Entity, bool) {
		for above, ok := r.target[e]; ok; above, ok = r.target[above] {
			if matches(above) {
				return above, true
			}
		}
		return Entity{}, false
	}
	test := func(e Entity) bool {
		_, ok := nearest(e)
		return ok && m.present(e, col)
	}
	if !m.fits(b, test(q.witness)) {
		return
	}
	q.Query = q.Up(r.Relation, m.chosen(cols)...)
	q.include(col)
	q.test(test, " up %s %v", r.Name(), cols)
	ancestors := m.world.Query(m.chosen(cols)...)
	if !slices.Contains(cols, col+1) {
		ancestors = m.world.Query(m.chosen(append(cols, col+1))...)
	}
	for _, e := range m.order {
		want, ok := nearest(e)
		got, found := r.Nearest(Slot{e.slot, m.world}, ancestors)
		m.must(found == ok && got.Entity() == want, "the nearest ancestor of %v in %s with %v is %v, want %v",
			e, r.Name(), cols, got.Entity(), want)
	}
}

// checkPairs checks the pairs of entities and targets that a query yields in a relation.
func (m *combinedModel) checkPairs(q *combinedQuery, es []Entity) {
	for _, r := range m.relations {
		n := 0
		for s, t := range r.Pairs(q.Query) {
			for n < len(es) && r.target[es[n]] == (Entity{}) {
				n++
			}
			m.must(n < len(es) && s.Entity() == es[n] && t.Entity() == r.target[es[n]],
				"pair %d of %v and %v in %s, want the entities %v", n, s.Entity(), t.Entity(), r.Name(), es)
			n++
		}
		for _, e := range es[n:] {
			m.must(r.target[e] == Entity{}, "Pairs of %s lacks %v", r.Name(), e)
		}
	}
}
