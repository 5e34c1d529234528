package vast

import (
	"slices"
	"strings"
)

// apply decodes one operation and runs it on the world and the model.
func (m *combinedModel) apply(b *byteStream) {
	switch b.next() % 49 {
	case 0, 1, 2:
		m.applyNew(b)
	case 3, 4, 5, 6:
		m.applyComponent(b)
	case 7, 8:
		m.operation = "Delete"
		e := m.any(b)
		goes := m.closure([]Entity{e})
		if m.entities[e] == nil {
			goes = nil
		}
		m.must(m.world.Delete(e) == (len(goes) > 0), "%v: wrong result, want %d entities deleted", e,
			len(goes))
		m.die(goes)
	case 9, 10, 11, 12:
		m.applyLink(b)
	case 13, 14, 15:
		m.applyEdge(b)
	case 16, 17, 18, 19:
		m.operation = "query"
		m.checkQuery(b, m.query(b))
	case 20, 21, 22:
		m.applyTracker(b)
	case 23, 24, 25, 26:
		m.applyRecord(b)
	case 27, 28:
		m.applyCommands(b)
	case 29:
		m.applyMemory(b)
	case 30:
		m.squeeze(b)
	case 31:
		m.operation = "check"
		if b.next()%8 == 0 {
			m.checkAll()
		}
	case 32, 33:
		m.applyRemoving(b)
	case 34:
		m.applyMoves(b)
	case 40, 41, 42, 43:
		m.applyDisabled(b)
	case 44, 45, 46:
		m.applyClone(b)
	case 47, 48:
		m.applyGroup(b)
	default:
		m.applyBulk(b)
	}
}

// applyNew makes one entity with New, or makes several with NewN and gives them a target with SetRun.
func (m *combinedModel) applyNew(b *byteStream) {
	m.operation = "New"
	a := b.next() % len(m.archetypes)
	n := b.next()
	if n%4 > 0 {
		var e Entity
		if m.try(func() { e = m.archetypes[a].New() }) {
			m.born(e, a)
		}
		return
	}
	m.operation = "NewN"
	n = n / 4 * (1 + b.next()%3)
	var runs []Run
	fill := func(r Run) {
		runs = append(runs, r)
		m.useFromCallback()
	}
	if !m.try(func() { m.archetypes[a].NewN(n, fill) }) {
		m.must(len(runs) == 0, "a refused NewN called fill")
		return
	}
	target, rel := m.target(b), b.next()%len(m.relations)
	for _, r := range runs {
		for i := range r.Len() {
			m.born(r.Entity(i), a)
			n--
		}
	}
	m.must(n == 0, "the runs have %d entities fewer than requested", n)
	if m.relations[rel].options.OnDelete == Refuse || m.entities[target] == nil {
		return
	}
	m.operation = "SetRun"
	for _, r := range runs {
		set := func() {
			m.must(m.relations[rel].SetRun(r, target), "SetRun returns false for the target %v", target)
		}
		if m.try(set) {
			for i := range r.Len() {
				m.link(rel, r.Entity(i), target)
			}
		}
	}
}

func (m *combinedModel) applyComponent(b *byteStream) {
	e, i, v, how := m.any(b), b.next()%combinedValues, uint64(b.next())+1, b.next()%8
	c, had := m.values[i], m.has(e, i)
	verbs := []string{"Add", "Add", "Add", "Set", "Edit", "Remove", "Remove", "Remove and Add"}
	m.operation = verbs[how] + " " + c.Name()
	switch how {
	case 0, 1, 2:
		m.applyAdd(e, i, v)
	case 3, 4:
		f := c.set
		if how == 4 {
			f = c.edit
		}
		m.must(f(e, v) == had, "%v: returns %v", e, !had)
		if had && !c.tag {
			m.put(e, i, v)
		}
	case 5, 6, 7:
		m.must(c.remove(e) == had, "%v: returns %v", e, !had)
		if had {
			delete(m.entities[e].values, i)
			if how == 7 {
				m.applyAdd(e, i, v)
			}
		}
	}
}

func (m *combinedModel) applyAdd(e Entity, i int, v uint64) {
	c, had := m.values[i], m.has(e, i)
	m.try(func() {
		ok := c.add(e, v)
		m.must(ok == (m.entities[e] != nil), "%v: Add returns %v", e, ok)
		if ok && (!had || c.writtenByAdd) {
			m.put(e, i, v)
		}
	})
}

// target usually chooses one of the same three entities, so that these entities have many sources.
func (m *combinedModel) target(b *byteStream) Entity {
	if v := b.next(); v%4 > 0 && len(m.order) > 0 {
		return m.order[v/4%min(3, len(m.order))]
	}
	return m.any(b)
}

func (m *combinedModel) applyLink(b *byteStream) {
	i, e, t := b.next()%len(m.relations), m.any(b), m.target(b)
	r := m.relations[i]
	if _, had := r.target[e]; b.next()%6 == 0 {
		m.operation = "Remove " + r.Name()
		m.must(r.Remove(e) == had, "%v: returns %v", e, !had)
		if had {
			r.unlink(e)
		}
		return
	}
	m.operation = "Set " + r.Name()
	living := m.entities[e] != nil && m.entities[t] != nil
	if living && r.closes(e, t) {
		before := m.world.changes
		m.mustBeCircle(panicOf(func() { r.Set(e, t) }))
		m.must(m.world.changes == before, "a refused Set changed the world")
		return
	}
	m.try(func() {
		m.must(r.Set(e, t) == living, "%v → %v: returns %v", e, t, !living)
		if living {
			m.link(i, e, t)
		}
	})
}

func (m *combinedModel) mustBeCircle(v any) {
	s, ok := v.(string)
	m.must(ok && strings.Contains(s, "is a circle"), "the panic is %v, want an error about a circle", v)
}

func (m *combinedModel) applyEdge(b *byteStream) {
	r, from, to, v, how := m.roads, m.any(b), m.any(b), uint64(b.next()), b.next()%8
	if outs := r.out[from]; how < 4 && len(outs) > 0 && v%2 == 0 {
		to = outs[int(v/2)%len(outs)]
	}
	living, had := m.entities[from] != nil && m.entities[to] != nil, r.has(from, to)
	switch {
	case how == 0:
		m.operation = "Edges.RemoveTargets"
		m.must(r.RemoveTargets(from) == (len(r.out[from]) > 0), "%v: wrong result with %d targets",
			from, len(r.out[from]))
		m.disconnectAll(from)
	case how < 3:
		m.operation = "Edges.Remove"
		m.must(r.Remove(from, to) == had, "%v → %v: returns %v", from, to, !had)
		if had {
			m.disconnect(from, to)
		}
	default:
		m.operation = "Edges.Add"
		m.try(func() {
			p := r.Add(from, to, v)
			m.must((p != nil) == living && (p == nil || *p == v), "%v → %v: returns %v", from, to, p)
			if living {
				m.connect(from, to, v)
			}
		})
	}
}

// applyMemory runs Grow, Trim, Reset or Close, or makes a chain of links.
func (m *combinedModel) applyMemory(b *byteStream) {
	w := m.world
	refusing := func(f func() error) {
		m.try(func() {
			if err := f(); err != nil {
				panic(err)
			}
		})
	}
	switch v := b.next(); {
	case v < 60:
		m.operation = "Trim"
		m.done("Trim", w.Trim)
	case v < 90:
		m.operation = "Grow"
		refusing(func() error { return m.archetypes[v%len(m.archetypes)].Grow(b.next()) })
		refusing(m.values[v%len(m.values)].grow)
		refusing(func() error { return m.relations[v%len(m.relations)].GrowLevels(b.next() % 80) })
		refusing(func() error { return m.buffers[v%2].GrowBytes(b.next()) })
	case v < 110:
		m.operation = "Commands.Trim"
		m.done("Commands.Trim", m.buffers[v%2].Trim)
	case v < 120:
		m.operation = "Reset"
		w.Reset()
		goes := map[Entity]bool{}
		for _, e := range m.order {
			goes[e] = true
		}
		m.die(goes)
		m.checkAll()
	case v < 125 && m.opened > 300:
		m.operation = "Close"
		m.checkAll()
		m.close()
		m.open()
		m.opened = 0
	case v < 160:
		m.applyChain(b)
	}
}

// applyChain links consecutive entities into a chain. The chain may have more levels than the relation has
// room for.
func (m *combinedModel) applyChain(b *byteStream) {
	m.operation = "chain"
	r, n := m.relations[0], len(m.order)
	if n == 0 {
		return
	}
	at := b.next16() % n
	e := m.order[at]
	for range b.next() {
		at = (at + 1) % n
		next := m.order[at]
		if r.closes(next, e) {
			return
		}
		if !m.try(func() { m.must(r.Set(next, e), "%v → %v: returns false", next, e) }) {
			return
		}
		m.link(0, next, e)
		e = next
	}
}

// rare reports whether to run a bulk operation over n entities: always for up to 60 entities, otherwise about
// every fourth time.
func (m *combinedModel) rare(b *byteStream, n int) bool { return n <= 60 || b.next()%4 == 0 }

func (m *combinedModel) applyBulk(b *byteStream) {
	m.operation = "bulk"
	q := m.query(b)
	es := m.matching(q)
	i, v, how := b.next()%combinedValues, uint64(b.next())+1, b.next()%7
	c := m.values[i]
	if !m.rare(b, len(es)) {
		return
	}
	m.operation += " " + c.Name()
	switch {
	case how < 2:
		m.operation += " AddAll"
		m.try(func() {
			n := c.addAll(q.Query, v)
			m.must(n == len(es), "returns %d, want %d", n, len(es))
			for _, e := range es {
				if !m.has(e, i) || c.writtenByAdd {
					m.put(e, i, v)
				}
			}
		})
	case how == 2 && !c.tag:
		m.operation += " SetAll"
		n, had := c.setAll(q.Query, v), 0
		for _, e := range es {
			if m.has(e, i) {
				m.put(e, i, v)
				had++
			}
		}
		m.must(n == had, "returns %d, want %d", n, had)
	case how == 3:
		m.applyEdit(q, i, v)
	case how == 4:
		m.operation += " Exchange"
		m.applyExchange(b, q, es)
	case how > 4:
		m.operation += " relation SetAll"
		m.applyRelate(b, q, es)
	}
}

// applyEdit writes components in a loop over a query. If the query selects changed components, the writes
// must not affect later steps of the loop.
func (m *combinedModel) applyEdit(q *combinedQuery, i int, v uint64) {
	m.operation += " Edit"
	c := m.values[i]
	if c.tag {
		return
	}
	if c.editRun != nil && slices.Contains(q.with, i) {
		for r := range q.Runs() {
			c.editRun(r, v)
			for k := range r.Len() {
				m.put(r.Entity(k), i, v)
			}
		}
		return
	}
	for e := range q.All() {
		ok := c.edit(e, v)
		m.must(ok == m.has(e, i), "%v: returns %v", e, ok)
		if ok {
			m.put(e, i, v)
		}
	}
}

// applyExchange adds several value columns and removes several columns of any kind, including relations,
// edges and Disabled.
func (m *combinedModel) applyExchange(b *byteStream, q *combinedQuery, es []Entity) {
	var add, remove []int
	for range b.next() % 3 {
		if c := b.next() % combinedValues; !slices.Contains(add, c) {
			add = append(add, c)
		}
	}
	for range 1 + b.next()%4 {
		c := b.next() % combinedCount
		if c > combinedLinks && c < combinedOff && (c-combinedLinks)%2 == 1 {
			c-- // the relation or edges of this target column
		}
		if !slices.Contains(add, c) && !slices.Contains(remove, c) {
			remove = append(remove, c)
		}
	}
	if !m.try(func() {
		n := m.world.Exchange(q.Query, m.chosen(add), m.chosen(remove))
		m.must(n == len(es), "returns %d, want %d", n, len(es))
	}) {
		return
	}
	for _, e := range es {
		for _, c := range add {
			if !m.has(e, c) {
				m.put(e, c, 0)
			}
		}
		for _, c := range remove {
			switch {
			case c < combinedValues:
				delete(m.entities[e].values, c)
			case c == combinedRoads:
				m.disconnectAll(e)
			case c >= combinedOff:
				m.toggle(e, c, false)
			default:
				m.relations[(c-combinedLinks)/2].unlink(e)
			}
		}
	}
}

func (m *combinedModel) applyRelate(b *byteStream, q *combinedQuery, es []Entity) {
	i, t := b.next()%len(m.relations), m.any(b)
	r := m.relations[i]
	living := m.entities[t] != nil
	if living && slices.ContainsFunc(es, func(e Entity) bool { return r.closes(e, t) }) {
		before := m.world.changes
		m.mustBeCircle(panicOf(func() { r.SetAll(q.Query, t) }))
		m.must(m.world.changes == before, "a refused SetAll changed the world")
		return
	}
	m.try(func() {
		want := 0
		if living {
			want = len(es)
		}
		n := r.SetAll(q.Query, t)
		m.must(n == want, "returns %d, want %d", n, want)
		for _, e := range es[:want] {
			m.link(i, e, t)
		}
	})
}

func (m *combinedModel) applyRemoving(b *byteStream) {
	m.operation = "removing"
	q := m.query(b)
	es := m.matching(q)
	i, how := b.next()%combinedValues, b.next()%6
	if !m.rare(b, len(es)) {
		return
	}
	switch {
	case how < 2:
		m.operation += " DeleteAll"
		goes := m.closure(es)
		n := m.world.DeleteAll(q.Query)
		m.must(n == len(goes), "returns %d, want %d", n, len(goes))
		m.die(goes)
		m.note("deleted", n)
	case how < 4:
		k := b.next() % len(m.relations)
		if len(q.to) > 0 && b.next()%2 == 0 {
			k = q.to[0] // the relation that the query walks
		}
		r := m.relations[k]
		m.operation += " RemoveAll " + r.Name()
		had := 0
		for _, e := range es {
			if m.has(e, combinedLinks+2*k) {
				r.unlink(e)
				had++
			}
		}
		n := r.RemoveAll(q.Query)
		m.must(n == had, "returns %d, want %d", n, had)
	default:
		c := m.values[i]
		m.operation += " RemoveAll " + c.Name()
		had := 0
		for _, e := range es {
			if m.has(e, i) {
				delete(m.entities[e].values, i)
				had++
			}
		}
		n := c.removeAll(q.Query)
		m.must(n == had, "returns %d, want %d", n, had)
	}
}
