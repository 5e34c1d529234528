package vast

import (
	"slices"
)

func (m *model) apply(b *byteStream) {
	op := b.next()
	switch op % 31 {
	case 0, 1, 2:
		m.applyNew(b)
	case 3:
		m.applyNewN(b)
	case 4, 5, 6:
		m.applyAdd(b)
	case 7:
		m.applySet(b)
	case 8, 9:
		m.applyRemove(b)
	case 10, 11, 12:
		m.applyDelete(b)
	case 13:
		m.applyDeleteAll(b)
	case 14, 15:
		m.applyGet(b)
	case 16:
		m.applyGrow(b)
	case 17:
		m.operation = "Column.Grow"
		i := b.column()
		m.must(m.columns[i].Grow(0) == nil, "column %d", i)
		m.must(int(m.columns[i].column().slots) == int(m.world.size), "column %d is not grown", i)
	case 18:
		m.operation = "Trim"
		if b.next()%4 == 0 {
			m.must(m.world.Trim() == nil, "returned an error")
		}
	case 19:
		m.applyRuns(b)
	case 20:
		m.applyCount(b)
	case 21:
		m.applyStale(b)
	case 22:
		m.applyRandomBits(b)
	case 23:
		m.operation = "check"
		switch v := b.next(); {
		case v == 0 && m.sinceOpened > 500:
			m.operation = "Close"
			m.checkAll()
			m.close()
			m.open()
			m.sinceOpened = 0
		case v == 1:
			m.operation = "Reset"
			m.world.Reset()
			for _, e := range m.order {
				m.died(e)
			}
			m.order = nil
			m.checkAll()
		case v < 8:
			m.checkAll()
		case v < 40:
			m.applyPack(b)
		}
	case 24:
		m.applyAddAll(b)
	case 25:
		m.applySetAll(b)
	case 26:
		m.applyRemoveAll(b)
	case 27:
		m.applyExchange(b)
	case 28, 29:
		m.applyForms(b)
	case 30:
		m.applyOrder(b)
	}
}

func (m *model) applyPack(b *byteStream) {
	m.operation = "Pack"
	moves := m.archetypes[b.next()%len(m.archetypes)].Pack(MoveOptions{Most: b.next() % 100})
	m.removeDeadFromOrder()
	for i, old := range m.order {
		e := moves.Resolve(old)
		if e == old {
			continue
		}
		v := m.entities[old]
		m.must(v != nil && m.entities[e] == nil && !slices.Contains(m.stale, e), "Pack moves %v to %v", old,
			e)
		m.died(old)
		m.entities[e], m.order[i] = v, e
		m.noteEntity(e)
	}
}

func (m *model) applyNew(b *byteStream) {
	m.operation = "New"
	a := b.next() % len(m.archetypes)
	var e Entity
	m.mayRefuse(a, 1, func() error { e = m.archetypes[a].New(); return nil })
	if e.IsZero() {
		return
	}
	m.born(e, a)
	for _, i := range modelSets[a] {
		v, has := m.columns[i].get(e)
		m.must(has && v == 0, "Get finds component %d of a new entity: %v, value %d, want true and 0", i, has,
			v)
	}
	m.writeAll(e, uint64(b.next()+1))
}

// writeAll writes to each component that an entity has since its birth. The values are seldom zero, so that
// the test finds them if a later entity in the slot does not begin with zeros.
func (m *model) writeAll(e Entity, v uint64) {
	for _, i := range modelSets[m.entities[e].archetype] {
		m.must(m.columns[i].put(e, v+uint64(i)), "component %d is missing", i)
		m.entities[e].values[i] = m.columns[i].cut(v + uint64(i))
	}
}

func (m *model) applyNewN(b *byteStream) {
	m.operation = "NewN"
	a, n, v := b.next()%len(m.archetypes), b.next16()%300, uint64(b.next())
	var made []Entity
	fill := func(r Run) {
		m.must(r.Len() > 0, "NewN calls fill with an empty run")
		for _, i := range modelSets[a] {
			m.must(!slices.ContainsFunc(m.columns[i].read(r), func(v uint64) bool { return v != 0 }),
				"component %d of new entities is not zero", i)
			m.columns[i].write(r, func(k int) uint64 { return v + uint64(i) + uint64(k) })
		}
		for k := range r.Len() {
			e := r.Entity(k)
			made = append(made, e)
			m.born(e, a)
			for _, i := range modelSets[a] {
				m.entities[e].values[i] = m.columns[i].cut(v + uint64(i) + uint64(k))
			}
		}
	}
	if v%4 == 0 {
		fill = nil
	}
	refused := false
	m.mayRefuse(a, n, func() error {
		refused = true
		m.archetypes[a].NewN(n, fill)
		refused = false
		return nil
	})
	if refused {
		m.must(len(made) == 0, "%d entities were made before the refusal", len(made))
		return
	}
	if fill == nil {
		for e := range m.world.Query().All() {
			if m.entities[e] == nil {
				made = append(made, e)
				m.born(e, a)
				m.writeAll(e, v)
			}
		}
	}
	m.must(len(made) == n, "made %d entities, want %d", len(made), n)
}

func (m *model) applyAdd(b *byteStream) {
	m.operation = "Add"
	e, i, v := m.entity(b), b.column(), uint64(b.next())+1
	ok := m.columns[i].add(e, v)
	m.must(ok == (m.entities[e] != nil), "column %d: Add of %v succeeded: %v", i, e, ok)
	if ok {
		m.entities[e].values[i] = m.columns[i].cut(v)
	}
}

func (m *model) applySet(b *byteStream) {
	m.operation = "Set"
	e, i, v := m.entity(b), b.column(), uint64(b.next())+1
	ok := m.columns[i].set(e, v)
	m.must(ok == m.has(e, i), "column %d: Set of %v returned %v", i, e, ok)
	if ok {
		m.entities[e].values[i] = m.columns[i].cut(v)
	}
}

func (m *model) has(e Entity, i int) bool {
	v := m.entities[e]
	if v == nil {
		return false
	}
	_, has := v.values[i]
	return has
}

func (m *model) applyRemove(b *byteStream) {
	m.operation = "Remove"
	e, i := m.entity(b), b.column()
	if v := m.entities[e]; v != nil && len(v.values) > 0 && b.next()%2 == 0 {
		// In half of the calls choose a column that the entity has. Otherwise most removals would have no
		// effect.
		i = slices.Sorted(keys(v.values))[b.next()%len(v.values)]
	}
	ok := m.columns[i].Remove(e)
	m.must(ok == m.has(e, i), "column %d: Remove of %v returned %v", i, e, ok)
	m.must(!m.columns[i].Remove(e) && !m.columns[i].Has(e), "column %d: the component is still there", i)
	if ok {
		delete(m.entities[e].values, i)
	}
}

func keys(values map[int]uint64) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range values {
			if !yield(i) {
				return
			}
		}
	}
}

func (m *model) applyDelete(b *byteStream) {
	m.operation = "Delete"
	e := m.entity(b)
	ok := m.world.Delete(e)
	m.must(ok == (m.entities[e] != nil), "Delete of %v returned %v", e, ok)
	m.must(!m.world.Delete(e), "a second Delete of %v succeeded", e)
	if ok {
		m.died(e)
		i := slices.Index(m.order, e)
		m.order = slices.Delete(m.order, i, i+1)
	}
}

// query decodes a query. It also returns the columns that each match has, and a function that reports whether
// an entity of the model matches.
func (m *model) query(b *byteStream) (q Query, with []int, match func(*modelEntity) bool) {
	with, minus := b.set(3), b.set(2)
	minus = slices.DeleteFunc(minus, func(i int) bool { return slices.Contains(with, i) })
	q = m.world.Query(m.chosen(with)...)
	if len(minus) > 1 {
		q = q.Without(m.columns[minus[0]]).Without(m.chosen(minus[1:])...)
	} else {
		q = q.Without(m.chosen(minus)...)
	}
	any := slices.DeleteFunc(b.set(3), func(i int) bool {
		return slices.Contains(with, i) || slices.Contains(minus, i)
	})
	if len(any) > 0 {
		q = q.Any(m.chosen(any)...)
	}
	match = func(v *modelEntity) bool {
		if len(any) > 0 && !slices.ContainsFunc(any, func(i int) bool { _, has := v.values[i]; return has }) {
			return false
		}
		for _, i := range with {
			if _, has := v.values[i]; !has {
				return false
			}
		}
		for _, i := range minus {
			if _, has := v.values[i]; has {
				return false
			}
		}
		return true
	}
	if m.forms {
		q, match = m.moreForms(b, q, match)
	}
	return q, with, match
}

func (m *model) matching(match func(*modelEntity) bool) (es []Entity) {
	for _, e := range m.order {
		if match(m.entities[e]) {
			es = append(es, e)
		}
	}
	slices.SortFunc(es, func(a, b Entity) int { return int(a.Slot()) - int(b.Slot()) })
	return es
}

func (m *model) applyDeleteAll(b *byteStream) {
	m.operation = "DeleteAll"
	q, with, match := m.query(b)
	if len(with) == 0 && b.next()%8 != 0 {
		return // DeleteAll of all entities should be rare
	}
	es := m.matching(match)
	changes := m.world.changes
	n := m.world.DeleteAll(q)
	m.must(n == len(es), "returned %d, want %d", n, len(es))
	m.must(m.world.changes == changes+uint64(n), "%d deletions count as %d changes", n,
		m.world.changes-changes)
	for _, e := range es {
		m.died(e)
		m.must(!m.world.Alive(e), "%v is alive", e)
	}
	m.removeDeadFromOrder()
	m.note("deleted", n)
}

func (m *model) applyGet(b *byteStream) {
	m.operation = "Get"
	e, i := m.entity(b), b.column()
	m.checkComponent(e, i)
	m.must(m.world.Alive(e) == (m.entities[e] != nil), "Alive of %v is %v", e, m.world.Alive(e))
	m.must(EntityOf(e.ID()) == e, "EntityOf of the ID of %v is another entity", e)
}

func (m *model) checkComponent(e Entity, i int) {
	v, has := m.columns[i].get(e)
	m.must(has == m.has(e, i) && m.columns[i].Has(e) == has,
		"component %d of %v: Get finds it: %v, Has is %v", i, e, has, m.columns[i].Has(e))
	if has {
		m.must(v == m.entities[e].values[i], "component %d of %v is %d, want %d", i, e, v,
			m.entities[e].values[i])
	}
}

func (m *model) applyGrow(b *byteStream) {
	m.operation = "Archetype.Grow"
	a, n, k := b.next()%len(m.archetypes), b.next16()%400, b.next()%8
	grown := false
	m.mayRefuse(a, n, func() error {
		err := m.archetypes[a].Grow(n)
		grown = err == nil
		return err
	})
	if !grown {
		return
	}
	m.must(m.archetypes[a].free() >= n, "%d slots are free after Grow(%d)", m.archetypes[a].free(), n)
	for range min(n, k) {
		e := m.archetypes[a].New() // Grow made room, and New must not panic
		m.born(e, a)
		m.writeAll(e, 3)
	}
}

func (m *model) applyRuns(b *byteStream) {
	m.operation = "Runs"
	q, with, match := m.query(b)
	es := m.matching(match)
	n, end, stop := 0, -1, b.next()%16
	for r := range q.Runs() {
		m.must(r.Len() > 0 && (r.Start() > end || m.forms && r.Start() == end),
			"a run of %d slots begins at %d, and the previous run ends at %d", r.Len(), r.Start(), end)
		end = r.Start() + r.Len()
		m.note("run", r.Start(), r.Len())
		m.must(n+r.Len() <= len(es), "Runs yields more than %d entities", len(es))
		for k := range r.Len() {
			m.must(r.Entity(k) == es[n+k], "the run has entity %v, want %v", r.Entity(k), es[n+k])
		}
		for _, i := range with {
			for k, v := range m.columns[i].read(r) {
				m.must(v == m.entities[es[n+k]].values[i], "component %d of %v is %d in the run", i, es[n+k],
					v)
			}
		}
		n += r.Len()
		if stop--; stop == 0 {
			return // a loop may leave a query early
		}
	}
	m.must(n == len(es), "Runs yields %d entities, want %d", n, len(es))
}

func (m *model) applyCount(b *byteStream) {
	m.operation = "Count"
	q, _, match := m.query(b)
	es := m.matching(match)
	m.must(q.Count() == len(es), "Count is %d, want %d", q.Count(), len(es))
	got := slices.Collect(q.All())
	m.must(slices.Equal(got, es), "All yields %v, want %v", got, es)
	got = got[:0]
	for s := range q.Slots() {
		got = append(got, s.Entity())
	}
	m.must(slices.Equal(got, es), "Slots yields %v, want %v", got, es)
	first, single := Entity{}, len(es) == 1
	if len(es) > 0 {
		first = es[0]
	}
	e, found := q.First()
	m.must(e == first && found == (len(es) > 0), "First is %v, %v, want %v", e, found, first)
	e, found = q.Single()
	m.must(e == first && found == single, "Single is %v, %v; %d entities match, the first is %v", e, found,
		len(es), first)
	n := 0
	for word, mask := range q.Words() {
		m.must(mask != 0, "word %d is empty", word)
		for ; mask != 0; mask &= mask - 1 {
			slot := uint32(word)*64 + trailingZeros(mask)
			m.must(n < len(es) && es[n].slot == slot, "Words yields slot %d", slot)
			n++
		}
	}
	m.must(n == len(es), "Words yields %d entities, want %d", n, len(es))
	m.applyBatches(q, es, b.next()*4+1)
	m.note("count", len(es))
}

func (m *model) applyStale(b *byteStream) {
	m.operation = "stale"
	if len(m.stale) == 0 {
		return
	}
	m.checkDead(m.stale[b.next16()%len(m.stale)], b.column())
}

func (m *model) checkDead(e Entity, i int) {
	c, changes := m.columns[i], m.world.changes
	_, has := c.get(e)
	m.must(!m.world.Alive(e) && !c.Has(e) && !has && !c.set(e, 1) && !c.add(e, 1) && !c.Remove(e) &&
		!m.world.Delete(e),
		"a method finds the dead entity %v (%#x)", e, e.ID())
	m.must(m.world.changes == changes, "a call with the dead entity %v (%#x) changed the world", e, e.ID())
}

func (m *model) applyRandomBits(b *byteStream) {
	m.operation = "random bits"
	var id uint64
	for range 8 {
		id = id<<8 | uint64(b.next())
	}
	if b.next()%2 == 0 {
		// Make an ID with the slot of a live entity, the mark of the world and mostly another generation.
		e := m.entity(b)
		id = uint64(uint32(m.world.mark))<<32 | id&0x03_0000_0000 | uint64(e.slot)
	}
	if e := EntityOf(id); m.entities[e] == nil {
		m.checkDead(e, b.column())
	}
}

func (m *model) checkAll() {
	m.world.checkInvariants()
	m.must(m.world.Len() == len(m.entities) && len(m.order) == len(m.entities), "%d entities, want %d",
		m.world.Len(), len(m.entities))
	counts, born := make([]int, len(m.columns)), make([]int, len(m.archetypes))
	for e, v := range m.entities {
		m.must(m.world.Alive(e), "%v is dead", e)
		born[v.archetype]++
		for i := range v.values {
			counts[i]++
		}
		for i := range m.columns {
			m.checkComponent(e, i)
		}
	}
	for i, c := range m.columns {
		m.must(c.Len() == counts[i], "column %d has %d entities, want %d", i, c.Len(), counts[i])
	}
	for i, a := range m.archetypes {
		m.must(a.Len() == born[i], "archetype %d has %d entities, want %d", i, a.Len(), born[i])
	}
	m.checkHooks()
	m.must(m.world.Query().Count() == len(m.entities), "the query for all entities counts %d",
		m.world.Query().Count())
}
