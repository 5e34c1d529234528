package vast

import "slices"

func (m *model) applyBatches(q Query, es []Entity, n int) {
	m.operation = "Batches"
	var got []Entity
	last := -1
	for batch := range q.Batches(n) {
		one := slices.Collect(batch.All())
		m.must(len(one) == batch.Len() && len(one) > 0 && len(one) < n+64,
			"Batches(%d): a batch yields %d entities, its Len is %d", n, len(one), batch.Len())
		m.must(int(one[0].slot/64) > last, "two batches share word %d", last)
		last = int(one[len(one)-1].slot / 64)
		got = append(got, one...)
		m.must(batch.Len() >= n || len(got) == len(es),
			"Batches(%d): a batch before the last has %d entities", n, batch.Len())
		m.note("batch", batch.Len())
	}
	m.must(slices.Equal(got, es), "the batches yield %v, want %v", got, es)
}

func (m *model) mustChange(want int, f func()) {
	before := m.world.changes
	f()
	m.must(m.world.changes == before+uint64(want), "want %d structural changes, got %d", want,
		m.world.changes-before)
}

func (m *model) countWithout(es []Entity, i int) (n int) {
	for _, e := range es {
		if !m.has(e, i) {
			n++
		}
	}
	return n
}

func (m *model) applyAddAll(b *byteStream) {
	m.operation = "AddAll"
	q, with, match := m.query(b)
	i, v := b.column(), uint64(b.next())+1
	if len(with) == 0 && b.next()%4 != 0 {
		return // AddAll on all entities should be rare
	}
	es := m.matching(match)
	m.mustChange(m.countWithout(es, i), func() {
		n := m.columns[i].addAll(q, v)
		m.must(n == len(es), "column %d: returned %d, want %d", i, n, len(es))
	})
	for _, e := range es {
		m.entities[e].values[i] = m.columns[i].cut(v)
		m.checkComponent(e, i)
	}
	m.note("added", len(es))
}

func (m *model) applySetAll(b *byteStream) {
	m.operation = "SetAll"
	q, _, match := m.query(b)
	i, v := b.column(), uint64(b.next())+1
	es := m.matching(match)
	m.mustChange(0, func() {
		n := m.columns[i].setAll(q, v)
		m.must(n == len(es)-m.countWithout(es, i),
			"column %d: returned %d; %d of %d entities lack the component", i, n, m.countWithout(es, i),
			len(es))
	})
	for _, e := range es {
		if m.has(e, i) {
			m.entities[e].values[i] = m.columns[i].cut(v)
		}
		m.checkComponent(e, i)
	}
	m.note("set", len(es))
}

func (m *model) applyRemoveAll(b *byteStream) {
	m.operation = "RemoveAll"
	q, with, match := m.query(b)
	i := b.column()
	if len(with) > 0 && b.next()%2 == 0 {
		i = with[0]
	}
	es := m.matching(match)
	had := len(es) - m.countWithout(es, i)
	m.mustChange(had, func() {
		n := m.columns[i].RemoveAll(q)
		m.must(n == had, "column %d: returned %d, want %d", i, n, had)
	})
	for _, e := range es {
		delete(m.entities[e].values, i)
		m.checkComponent(e, i)
	}
	m.note("removed", had)
}

func (m *model) applyExchange(b *byteStream) {
	m.operation = "Exchange"
	q, with, match := m.query(b)
	add := b.set(2)
	remove := slices.DeleteFunc(append(b.set(2), with...),
		func(i int) bool { return slices.Contains(add, i) })
	slices.Sort(remove)
	remove = slices.Compact(remove)
	if len(with) == 0 && b.next()%4 != 0 {
		return // Exchange on all entities should be rare
	}
	es := m.matching(match)
	changes := 0
	for _, i := range add {
		changes += m.countWithout(es, i)
	}
	for _, i := range remove {
		changes += len(es) - m.countWithout(es, i)
	}
	m.mustChange(changes, func() {
		n := m.world.Exchange(q, m.chosen(add), m.chosen(remove))
		m.must(n == len(es), "returned %d, want %d", n, len(es))
	})
	for _, e := range es {
		for _, i := range add {
			if !m.has(e, i) {
				m.entities[e].values[i] = 0
			}
			m.checkComponent(e, i)
		}
		for _, i := range remove {
			delete(m.entities[e].values, i)
			m.checkComponent(e, i)
		}
	}
	m.note("exchanged", len(es))
}
