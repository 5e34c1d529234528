package vast

import (
	"fmt"
	"slices"
)

// combinedQuery holds a query and a model that decides which entities match.
type combinedQuery struct {
	Query
	text     string              // the query, for messages
	with     []int               // columns that every matching entity has
	without  []int               // columns of Without
	any      []int               // columns of Any
	optional []int               // columns of Optional
	tests    []func(Entity) bool // an entity matches if all tests return true
	to       []int               // relations of To
	target   Entity              // target of the last To
	listed   bool                // whether the query has Among
	exact    bool                // whether the query has Exactly
	ranged   bool                // whether the query has Between
	witness  Entity              // an entity that the query usually matches
}

// fits decides whether to add a form, such as Without or Any, to a query. It accepts every form that matches
// the witness, and about one in eight forms that exclude the witness.
func (m *combinedModel) fits(b *byteStream, matches bool) bool { return matches || b.next()%8 == 0 }

func (q *combinedQuery) test(f func(Entity) bool, format string, a ...any) {
	q.tests = append(q.tests, f)
	q.text += fmt.Sprintf(format, a...)
}

func (q *combinedQuery) bySlot() bool { return len(q.to) == 0 || q.listed || q.ranged }

// combinedColumn chooses a column, usually a column of components.
func (b *byteStream) combinedColumn() int {
	v := b.next()
	if v < 100 {
		return v % combinedValues
	}
	return v % combinedCount
}

// query decodes a query. Usually it chooses forms that match a witness, because a query without a match tests
// little.
func (m *combinedModel) query(b *byteStream) *combinedQuery {
	q := m.grouped(b)
	if q == nil {
		q = &combinedQuery{witness: m.any(b)}
		m.ask(b, q, b.next()%3)
	}
	for range b.next() % 5 {
		m.form(b, q)
	}
	if q.exact { // Exactly also allows columns that later forms name
		named := slices.Concat(q.with, q.any, q.optional)
		q.test(func(e Entity) bool {
			for c := range combinedCount {
				internal := c > combinedLinks && (c-combinedLinks)%2 == 1
				if !internal && c < combinedOff && m.has(e, c) && !slices.Contains(named, c) {
					return false
				}
			}
			return true
		}, "")
	}
	if !slices.Contains(slices.Concat(q.with, q.without, q.any, q.optional), combinedOff) {
		q.test(func(e Entity) bool { return m.lifted || !m.has(e, combinedOff) }, "")
	}
	m.operation += " [" + q.text + "]"
	return q
}

// ask makes a query for at most n columns.
func (m *combinedModel) ask(b *byteStream, q *combinedQuery, n int) {
	for range n {
		if c := b.combinedColumn(); !slices.Contains(q.with, c) && m.fits(b, m.present(q.witness, c)) {
			q.with = append(q.with, c)
			q.test(func(e Entity) bool { return m.present(e, c) }, " %s", m.columns[c].Name())
		}
	}
	q.Query = m.world.Query(m.chosen(q.with)...)
}

// form chooses a form, and adds the form to a query if the other forms of the query allow this.
func (m *combinedModel) form(b *byteStream, q *combinedQuery) {
	form, c := b.next()%14, b.combinedColumn()
	switch form {
	case 0, 1, 2, 3, 4:
		m.formKeepable(b, q, form, c)
	case 5:
		if b.next()%4 > 0 {
			m.formOptional(q)
		}
		q.Query = q.Exactly()
		q.exact = true
		q.text += " exactly"
	case 6:
		m.formAmong(b, q)
	case 7, 8:
		i := b.next() % len(m.relations)
		m.formTo(b, q, i)
		if b.next()%2 == 0 {
			m.formTo(b, q, (i+1)%len(m.relations))
		}
	case 9, 10:
		m.formChanged(b, q, c)
	case 11:
		m.formBetween(b, q)
	case 12:
		m.formWhere(b, q, b.next()%(len(m.relations)+1))
	case 13:
		m.formUp(b, q, b.next()%len(m.relations))
	}
}

// formKeepable adds a form whose query package group can keep.
func (m *combinedModel) formKeepable(b *byteStream, q *combinedQuery, form, c int) {
	named := slices.Contains(q.with, c)
	without, inAny := slices.Contains(q.without, c), slices.Contains(q.any, c)
	optional := slices.Contains(q.optional, c)
	switch form {
	case 0:
		if !named && !without && !inAny && !optional && m.fits(b, !m.present(q.witness, c)) {
			q.Query = q.Without(m.columns[c])
			q.without = append(q.without, c)
			q.test(func(e Entity) bool { return !m.present(e, c) }, " without %s", m.columns[c].Name())
		}
	case 1, 2:
		group := []int{}
		for _, c := range []int{c, b.combinedColumn(), b.combinedColumn()} {
			if !slices.Contains(group, c) && !slices.Contains(q.with, c) && !slices.Contains(q.without, c) {
				group = append(group, c)
			}
		}
		matches := slices.ContainsFunc(group, func(c int) bool { return m.present(q.witness, c) })
		if len(group) > 0 && m.fits(b, matches) {
			q.Query = q.Any(m.chosen(group)...)
			q.any = append(q.any, group...)
			q.test(func(e Entity) bool {
				return slices.ContainsFunc(group, func(c int) bool { return m.present(e, c) })
			}, " any %v", group)
		}
	case 3, 4:
		if !named && !without && !optional {
			q.Query = q.Optional(m.columns[c])
			q.optional = append(q.optional, c)
			q.text += " optional " + m.columns[c].Name()
		}
	}
}

// formBetween limits a query to a range of slots, usually around the witness.
func (m *combinedModel) formBetween(b *byteStream, q *combinedQuery) {
	lo := b.next()*b.next()/16 - 10
	hi := lo + b.next()*b.next()/8
	if at := int(q.witness.Slot()); !m.fits(b, lo <= at && at < hi) {
		lo, hi = min(lo, at-b.next()%70), max(hi, at+1+b.next()%70)
	}
	q.Query = q.Between(lo, hi)
	q.ranged = true
	q.test(func(e Entity) bool { return lo <= int(e.Slot()) && int(e.Slot()) < hi }, " between %d %d", lo, hi)
}

// formTo limits a query to the entities that have a certain target in a relation: the target of the witness,
// or another entity if the witness has none.
func (m *combinedModel) formTo(b *byteStream, q *combinedQuery, i int) {
	r, col := m.relations[i], combinedLinks+2*i
	target, ok := r.target[q.witness]
	if !ok {
		target = m.any(b)
		for _, e := range m.stale { // prefer a stale entity whose slot now holds the target of other entities
			if e.slot < m.world.size && len(r.sources[m.entity(e.slot)]) > 0 {
				target = e
			}
		}
	}
	if !m.fits(b, ok) || slices.Contains(q.without, col) || slices.Contains(q.to, i) {
		return
	}
	q.Query = q.To(r.Relation, target)
	q.include(col)
	q.to, q.target = append(q.to, i), target
	q.test(func(e Entity) bool { return m.present(e, col) && r.target[e] == target }, " to %s %v", r.Name(),
		target)
}

// formChanged limits a query to the entities with a component that has changed according to a tracker.
func (m *combinedModel) formChanged(b *byteStream, q *combinedQuery, c int) {
	tr := m.trackers[b.next()%len(m.trackers)]
	if tr == nil {
		return
	}
	c = tr.cols[c%len(tr.cols)]
	matches := m.present(q.witness, c) && tr.isChanged(q.witness, c)
	if slices.Contains(q.without, c) || slices.Contains(q.any, c) || !m.fits(b, matches) {
		return
	}
	q.Query = q.Changed(m.columns[c], tr.Tracker)
	q.include(c)
	q.test(func(e Entity) bool { return m.present(e, c) && tr.isChanged(e, c) }, " changed %s",
		m.columns[c].Name())
}

func (q *combinedQuery) include(col int) {
	if !slices.Contains(q.with, col) {
		q.with = append(q.with, col)
	}
}

// formOptional names all remaining components of the witness as optional.
func (m *combinedModel) formOptional(q *combinedQuery) {
	for c := range combinedCount {
		if m.has(q.witness, c) && !slices.Contains(slices.Concat(q.with, q.without, q.optional), c) {
			q.Query = q.Optional(m.columns[c])
			q.optional = append(q.optional, c)
			q.text += " optional " + m.columns[c].Name()
		}
	}
}

func (m *combinedModel) formAmong(b *byteStream, q *combinedQuery) {
	var list []Entity
	listed := map[Entity]bool{}
	for at := b.next() % 20; at < len(m.order); at += 1 + b.next()%3 {
		for range min(1+b.next()%40, len(m.order)-at) {
			list = append(list, m.order[at])
			listed[m.order[at]] = true
			at++
		}
	}
	if m.entities[q.witness] != nil {
		list = append(list, q.witness)
		listed[q.witness] = true
	}
	if b.next()%2 == 0 {
		list = append(list, m.stale...)
	} else {
		slices.SortFunc(list, bySlot)
	}
	q.Query = q.Among(list)
	q.listed = true
	q.test(func(e Entity) bool { return listed[e] }, " among %d", len(listed))
}

// matching returns the entities that a query should match, in slot order.
func (m *combinedModel) matching(q *combinedQuery) (es []Entity) {
	for _, e := range m.order {
		if !slices.ContainsFunc(q.tests, func(f func(Entity) bool) bool { return !f(e) }) {
			es = append(es, e)
		}
	}
	slices.SortFunc(es, bySlot)
	return es
}

func (m *combinedModel) checkQuery(b *byteStream, q *combinedQuery) {
	es := m.matching(q)
	ordered := es
	if len(q.to) == 1 && !q.bySlot() {
		sources := slices.Clone(m.relations[q.to[0]].sources[q.target])
		ordered = slices.DeleteFunc(sources, func(e Entity) bool { return !slices.Contains(es, e) })
	}
	got := slices.Collect(q.All())
	if first, ok := q.First(); ok != (len(got) > 0) || ok && first != got[0] {
		m.must(false, "First returns %v, %v; All yields %v", first, ok, got)
	}
	single, ok := q.Single()
	m.must(ok == (len(es) == 1) && single.IsZero() == (len(es) == 0),
		"Single returns %v, %v; %d entities match",
		single, ok, len(es))
	m.checkRuns(q, got)
	m.checkPairs(q, got)
	if len(q.to) > 1 && !q.bySlot() {
		slices.SortFunc(got, bySlot)
	}
	m.must(slices.Equal(got, ordered), "All yields %v, want %v", got, ordered)
	m.must(q.Count() == len(es), "Count is %d, want %d", q.Count(), len(es))
	got = nil
	for word, mask := range q.Words() {
		m.must(mask != 0, "Words yields the empty word %d", word)
		for ; mask != 0; mask &= mask - 1 {
			got = append(got, m.entity(uint32(word)*64+trailingZeros(mask)))
		}
	}
	m.must(slices.Equal(got, es), "Words yields %v, want %v", got, es)
	got = nil
	n := 1 + b.next()
	for batch := range q.Batches(n) {
		one := slices.Collect(batch.All())
		m.must(len(one) == batch.Len() && len(one) < n+64,
			"a batch of Batches(%d) yields %d entities, and its Len is %d", n, len(one), batch.Len())
		got = append(got, one...)
		m.must(len(one) >= n || len(got) == len(es),
			"a batch of Batches(%d) has %d entities and is not the last batch", n, len(one))
	}
	m.must(slices.Equal(got, es), "Batches yields %v, want %v", got, es)
	m.checkDepths(q, es)
	m.note("query", len(es))
}

func (m *combinedModel) entity(slot uint32) Entity {
	return Entity{slot: slot, generation: *m.world.generation(slot)}
}

func (m *combinedModel) optionals(q *combinedQuery, e Entity) (set uint) {
	for _, c := range q.optional {
		if m.has(e, c) {
			set |= 1 << c
		}
	}
	return set
}

// checkRuns checks that the runs hold the entities of All, with the right components and targets. If the
// query yields entities in slot order, checkRuns also checks that no run could be longer.
func (m *combinedModel) checkRuns(q *combinedQuery, es []Entity) {
	n := 0
	last := Run{}
	for r := range q.Runs() {
		m.must(r.Len() > 0 && n+r.Len() <= len(es), "a run has %d entities, but only %d of %d remain",
			r.Len(), len(es)-n, len(es))
		for i := range r.Len() {
			m.must(r.Entity(i) == es[n+i], "the run holds %v, All yields %v", r.Entity(i), es[n+i])
		}
		m.checkAlike(q, r)
		if n > 0 && q.bySlot() {
			m.must(r.Start() > last.Start()+last.Len() || r.Start() == last.Start()+last.Len() &&
				m.optionals(q, r.Entity(0)) != m.optionals(q, last.Entity(0)),
				"the run at slot %d continues the previous run", r.Start())
		}
		for _, c := range q.with {
			if c < combinedValues && m.values[c].slice != nil {
				for i, v := range m.values[c].slice(r) {
					want := m.entities[r.Entity(i)].values[c]
					m.must(v == want, "component %d of %v is %d in the run, want %d", c, r.Entity(i), v, want)
				}
			}
			if i := c - combinedLinks; i >= 0 && c < combinedRoads && i%2 == 0 {
				for k, target := range m.relations[i/2].Targets(r) {
					t, want := target.Entity(), m.relations[i/2].target[r.Entity(k)]
					m.must(t == want, "the target of %v is %v in the run, want %v", r.Entity(k), t, want)
				}
			}
		}
		n += r.Len()
		last = r
	}
	m.must(n == len(es), "the runs have %d entities, want %d", n, len(es))
}

// checkAlike checks that all entities of a run have the same optional components.
func (m *combinedModel) checkAlike(q *combinedQuery, r Run) {
	for i := range r.Len() {
		m.must(m.optionals(q, r.Entity(i)) == m.optionals(q, r.Entity(0)),
			"%v and %v share a run but differ in optional components", r.Entity(0), r.Entity(i))
	}
	for _, c := range q.optional {
		if c < combinedValues {
			m.must(m.values[c].in(r) == m.has(r.Entity(0), c), "In of %s returns %v",
				m.columns[c].Name(), m.values[c].in(r))
		}
	}
}

func (m *combinedModel) checkDepths(q *combinedQuery, es []Entity) {
	for _, rel := range m.relations {
		if rel.options.Cyclic {
			continue
		}
		var want []Entity
		depths := map[Entity]int{}
		for _, e := range es {
			if _, ok := rel.target[e]; ok {
				want = append(want, e)
				depths[e] = rel.depth(e)
			}
		}
		slices.SortStableFunc(want, func(a, b Entity) int { return depths[a] - depths[b] })
		var got []Entity
		for r := range rel.InDepthOrder(q.Query) {
			m.checkAlike(q, r)
			for i, target := range rel.Targets(r) {
				m.must(target.Entity() == rel.target[r.Entity(i)] &&
					depths[r.Entity(i)] == depths[r.Entity(0)],
					"%v: target %v, want %v; depth %d in a run of depth %d", r.Entity(i), target.Entity(),
					rel.target[r.Entity(i)], depths[r.Entity(i)], depths[r.Entity(0)])
				got = append(got, r.Entity(i))
			}
		}
		m.must(slices.Equal(got, want), "%s.InDepthOrder yields %v, want %v", rel.Name(), got, want)
	}
}
