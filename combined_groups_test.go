package vast

import "slices"

// combinedGroup is a group of a query, and the model of the query.
type combinedGroup struct {
	*combinedQuery
	close func()
}

// applyGroup makes, checks, or closes a group. combinedModel.query uses the query of an open group as the
// beginning of some of its results.
func (m *combinedModel) applyGroup(b *byteStream) {
	m.operation = "group"
	k := b.next() % len(m.groups)
	if g := m.groups[k]; g != nil {
		if b.next()%4 == 0 {
			g.close()
			m.groups[k] = nil
		} else {
			m.checkGroup(g)
		}
		return
	}
	q := &combinedQuery{witness: m.any(b)}
	q.Query = m.world.Query()
	m.ask(b, q, 1+b.next()%3)
	for range b.next() % 3 {
		m.formKeepable(b, q, b.next()%5, b.next()%combinedOff)
	}
	named := slices.Concat(q.with, q.without, q.any)
	if len(q.with) == 0 || slices.ContainsFunc(named, func(c int) bool { return c >= combinedOff }) {
		return // such a query cannot be kept
	}
	g := &combinedGroup{combinedQuery: q}
	if m.try(func() { g.Query, g.close = states{}.Keep("group.New", q.Query) }) {
		m.groups[k] = g
	}
}

// checkGroup compares a group's bits with its query.
func (m *combinedModel) checkGroup(g *combinedGroup) {
	plain, kept := Query{g.q.unkept()}, g.Query
	got, want := slices.Collect(kept.All()), slices.Collect(plain.All())
	m.must(slices.Equal(got, want), "the group of%s yields %v, its query %v", g.text, got, want)
	m.note("group", len(got))
}

// grouped returns a query that begins with the query of an open group, or nil.
func (m *combinedModel) grouped(b *byteStream) *combinedQuery {
	g := m.groups[b.next()%len(m.groups)]
	if g == nil || b.next()%2 == 0 {
		return nil
	}
	q := *g.combinedQuery
	q.text = " group" + q.text
	for _, list := range []*[]int{&q.with, &q.without, &q.any, &q.optional} {
		*list = slices.Clone(*list)
	}
	q.tests = slices.Clone(q.tests)
	return &q
}
