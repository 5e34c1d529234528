package vast

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

// trackedColumn is a column of any storage, or a tag. The test leaves out the functions that are nil.
type trackedColumn struct {
	AnyColumn
	add                func(Entity, uint64)
	remove             func(Entity) bool
	set, edit          func(Entity, uint64) bool
	editRun            func(Run)
	addAll, setAll     func(Query, uint64)
	removeAll          func(Query)
	overwritingIsNoted bool
}

func trackedColumns(w *World) []trackedColumn {
	plain, other := NewColumn[uint64](w), NewColumn[[3]uint64](w)
	sparse, heap, tag := NewSparseColumn[uint64](w), NewHeapColumn[string](w), NewTag(w, "tag")
	return []trackedColumn{
		{AnyColumn: plain, add: func(e Entity, v uint64) { plain.Add(e, v) }, remove: plain.Remove,
			set:  plain.Set,
			edit: editing(plain.Edit), editRun: func(r Run) { plain.EditRun(r)[0]++ },
			overwritingIsNoted: true,
			addAll:             func(q Query, v uint64) { plain.AddAll(q, v) },
			setAll:             func(q Query, v uint64) { plain.SetAll(q, v) },
			removeAll:          func(q Query) { plain.RemoveAll(q) }},
		{AnyColumn: other, add: func(e Entity, v uint64) { other.Add(e, [3]uint64{v}) },
			remove: other.Remove,
			set:    func(e Entity, v uint64) bool { return other.Set(e, [3]uint64{v}) },
			edit:   func(e Entity, _ uint64) bool { return other.Edit(e) != nil }, overwritingIsNoted: true,
			editRun:   func(r Run) { clear(other.EditRun(r)) },
			addAll:    func(q Query, v uint64) { other.AddAll(q, [3]uint64{1}) },
			setAll:    func(q Query, v uint64) { other.SetAll(q, [3]uint64{2}) },
			removeAll: func(q Query) { other.RemoveAll(q) }},
		{AnyColumn: sparse, add: func(e Entity, v uint64) { sparse.Add(e, v) }, remove: sparse.Remove,
			set:  sparse.Set,
			edit: editing(sparse.Edit), overwritingIsNoted: true},
		{AnyColumn: heap, add: func(e Entity, v uint64) { heap.Add(e, fmt.Sprint(v)) }, remove: heap.Remove,
			set:  func(e Entity, v uint64) bool { return heap.Set(e, fmt.Sprint(v)) },
			edit: func(e Entity, _ uint64) bool { return heap.Edit(e) != nil }, overwritingIsNoted: true},
		{AnyColumn: tag, add: func(e Entity, _ uint64) { tag.Add(e) }, remove: tag.Remove},
	}
}

func editing(edit func(Entity) *uint64) func(Entity, uint64) bool {
	return func(e Entity, v uint64) bool {
		p := edit(e)
		if p != nil {
			*p = v
		}
		return p != nil
	}
}

// trackedModel models what one tracker knows of one column.
type trackedModel struct {
	known   map[Entity]bool // entities that had the component at the last Next or NewTracker
	written map[Entity]bool // entities whose component was written since then
}

type trackedWorld struct {
	t        *testing.T
	r        *rand.Rand
	w        *World
	cols     []trackedColumn
	as       []*Archetype
	has      []map[Entity]bool // by column: the entities that have the component
	alive    []Entity
	trackers []*Tracker
	models   []map[int]*trackedModel // by tracker: the models, by column
}

func (m *trackedWorld) wrote(i int, e Entity) {
	for _, models := range m.models {
		if k := models[i]; k != nil {
			k.written[e] = true
		}
	}
}

func (m *trackedWorld) gains(i int, e Entity) {
	m.has[i][e] = true
	m.wrote(i, e)
}

func (m *trackedWorld) any() Entity {
	if len(m.alive) == 0 {
		return Entity{}
	}
	return m.alive[m.r.IntN(len(m.alive))]
}

func (m *trackedWorld) died(e Entity) {
	for i := range m.has {
		delete(m.has[i], e)
	}
}

func (m *trackedWorld) born(a int, e Entity) {
	m.alive = append(m.alive, e)
	for _, c := range m.as[a].columns {
		m.gains(int(c.id), e)
	}
}

func (m *trackedWorld) step() {
	i, j, e, v := m.r.IntN(len(m.cols)), m.r.IntN(len(m.cols)), m.any(), m.r.Uint64()
	c := m.cols[i]
	q := m.w.Query(m.cols[j])
	switch m.r.IntN(16) {
	case 0:
		a := m.r.IntN(len(m.as))
		m.born(a, m.as[a].New())
	case 1:
		a := m.r.IntN(len(m.as))
		m.as[a].NewN(1+m.r.IntN(90), func(r Run) {
			for k := range r.Len() {
				m.born(a, r.Entity(k))
			}
		})
	case 2, 3:
		if m.w.Delete(e) {
			m.died(e)
		}
	case 4:
		if m.r.IntN(8) == 0 {
			for e := range m.has[j] {
				m.died(e)
			}
			m.w.DeleteAll(q)
		}
	case 5, 6:
		if !e.IsZero() {
			c.add(e, v)
			if c.overwritingIsNoted || !m.has[i][e] {
				m.gains(i, e)
			}
		}
	case 7, 8:
		if c.remove(e) != m.has[i][e] {
			m.t.Fatalf("Remove of %v reports a wrong result", e)
		}
		delete(m.has[i], e)
	case 9, 10:
		if c.set != nil && c.set(e, v) {
			m.wrote(i, e)
		}
	case 11, 12:
		if c.edit != nil && c.edit(e, v) {
			m.wrote(i, e)
		}
	case 13:
		if c.editRun != nil {
			for r := range m.w.Query(c).Runs() {
				c.editRun(r)
				for k := range r.Len() {
					m.wrote(i, r.Entity(k))
				}
				if m.r.IntN(2) == 0 {
					break
				}
			}
		}
	case 14:
		m.bulk(i, j, q, v)
	case 15:
		if m.has[i][e] {
			c.remove(e)
			c.add(e, v)
			m.wrote(i, e)
		}
	}
	m.alive = slices.DeleteFunc(m.alive, func(e Entity) bool { return !m.w.Alive(e) })
}

func (m *trackedWorld) bulk(i, j int, q Query, v uint64) {
	c := m.cols[i]
	switch m.r.IntN(4) {
	case 0:
		if c.addAll != nil {
			c.addAll(q, v)
			for e := range maps.Clone(m.has[j]) {
				m.gains(i, e)
			}
		}
	case 1:
		if c.setAll != nil {
			c.setAll(q, v)
			for e := range m.has[j] {
				if m.has[i][e] {
					m.wrote(i, e)
				}
			}
		}
	case 2:
		if c.removeAll != nil {
			c.removeAll(q)
			for e := range maps.Clone(m.has[j]) {
				delete(m.has[i], e)
			}
		}
	case 3:
		if k := (i + 1) % len(m.cols); k != i {
			m.w.Exchange(q, []AnyColumn{c}, []AnyColumn{m.cols[k]})
			for e := range maps.Clone(m.has[j]) {
				if !m.has[i][e] {
					m.gains(i, e)
				}
				delete(m.has[k], e)
			}
		}
	}
}

func (m *trackedWorld) changeTracker() {
	switch {
	case len(m.trackers) < 4 && m.r.IntN(3) == 0:
		models := map[int]*trackedModel{}
		var cols []AnyColumn
		for _, i := range m.r.Perm(len(m.cols))[:1+m.r.IntN(len(m.cols))] {
			models[i] = &trackedModel{known: maps.Clone(m.has[i]), written: map[Entity]bool{}}
			cols = append(cols, m.cols[i])
		}
		m.trackers, m.models = append(m.trackers, NewTracker(m.w, cols...)), append(m.models, models)
	case len(m.trackers) > 0:
		k := m.r.IntN(len(m.trackers))
		switch m.r.IntN(6) {
		case 0:
			m.trackers[k].Close()
			m.trackers, m.models = slices.Delete(m.trackers, k, k+1), slices.Delete(m.models, k, k+1)
		case 1, 2, 3:
			m.trackers[k].Next()
			for i, model := range m.models[k] {
				model.known, model.written = maps.Clone(m.has[i]), map[Entity]bool{}
			}
		}
	}
}

func (m *trackedWorld) check() {
	m.t.Helper()
	m.w.checkInvariants()
	for k, tr := range m.trackers {
		for i, model := range m.models[k] {
			var added, changed, removed, either []Entity
			for e := range m.has[i] {
				switch {
				case !model.known[e]:
					added = append(added, e)
					either = append(either, e)
				case model.written[e]:
					changed = append(changed, e)
					either = append(either, e)
				}
			}
			for e := range model.known {
				if !m.has[i][e] {
					removed = append(removed, e)
				}
			}
			c := m.cols[i]
			m.same("added", k, i, slices.Collect(tr.Added(c)), added)
			m.same("changed", k, i, slices.Collect(tr.Changed(c)), changed)
			m.same("removed", k, i, slices.Collect(tr.Removed(c)), removed)
			m.same("queried", k, i, slices.Collect(m.w.Query().Changed(c, tr).All()), either)
			first := m.cols[0]
			m.same("queried with another", k, i, slices.Collect(m.w.Query(first).Changed(c, tr).All()),
				slices.DeleteFunc(slices.Clone(either), func(e Entity) bool { return !m.has[0][e] }))
		}
	}
}

// same requires that got has the entities of want, in the order of slots.
func (m *trackedWorld) same(what string, tracker, col int, got, want []Entity) {
	m.t.Helper()
	slices.SortFunc(want, func(a, b Entity) int { return int(a.slot) - int(b.slot) })
	if !slices.Equal(got, want) {
		m.t.Fatalf("tracker %d, column %d, %s: %v, want %v", tracker, col, what, got, want)
	}
}

func TestTrackersAgainstModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	steps := longtest.Pick(1000, 4000)
	for _, slots := range []int{64 * 8, 1 << 13} {
		m := &trackedWorld{t: t, r: rand.New(rand.NewPCG(seed, uint64(slots)))}
		m.w = NewWorld(Options{MaxEntities: slots * 4})
		m.cols = trackedColumns(m.w)
		for range m.cols {
			m.has = append(m.has, map[Entity]bool{})
		}
		m.as = []*Archetype{m.w.Archetype(m.cols[0]), m.w.Archetype(m.cols[0], m.cols[1], m.cols[2]),
			m.w.Archetype(m.cols[3], m.cols[4]),
			m.w.Archetype()}
		hooks := 0
		m.cols[0].AnyColumn.(Column[uint64]).OnRemove(func(Entity, *uint64) { hooks++ })
		for step := range steps {
			if len(m.alive) > slots {
				m.w.DeleteAll(m.w.Query())
				for _, e := range m.alive {
					m.died(e)
				}
				m.alive = nil
			}
			m.step()
			if step%7 == 0 {
				m.check()
				m.changeTracker()
				m.check()
			}
		}
		if hooks == 0 {
			t.Error("the hook never ran")
		}
		regions := len(m.w.memory.regions)
		t.Logf("%d entities, %d regions, %d trackers", m.w.Len(), regions, len(m.trackers))
		if err := m.w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
