package vast

import (
	"slices"
	"sync"
)

// combinedSwitched lists the columns whose components each Disabled switches off. The first Disabled switches
// entities off.
var combinedSwitched = [][]int{{}, {0, 2, combinedLinks, combinedLinks + 3}, {0, 5, combinedRoads}}

func (m *combinedModel) makeSwitches() {
	m.switches = nil
	for i, columns := range combinedSwitched {
		d := made(m, func() Disabled {
			return NewDisabled(m.world, []string{"off", "mute", "hush"}[i], m.chosen(columns)...)
		})
		m.switches, m.columns = append(m.switches, d), append(m.columns, d)
	}
}

// present reports whether an entity has a component that no Disabled switches off. If m.lifted is true,
// present ignores each Disabled.
func (m *combinedModel) present(e Entity, col int) bool {
	for i, columns := range combinedSwitched {
		if !m.lifted && slices.Contains(columns, col) && m.has(e, combinedOff+i) {
			return false
		}
	}
	return m.has(e, col)
}

// toggle gives the tag of a Disabled to an entity in the model, or takes it away.
func (m *combinedModel) toggle(e Entity, col int, on bool) {
	if on && !m.has(e, col) {
		m.wrote(col, e)
	}
	m.entities[e].tags[col] = on
}

func (m *combinedModel) applyDisabled(b *byteStream) {
	k, how, on := b.next()%len(m.switches), b.next()%12, b.next()%3 > 0
	d, col, changes := m.switches[k], combinedOff+k, m.world.changes
	switch {
	case how < 4:
		m.operation = "Disable or Enable"
		e := m.any(b)
		alive, had := m.entities[e] != nil, m.has(e, col)
		if on {
			m.must(d.Disable(e) == alive, "%v: Disable returns %v", e, !alive)
		} else {
			m.must(d.Enable(e) == had, "%v: Enable returns %v", e, !had)
		}
		if alive {
			m.toggle(e, col, on)
		}
	case how < 5:
		m.operation = "Add or Remove of a Disabled"
		e := m.any(b)
		alive, had := m.entities[e] != nil, m.has(e, col)
		if on {
			m.must(d.Add(e) == alive, "%v: Add returns %v", e, !alive)
		} else {
			m.must(d.Remove(e) == had, "%v: Remove returns %v", e, !had)
		}
		if alive {
			m.toggle(e, col, on)
		}
		return
	case how < 7:
		m.operation = "AddAll or RemoveAll of a Disabled"
		m.applyDisabledAll(m.query(b), d, col, on)
		return
	default:
		m.operation = "loop of a Disabled"
		m.applyDisabledLoop(b, m.query(b), d, col, on)
	}
	m.must(m.world.changes == changes, "disabling or enabling counts as a structural change")
}

func (m *combinedModel) applyDisabledAll(q *combinedQuery, d Disabled, col int, on bool) {
	es, want := m.matching(q), 0
	for _, e := range es {
		if on || m.has(e, col) {
			want++
		}
	}
	f := d.RemoveAll
	if on {
		f = d.AddAll
	}
	n := f(q.Query)
	m.must(n == want, "returns %d, want %d", n, want)
	for _, e := range es {
		m.toggle(e, col, on)
	}
}

// applyDisabledLoop toggles the entities of a query in a loop over the query. The loop must yield each entity
// that matches before the loop, because the body of the loop toggles only entities that the loop has yielded.
func (m *combinedModel) applyDisabledLoop(b *byteStream, q *combinedQuery, d Disabled, col int, on bool) {
	es := m.matching(q)
	if !m.rare(b, len(es)) {
		return
	}
	at, run := d.EnableAt, d.EnableRun
	if on {
		at, run = d.DisableAt, d.DisableRun
	}
	var got []Entity
	switch b.next() % 3 {
	case 0:
		for s := range q.Slots() {
			at(s)
			m.must(d.HasAt(s) == on, "HasAt returns %v for %v", !on, s.Entity())
			got = append(got, s.Entity())
		}
	case 1:
		for r := range q.Runs() {
			run(r)
			m.must(d.In(r) == on, "In returns %v", !on)
			for _, e := range r.All() {
				got = append(got, e)
			}
		}
	default:
		got = m.toggleInBatches(slices.Collect(q.Batches(1+b.next())), at)
	}
	slices.SortFunc(got, bySlot)
	m.must(slices.Equal(got, es), "the loop yields %v, want %v", got, es)
	for _, e := range es {
		m.toggle(e, col, on)
	}
}

// toggleInBatches calls f for the slots of batches, on a goroutine for each batch. It returns the entities.
func (m *combinedModel) toggleInBatches(batches []Batch, f func(Slot)) (all []Entity) {
	parts := make([][]Entity, len(batches))
	var group sync.WaitGroup
	for i, batch := range batches {
		group.Go(func() {
			for s := range batch.Slots() {
				f(s)
				parts[i] = append(parts[i], s.Entity())
			}
		})
	}
	group.Wait()
	return slices.Concat(parts...)
}
