package shared_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/shared"
	"github.com/vastgo/vast/store"
)

// paint is a value with padding, a floating-point number and a reference.
type paint struct {
	Gloss float32
	Coats uint8
	By    vast.Entity
}

type place struct{ X, Y float64 }

// model is a world with a shared column, and what the column must hold.
type model struct {
	t      *testing.T
	w      *vast.World
	paints shared.Column[paint]
	places vast.Column[place]
	owner  vast.Relation
	cs     *vast.Commands
	both   *vast.Archetype
	plain  *vast.Archetype
	all    []vast.Entity // living entities, in the order in which the model got them
	want   map[vast.Entity]paint
	later  []func() // what the recorded commands do to want
}

func newModel(t *testing.T) *model {
	m := &model{t: t, want: map[vast.Entity]paint{}}
	m.open()
	t.Cleanup(func() { m.w.Close() })
	return m
}

// open makes the world and its columns.
func (m *model) open() {
	m.w = vast.NewWorld(vast.Options{MaxEntities: 1 << 14})
	m.paints, m.places = shared.New[paint](m.w), vast.NewColumn[place](m.w)
	m.owner = vast.NewRelation(m.w, "owner", vast.RelationOptions{Cyclic: true})
	m.cs = vast.NewCommands(m.w, vast.CommandsOptions{})
}

// prepare makes the archetypes. In a loaded world, prepare finds the archetypes of the file.
func (m *model) prepare() {
	m.both, m.plain = m.w.Archetype(m.paints, m.places), m.w.Archetype(m.places)
}

// value decodes a value. There are few values, so that entities often share one.
func (m *model) value(s *modeltest.Stream) paint {
	n := s.Below(300)
	p := paint{Gloss: float32(n % 5), Coats: uint8(n / 5)}
	if n%7 == 3 && len(m.all) > 0 {
		p.By = m.all[n%len(m.all)]
	}
	return p
}

func (m *model) entity(s *modeltest.Stream) vast.Entity {
	if len(m.all) == 0 {
		return vast.Entity{}
	}
	return m.all[s.Below(len(m.all))]
}

// query returns a query, and a function that reports whether an entity matches the query.
func (m *model) query(s *modeltest.Stream) (vast.Query, func(vast.Entity) bool) {
	switch s.Below(5) {
	case 0:
		return m.w.Query(), func(vast.Entity) bool { return true }
	case 1:
		return m.w.Query().Without(m.paints), func(e vast.Entity) bool {
			_, ok := m.want[e]
			return !ok
		}
	case 2:
		lo := s.Below(1 << 12)
		return m.w.Query(m.places).Between(lo, lo+300), func(e vast.Entity) bool {
			return int(e.Slot()) >= lo && int(e.Slot()) < lo+300
		}
	case 3:
		v := m.value(s)
		return m.paints.Where(m.w.Query(), v), func(e vast.Entity) bool {
			p, ok := m.want[e]
			return ok && p == v
		}
	}
	var list []vast.Entity
	for range s.Below(100) {
		list = append(list, m.entity(s))
	}
	return m.w.Query().Among(list), func(e vast.Entity) bool { return slices.Contains(list, e) }
}

func (m *model) matching(match func(vast.Entity) bool) (matching []vast.Entity) {
	for _, e := range m.all {
		if match(e) {
			matching = append(matching, e)
		}
	}
	return matching
}

func (m *model) equal(what string, got, want any) {
	m.t.Helper()
	if got != want {
		m.t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func (m *model) run(data []byte) {
	m.prepare()
	s := modeltest.NewStream(data)
	for step := 0; s.More(); step++ {
		m.step(s)
		if step%16 == 0 {
			m.check()
		}
	}
	m.check()
}

func (m *model) step(s *modeltest.Stream) {
	switch op := s.Below(20); op {
	case 0: // births with a fill
		v, n := m.value(s), 1+s.Below(200)
		if len(m.all)+n > 3000 {
			return
		}
		m.both.NewN(n, func(r vast.Run) {
			m.paints.SetRun(r, v)
			for _, e := range r.All() {
				m.all, m.want[e] = append(m.all, e), v
			}
		})
	case 1: // births with the zero value
		e := m.both.New()
		m.all, m.want[e] = append(m.all, e), paint{}
	case 2:
		m.all = append(m.all, m.plain.New())
	case 3, 4:
		e, v := m.entity(s), m.value(s)
		m.equal("Add", m.paints.Add(e, v), len(m.all) > 0)
		if len(m.all) > 0 {
			m.want[e] = v
		}
	case 5, 6, 7:
		e, v := m.entity(s), m.value(s)
		_, has := m.want[e]
		m.equal("Set", m.paints.Set(e, v), has)
		if has {
			m.want[e] = v
		}
	case 8:
		e := m.entity(s)
		_, has := m.want[e]
		m.equal("Remove", m.paints.Remove(e), has)
		delete(m.want, e)
	case 9:
		if e := m.entity(s); m.w.Delete(e) {
			m.forget(e)
		}
	case 10:
		q, match := m.query(s)
		v, matching := m.value(s), m.matching(match)
		m.equal("AddAll", m.paints.AddAll(q, v), len(matching))
		for _, e := range matching {
			m.want[e] = v
		}
	case 11, 12:
		q, match := m.query(s)
		v, n := m.value(s), 0
		for _, e := range m.matching(match) {
			if _, has := m.want[e]; has {
				n++
			}
		}
		matching := m.matching(match)
		m.equal("SetAll", m.paints.SetAll(q, v), n)
		for _, e := range matching {
			if _, has := m.want[e]; has {
				m.want[e] = v
			}
		}
	case 13:
		q, match := m.query(s)
		n, matching := 0, m.matching(match)
		for _, e := range matching {
			if _, has := m.want[e]; has {
				n++
				delete(m.want, e)
			}
		}
		m.equal("RemoveAll", m.paints.RemoveAll(q), n)
	case 14:
		if s.Below(3) > 0 {
			return // so that the world does not stay small
		}
		q, match := m.query(s)
		matching := m.matching(match)
		m.equal("DeleteAll", m.w.DeleteAll(q), len(matching))
		for _, e := range matching {
			m.forget(e)
		}
	case 15:
		old, new := m.value(s), m.value(s)
		m.paints.Replace(old, new)
		for e, v := range m.want {
			if v == old {
				m.want[e] = new
			}
		}
	case 16:
		e, v := m.entity(s), m.value(s)
		switch s.Below(3) {
		case 0:
			m.paints.AddLater(m.cs, e, v)
			m.later = append(m.later, func() {
				if m.w.Alive(e) {
					m.want[e] = v
				}
			})
		case 1:
			m.paints.SetLater(m.cs, e, v)
			m.later = append(m.later, func() {
				if _, has := m.want[e]; has {
					m.want[e] = v
				}
			})
		case 2:
			m.paints.RemoveLater(m.cs, e)
			m.later = append(m.later, func() { delete(m.want, e) })
		}
	case 17:
		m.apply()
	case 18:
		m.apply()
		m.pack()
	case 19:
		m.owner.Set(m.entity(s), m.entity(s))
		if s.Below(4) == 0 {
			if err := m.w.Trim(); err != nil {
				m.t.Fatal(err)
			}
		}
	}
}

func (m *model) forget(e vast.Entity) {
	m.all = slices.DeleteFunc(m.all, func(other vast.Entity) bool { return other == e })
	delete(m.want, e)
}

func (m *model) apply() {
	if _, err := m.w.Apply(m.cs); err != nil {
		m.t.Fatal(err)
	}
	for _, f := range m.later {
		f()
	}
	m.later = nil
}

// pack moves entities, and renews the references of the model.
func (m *model) pack() {
	moves := m.both.Pack(vast.MoveOptions{})
	want := map[vast.Entity]paint{}
	for e, v := range m.want {
		v.By = moves.Resolve(v.By)
		want[moves.Resolve(e)] = v
	}
	m.want = want
	for i, e := range m.all {
		m.all[i] = moves.Resolve(e)
	}
}

func (m *model) check() {
	m.t.Helper()
	m.equal("Len", m.paints.Len(), len(m.want))
	for _, e := range m.all {
		want, has := m.want[e]
		got, ok := m.paints.Get(e)
		m.equal("Get", ok, has)
		m.equal("Get", got, want)
	}
	count, entities := map[paint]int{}, map[paint][]vast.Entity{}
	for s := range m.w.Query(m.paints).Slots() {
		v := m.want[s.Entity()]
		m.equal("At", m.paints.At(s), v)
		count[v]++
		entities[v] = append(entities[v], s.Entity())
	}
	values := map[paint]int{}
	for v, n := range m.paints.Values() {
		values[v] += n
	}
	if !maps.Equal(values, count) {
		m.t.Fatalf("Values yields %v, want %v", values, count)
	}
	for v, want := range entities {
		q := m.paints.Where(m.w.Query(), v)
		m.equal("Count of Where", q.Count(), len(want))
		if got := slices.Collect(q.All()); !slices.Equal(got, want) {
			m.t.Fatalf("Where(%v) yields %v, want %v", v, got, want)
		}
		var inRuns []vast.Entity
		for run := range q.Runs() {
			for _, e := range run.All() {
				inRuns = append(inRuns, e)
			}
		}
		if !slices.Equal(inRuns, want) {
			m.t.Fatalf("the runs of Where(%v) have %v, want %v", v, inRuns, want)
		}
	}
	m.equal("Where without a match", m.paints.Where(m.w.Query(), paint{Coats: 255}).Count(), 0)
	m.checkGroups(entities)
	m.checkTargets()
}

func (m *model) checkGroups(want map[paint][]vast.Entity) {
	m.t.Helper()
	got := map[paint][]vast.Entity{}
	var last paint
	var end int
	for v, run := range m.paints.GroupBy(m.w.Query()) {
		if v != last && len(got[v]) > 0 {
			m.t.Fatalf("GroupBy yields %v in two groups", v)
		}
		if v == last && len(got[v]) > 0 && run.Start() <= end {
			m.t.Fatalf("GroupBy yields a run from slot %d after a run that ends at slot %d", run.Start(),
				end-1)
		}
		for _, e := range run.All() {
			got[v] = append(got[v], e)
		}
		last, end = v, run.Start()+run.Len()
	}
	if !maps.EqualFunc(got, want, slices.Equal) {
		m.t.Fatalf("GroupBy yields %v, want %v", got, want)
	}
}

func (m *model) checkTargets() {
	m.t.Helper()
	want, got := map[vast.Entity][]vast.Entity{}, map[vast.Entity][]vast.Entity{}
	for e := range m.w.Query(m.owner).All() {
		target, _ := m.owner.Target(e)
		want[target] = append(want[target], e)
	}
	for target, run := range shared.GroupByTarget(m.w.Query(), m.owner) {
		for _, e := range run.All() {
			got[target] = append(got[target], e)
		}
	}
	if !maps.EqualFunc(got, want, slices.Equal) {
		m.t.Fatalf("GroupByTarget yields %v, want %v", got, want)
	}
}

// reload saves the world and continues in a world that is loaded from the file.
func (m *model) reload() {
	m.apply()
	var file bytes.Buffer
	if err := store.Save(m.w, &file, store.Options{}); err != nil {
		m.t.Fatal(err)
	}
	m.w.Close()
	m.open()
	if _, err := store.Load(m.w, bytes.NewReader(file.Bytes()), store.Options{}); err != nil {
		m.t.Fatal(err)
	}
	m.prepare()
}

func TestModel(t *testing.T) {
	for range longtest.Pick(12, 400) {
		m := newModel(t)
		m.run(modeltest.RandomBytes(t, 3000))
	}
}

func TestModelAcrossFiles(t *testing.T) {
	m := newModel(t)
	for range longtest.Pick(5, 100) {
		m.run(modeltest.RandomBytes(t, 1500))
		m.reload()
		m.check()
	}
}

func FuzzColumn(f *testing.F) {
	f.Add([]byte{0, 3, 200, 15, 3, 4, 11, 3, 5, 6, 18, 13, 3, 4})
	f.Fuzz(func(t *testing.T, data []byte) {
		m := newModel(t)
		m.run(data[:min(len(data), 1<<12)])
	})
}
