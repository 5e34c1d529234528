package observe_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/observe"
)

// model plays operations on a world with monitors and observers, and compares the entities that these report
// with sets that the model computes entity by entity.
type model struct {
	t          testing.TB
	s          *modeltest.Stream
	w          *vast.World
	a          vast.Column[uint64]
	b          vast.SparseColumn[uint64]
	tag        vast.Tag
	childOf    vast.Relation
	tracker    *vast.Tracker
	archetypes []*vast.Archetype
	alive      []vast.Entity

	monitors  []*monitored
	observers *observe.Observers
	observed  []*observed
	// written has the entities that moved since the last run, or whose component in column a was written or
	// gained since then.
	written map[vast.Entity]bool
	told    []string
	counts  struct{ monitors, observers int } // numbers of reported entities
}

// condition is a query, and the same condition for one entity. If matches is nil, the model asks the query.
type condition struct {
	name    string
	query   vast.Query
	matches func(vast.Entity) bool
}

type monitored struct {
	*observe.Monitor
	condition
	known map[vast.Entity]bool
}

type observed struct {
	condition
	number int
	remove func()
	known  map[vast.Entity]bool
}

func newModel(t testing.TB, s *modeltest.Stream, o vast.Options) *model {
	w := vast.NewWorld(o)
	m := &model{t: t, s: s, w: w, a: vast.NewColumn[uint64](w),
		b: vast.NewSparseColumn[uint64](w).Named("b"), tag: vast.NewTag(w, "tag"),
		childOf: vast.NewRelation(w, "child of", vast.RelationOptions{}), written: map[vast.Entity]bool{}}
	m.tracker = vast.NewTracker(w, m.a)
	m.archetypes = []*vast.Archetype{w.Archetype(), w.Archetype(m.a), w.Archetype(m.a, m.b, m.tag)}
	w.OnMove(func(_, moved vast.Entity) { m.written[moved] = true })
	m.observers = observe.New(w)
	t.Cleanup(func() {
		for _, x := range m.monitors {
			m.close(x.Monitor)
		}
		if err := m.observers.Close(); err != nil {
			t.Error(err)
		}
		w.Close()
	})
	return m
}

func (m *model) close(x *observe.Monitor) {
	if err := x.Close(); err != nil {
		m.t.Error(err)
	}
}

func (m *model) any() vast.Entity {
	if len(m.alive) == 0 {
		return vast.Entity{}
	}
	return m.alive[m.s.Below(len(m.alive))]
}

// condition returns a condition of a random kind.
func (m *model) condition() condition {
	w, a, b := m.w, m.a, m.b
	lo := m.s.Below(500)
	hi := lo + m.s.Below(500)
	target, list := m.any(), map[vast.Entity]bool{m.any(): true}
	for range m.s.Below(100) {
		list[m.any()] = true
	}
	conditions := []condition{
		{"all", w.Query(), func(vast.Entity) bool { return true }},
		{"a", w.Query(a), a.Has},
		{"a and b without tag", w.Query(a, b).Without(m.tag),
			func(e vast.Entity) bool { return a.Has(e) && b.Has(e) && !m.tag.Has(e) }},
		{"b or tag", w.Query().Any(b, m.tag), func(e vast.Entity) bool { return b.Has(e) || m.tag.Has(e) }},
		{"a to", w.Query(a).To(m.childOf, target), func(e vast.Entity) bool {
			parent, ok := m.childOf.Target(e)
			return a.Has(e) && ok && parent == target
		}},
		{"a between", w.Query(a).Between(lo, hi),
			func(e vast.Entity) bool { return a.Has(e) && int(e.Slot()) >= lo && int(e.Slot()) < hi }},
		{"among", w.Query().Among(slices.Collect(maps.Keys(list))),
			func(e vast.Entity) bool { return list[e] }},
		{"exactly a", w.Query(a).Exactly(), nil},
		{"a changed", w.Query().Changed(a, m.tracker), nil},
	}
	return conditions[m.s.Below(len(conditions))]
}

// matching returns the entities that meet a condition.
func (m *model) matching(c condition) map[vast.Entity]bool {
	found := map[vast.Entity]bool{}
	if c.matches == nil {
		for e := range c.query.All() {
			found[e] = true
		}
		return found
	}
	for _, e := range m.alive {
		if c.matches(e) {
			found[e] = true
		}
	}
	return found
}

// without returns the entities of a that are not in b, in the order of slots.
func without(a, b map[vast.Entity]bool) (list []vast.Entity) {
	for e := range a {
		if !b[e] {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b vast.Entity) int { return cmp.Compare(a.Slot(), b.Slot()) })
	return list
}

func (m *model) born(e vast.Entity) {
	if m.a.Has(e) {
		m.written[e] = true
	}
}

// do makes one change of the world.
func (m *model) do() {
	e := m.any()
	a := m.archetypes[m.s.Below(len(m.archetypes))]
	full := len(m.alive) > 1500
	switch kind := m.s.Below(24); {
	case kind < 3 && !full:
		m.born(a.New())
	case kind < 5 && !full:
		a.NewN(m.s.Below(200), func(r vast.Run) {
			for _, e := range r.All() {
				m.born(e)
			}
		})
	case kind < 8:
		m.w.Delete(e)
	case kind == 8 && m.s.Below(4) == 0:
		m.w.DeleteAll(m.condition().query)
	case kind < 11 && m.w.Alive(e):
		m.a.Add(e, 1)
		m.written[e] = true
	case kind < 13:
		m.a.Remove(e)
	case kind == 13 && m.w.Alive(e):
		m.b.Add(e, 1)
	case kind == 14:
		m.b.Remove(e)
	case kind == 15:
		if !m.tag.Remove(e) && m.w.Alive(e) {
			m.tag.Add(e)
		}
	case kind == 16 && m.s.Below(4) == 0:
		m.tag.AddAll(m.condition().query)
	case kind == 17 && m.s.Below(4) == 0:
		m.tag.RemoveAll(m.condition().query)
	case kind < 20 && m.w.Alive(e):
		if to := m.any(); m.childOf.Root(to) != e && m.childOf.CountSources(e) == 0 && to != e {
			m.childOf.Set(e, to)
		}
	case kind == 20:
		m.childOf.Remove(e)
	case kind == 21:
		if m.a.Set(e, 2) {
			m.written[e] = true
		}
	case kind == 22 && !full: // the new entity usually gets the slot of e
		if m.w.Delete(e) {
			m.born(a.New())
		}
	case kind == 23:
		m.move()
	}
	m.alive = slices.Collect(m.w.Query().All())
}

func (m *model) move() {
	switch m.s.Below(16) {
	case 0:
		m.w.Reset()
	case 1, 2, 3:
		for _, a := range m.archetypes {
			a.Pack(vast.MoveOptions{})
		}
	case 4, 5, 6:
		m.w.Regroup(m.w.Query(), vast.MoveOptions{})
	case 7, 8:
		if err := m.w.Trim(); err != nil {
			m.t.Fatal(err)
		}
	case 9:
		m.tracker.Next()
	}
}

func (m *model) add() {
	c := m.condition()
	existing := m.s.Below(2) == 0
	if m.s.Below(2) == 0 {
		m.monitors = append(m.monitors, &monitored{observe.NewMonitor(c.query), c, m.matching(c)})
		return
	}
	o := &observed{condition: c, known: m.matching(c), number: m.s.Below(1000)}
	if existing {
		o.known = map[vast.Entity]bool{}
	}
	tell := func(what string) func(observe.Event) {
		return func(e observe.Event) { m.told = append(m.told, fmt.Sprint(o.number, what, e.Entity)) }
	}
	o.remove = m.observers.Add(observe.Observer{Query: c.query, Left: tell("-"), Entered: tell("+"),
		Existing: existing})
	m.observed = append(m.observed, o)
}

// look checks a monitor or all observers, or removes one of them.
func (m *model) look() {
	switch at := m.s.Below(6); {
	case at == 0 && len(m.monitors) > 6:
		m.close(m.monitors[0].Monitor)
		m.monitors = m.monitors[1:]
	case at == 1 && len(m.observed) > 3:
		m.observed[0].remove()
		m.observed = m.observed[1:]
	case at == 2:
		m.run()
	case len(m.monitors) > 0:
		x := m.monitors[m.s.Below(len(m.monitors))]
		now := m.matching(x.condition)
		x.Next()
		m.same(x.name+", entered", slices.Collect(x.Entered()), without(now, x.known))
		m.same(x.name+", left", slices.Collect(x.Left()), without(x.known, now))
		x.known = now
	}
}

func (m *model) same(what string, got, want []vast.Entity) {
	m.t.Helper()
	if !slices.Equal(got, want) {
		m.t.Fatalf("%s: %v, want %v", what, got, want)
	}
	m.counts.monitors += len(got)
}

func (m *model) run() {
	var want []string
	changed := m.matching(condition{matches: func(e vast.Entity) bool {
		return m.written[e] && m.a.Has(e) && !m.tag.Has(e)
	}})
	for _, e := range without(changed, nil) {
		want = append(want, fmt.Sprint("changed", e))
	}
	clear(m.written)
	for _, o := range m.observed {
		now := m.matching(o.condition)
		for _, e := range without(o.known, now) {
			want = append(want, fmt.Sprint(o.number, "-", e))
		}
		for _, e := range without(now, o.known) {
			want = append(want, fmt.Sprint(o.number, "+", e))
		}
		o.known = now
	}
	m.told = m.told[:0]
	m.observers.Run(nil)
	if !slices.Equal(m.told, want) {
		m.t.Fatalf("told %v, want %v", m.told, want)
	}
	m.counts.observers += len(want)
}

// play plays the whole stream.
func (m *model) play() {
	m.observers.Add(observe.Observer{Query: m.w.Query().Without(m.tag), Column: m.a,
		Changed: func(e observe.Event) { m.told = append(m.told, fmt.Sprint("changed", e.Entity)) }})
	for m.s.More() {
		if len(m.monitors)+len(m.observed) < 12 {
			m.add()
		}
		for range 1 + m.s.Below(8) {
			m.do()
		}
		m.look()
	}
}

func TestModel(t *testing.T) {
	longtest.OneGoroutine(t)
	for _, slots := range []int{1 << 12, 1 << 16} {
		m := newModel(t, modeltest.NewStream(modeltest.RandomBytes(t, longtest.Pick(30_000, 1_000_000))),
			vast.Options{MaxEntities: slots})
		m.play()
		if t.Logf("told: %+v", m.counts); m.counts.monitors == 0 || m.counts.observers == 0 {
			t.Error("nothing was told")
		}
	}
}

func FuzzMonitor(f *testing.F) {
	f.Fuzz(func(t *testing.T, stream []byte) {
		newModel(t, modeltest.NewStream(stream[:min(len(stream), 1<<13)]),
			vast.Options{MaxEntities: 1 << 12}).play()
	})
}
