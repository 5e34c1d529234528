package vast

import "slices"

// hookedColumns are a column of empty structs, a tag, a heap column and a sparse column: see newModelColumn.
var hookedColumns = []int{2, 5, 65, 66}

// hookAll registers hooks, which check that each gain and each loss is reported once.
func (m *model) hookAll() {
	m.told = map[int]map[Entity]bool{}
	m.world.OnMove(func(old, now Entity) {
		for _, has := range m.told {
			if has[old] {
				delete(has, old)
				has[now] = true
			}
		}
	})
	for _, i := range hookedColumns {
		has := map[Entity]bool{}
		m.told[i] = has
		c := m.columns[i]
		c.hook(func(e Entity) {
			m.must(!has[e] && c.Has(e),
				"OnAdd of column %d ran for %v; OnAdd ran before: %v", i, e, has[e])
			has[e] = true
		}, func(e Entity) {
			m.must(has[e] && c.Has(e),
				"OnRemove of column %d ran for %v; OnAdd ran before: %v", i, e, has[e])
			delete(has, e)
		})
	}
}

func (m *model) checkHooks() {
	for _, i := range hookedColumns {
		n := 0
		for e := range m.entities {
			if m.has(e, i) {
				n++
				m.must(m.told[i][e], "OnAdd of column %d did not run for %v", i, e)
			}
		}
		m.must(n == len(m.told[i]), "column %d has %d entities according to its hooks, want %d", i,
			len(m.told[i]), n)
	}
}

// applyForms applies an operation to a query with the conditions of moreForms.
func (m *model) applyForms(b *byteStream) {
	m.forms = true
	switch b.next() % 9 {
	case 0, 1:
		m.applyRuns(b)
	case 2, 3:
		m.applyCount(b)
	case 4:
		m.applyAddAll(b)
	case 5:
		m.applySetAll(b)
	case 6:
		m.applyRemoveAll(b)
	case 7:
		m.applyExchange(b)
	case 8:
		m.applyDeleteAll(b)
	}
	m.forms = false
}

// moreForms adds Optional to a query, and sometimes the conditions Exactly and Among. It adds the conditions
// to the query's match function, too.
func (m *model) moreForms(b *byteStream, q Query, match func(*modelEntity) bool) (Query,
	func(*modelEntity) bool) {
	chosen := slices.DeleteFunc(b.set(3), func(i int) bool {
		c := m.columns[i].column()
		return slices.Contains(q.q.columns(asked, implied, leftOut), c)
	})
	q = q.Optional(m.chosen(chosen)...)
	conditions := b.next()
	if conditions%3 == 0 {
		q = q.Exactly()
		named := map[int]bool{}
		for _, c := range q.q.columns(asked, implied, oneOf, optional) {
			named[int(c.id)] = true
		}
		matchBefore := match
		match = func(v *modelEntity) bool {
			for i := range v.values {
				if !named[i] {
					return false
				}
			}
			return matchBefore(v)
		}
	}
	if conditions/3%3 == 0 {
		listed := map[*modelEntity]bool{}
		var list []Entity
		for i := 0; i < len(m.order); {
			n := min(1+b.next(), len(m.order)-i)
			if n%2 == 0 {
				list = append(list, m.order[i:i+n]...)
			} else {
				list = append(list, m.order[i], m.order[i])
			}
			i += n
		}
		for _, e := range list {
			listed[m.entities[e]] = true
		}
		q = q.Among(append(list, m.stale...))
		matchBefore := match
		match = func(v *modelEntity) bool { return listed[v] && matchBefore(v) }
	}
	return q, match
}

func (m *model) applyOrder(b *byteStream) {
	m.operation = "Order"
	m.forms = b.next()%2 == 0
	q, with, match := m.query(b)
	m.forms = false
	if !slices.Contains(with, 0) {
		return
	}
	key := m.columns[0].(numbered[uint64]).typed
	es := m.matching(match)
	slices.SortStableFunc(es,
		func(a, b Entity) int { return int(m.entities[a].values[0]) - int(m.entities[b].values[0]) })
	n := 0
	for s, v := range NewOrder(q, key, func(v *uint64) uint64 { return *v }).Ascending() {
		e := s.Entity()
		m.must(n < len(es) && e == es[n] && v == key.Get(e),
			"entity %d of the order is %v, or has a wrong value", n, e)
		n++
	}
	m.must(n == len(es), "Ascending yields %d entities, want %d", n, len(es))
	m.note("ordered", n)
}
