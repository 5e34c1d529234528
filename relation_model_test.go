package vast

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

// relationModel models a relation by maps and slices.
type relationModel struct {
	Relation
	options RelationOptions
	target  map[Entity]Entity
	sources map[Entity][]Entity // in the order in which they were linked
}

func (m *relationModel) unlink(e Entity) {
	t, ok := m.target[e]
	if !ok {
		return
	}
	delete(m.target, e)
	i := slices.Index(m.sources[t], e)
	if m.sources[t] = slices.Delete(m.sources[t], i, i+1); len(m.sources[t]) == 0 {
		delete(m.sources, t)
	}
}

func (m *relationModel) link(e, t Entity) {
	if m.target[e] == t {
		return
	}
	m.unlink(e)
	m.target[e] = t
	m.sources[t] = append(m.sources[t], e)
}

func (m *relationModel) closes(e, t Entity) bool {
	if m.options.Cyclic {
		return false
	}
	for ; t != e; t = m.target[t] {
		if _, ok := m.target[t]; !ok {
			return false
		}
	}
	return true
}

func (m *relationModel) depth(e Entity) (n int) {
	for {
		t, ok := m.target[e]
		if !ok {
			return n
		}
		e = t
		n++
	}
}

// relationWorld is a world with relations and a model of both.
type relationWorld struct {
	t         *testing.T
	r         *rand.Rand
	w         *World
	mark      Tag
	pos       Column[uint64]
	relations []*relationModel
	alive     map[Entity]bool // the value is true if the entity has the mark
	order     []Entity
	stale     []Entity
	lost      map[string]int // number of calls of OnRemove callbacks, by callback and arguments
	step      int
}

func newRelationWorld(t *testing.T, seed, stream uint64, slots int) *relationWorld {
	m := &relationWorld{t: t, r: rand.New(rand.NewPCG(seed, stream)),
		w:     NewWorld(Options{MaxEntities: slots}),
		alive: map[Entity]bool{}, lost: map[string]int{}}
	m.pos, m.mark = NewColumn[uint64](m.w), NewTag(m.w, "mark")
	m.pos.OnRemove(func(e Entity, v *uint64) { m.lost[fmt.Sprint("entity ", e)]++ })
	for i, o := range []RelationOptions{{OnDelete: Cascade}, {OnDelete: Orphan}, {OnDelete: Refuse},
		{OnDelete: Cascade, Cyclic: true},
		{OnDelete: Orphan, Cyclic: true}, {OnDelete: Refuse, Cyclic: true}} {
		rel := NewRelation(m.w, fmt.Sprint("r", i), o)
		rel.OnRemove(func(source, target Entity) {
			m.lost[fmt.Sprint(rel.Name(), " ", source, " ",
				target)]++
		})
		m.relations = append(m.relations, &relationModel{rel, o, map[Entity]Entity{}, map[Entity][]Entity{}})
	}
	return m
}

func (m *relationWorld) must(ok bool, format string, a ...any) {
	if !ok {
		m.t.Helper()
		m.t.Fatalf("step %d: %s", m.step, fmt.Sprintf(format, a...))
	}
}

func (m *relationWorld) any() Entity {
	if len(m.stale) > 0 && m.r.IntN(40) == 0 {
		return m.stale[m.r.IntN(len(m.stale))]
	}
	if len(m.order) == 0 {
		return Entity{}
	}
	return m.order[m.r.IntN(len(m.order))]
}

// closure returns the entities that a deletion of the seeds must delete. It drops a seed if its deletion
// would delete a target of a surviving source in a relation with Refuse.
func (m *relationWorld) closure(seeds []Entity) map[Entity]bool {
	seeds = slices.Clone(seeds)
	for {
		from := map[Entity][]Entity{} // for each deleted entity, the seeds whose deletion deletes the entity
		for _, s := range seeds {
			reached := map[Entity]bool{s: true}
			queue := []Entity{s}
			for len(queue) > 0 {
				e := queue[0]
				queue = queue[1:]
				from[e] = append(from[e], s)
				for _, rel := range m.relations {
					if rel.options.OnDelete == Cascade {
						for _, source := range rel.sources[e] {
							if !reached[source] {
								reached[source] = true
								queue = append(queue, source)
							}
						}
					}
				}
			}
		}
		refused := map[Entity]bool{} // seeds that must stay
		for e, by := range from {
			for _, rel := range m.relations {
				if rel.options.OnDelete == Refuse && slices.ContainsFunc(rel.sources[e],
					func(s Entity) bool { return from[s] == nil }) {
					for _, s := range by {
						refused[s] = true
					}
				}
			}
		}
		if len(refused) == 0 {
			doomed := map[Entity]bool{}
			for e := range from {
				doomed[e] = true
			}
			return doomed
		}
		seeds = slices.DeleteFunc(seeds, func(s Entity) bool { return refused[s] })
	}
}

// remove removes entities from the model and checks the calls of callbacks.
func (m *relationWorld) remove(doomed map[Entity]bool) {
	want := map[string]int{}
	for e := range doomed {
		want[fmt.Sprint("entity ", e)]++
		for _, rel := range m.relations {
			if t, ok := rel.target[e]; ok {
				want[fmt.Sprint(rel.Name(), " ", e, " ", t)]++
			}
			for _, source := range rel.sources[e] {
				if !doomed[source] {
					want[fmt.Sprint(rel.Name(), " ", source, " ", e)]++
				}
			}
		}
	}
	m.told(want)
	for e := range doomed {
		delete(m.alive, e)
		m.stale = append(m.stale, e)
		for _, rel := range m.relations {
			rel.unlink(e)
			for _, source := range slices.Clone(rel.sources[e]) {
				rel.unlink(source)
			}
		}
	}
	m.order = slices.DeleteFunc(m.order, func(e Entity) bool { return doomed[e] })
	m.stale = m.stale[max(0, len(m.stale)-100):]
}

func (m *relationWorld) told(want map[string]int) {
	m.must(fmt.Sprint(m.lost) == fmt.Sprint(want), "the calls of callbacks are\n%v, want\n%v", m.lost, want)
	clear(m.lost)
}

// query returns a query and the entities that it should match, in the order of slots.
func (m *relationWorld) query() (Query, []Entity) {
	q := m.w.Query()
	var tests []func(Entity) bool
	if m.r.IntN(2) == 0 {
		q = m.w.Query(m.mark)
		tests = append(tests, func(e Entity) bool { return m.alive[e] })
	}
	used := map[int]bool{}
	for range m.r.IntN(3) {
		i := m.r.IntN(len(m.relations))
		rel := m.relations[i]
		if used[i] {
			continue
		}
		used[i] = true
		switch m.r.IntN(4) {
		case 0:
			q = q.Without(rel)
			tests = append(tests, func(e Entity) bool { _, ok := rel.target[e]; return !ok })
		case 1:
			q = q.Without(rel.TargetColumn())
			tests = append(tests, func(e Entity) bool { return len(rel.sources[e]) == 0 })
		case 2:
			target := m.any()
			if t, ok := rel.target[m.any()]; ok {
				target = t
			}
			q = q.To(rel.Relation, target)
			tests = append(tests, func(e Entity) bool { t, ok := rel.target[e]; return ok && t == target })
		case 3:
			q = q.Any(rel, rel.TargetColumn())
			tests = append(tests, func(e Entity) bool {
				_, ok := rel.target[e]
				return ok ||
					len(rel.sources[e]) > 0
			})
		}
	}
	var es []Entity
	for e := range m.alive {
		if !slices.ContainsFunc(tests, func(f func(Entity) bool) bool { return !f(e) }) {
			es = append(es, e)
		}
	}
	slices.SortFunc(es, slotOrder)
	return q, es
}

func slotOrder(a, b Entity) int { return int(a.slot) - int(b.slot) }

func (m *relationWorld) apply() {
	rel := m.relations[m.r.IntN(len(m.relations))]
	switch op := m.r.IntN(100); {
	case op < 12:
		if len(m.order) >= 1500 {
			return
		}
		m.w.Archetype(m.pos).NewN(1+m.r.IntN(20), func(run Run) {
			for i := range run.Len() {
				m.alive[run.Entity(i)] = false
				m.order = append(m.order, run.Entity(i))
			}
		})
	case op < 50:
		e, t := m.any(), m.any()
		living := m.w.Alive(e) && m.w.Alive(t)
		if living && rel.closes(e, t) {
			says(m.t, func() { rel.Set(e, t) }, "is a circle", e.String()+" → "+t.String())
			return
		}
		m.must(rel.Set(e, t) == living, "Set(%v, %v) returns %t", e, t, !living)
		if living {
			rel.link(e, t)
		}
	case op < 60:
		e := m.any()
		t, had := rel.target[e]
		m.must(rel.Remove(e) == had, "Remove(%v) returns %t", e, !had)
		if had {
			m.told(map[string]int{fmt.Sprint(rel.Name(), " ", e, " ", t): 1})
		}
		rel.unlink(e)
	case op < 68:
		e := m.any()
		doomed := m.closure([]Entity{e})
		if !m.w.Alive(e) {
			doomed = nil
		}
		m.must(m.w.Delete(e) == (len(doomed) > 0),
			"Delete(%v) returns the wrong result, want %d entities deleted", e, len(doomed))
		m.remove(doomed)
	case op < 70:
		q, es := m.query()
		if len(es) > 60 {
			return
		}
		doomed := m.closure(es)
		n := m.w.DeleteAll(q)
		m.must(n == len(doomed), "DeleteAll of %v deletes %d entities, want %d", es, n, len(doomed))
		m.remove(doomed)
	case op < 72:
		m.applyRemoveAll(rel)
	case op < 76:
		m.applySetAll(rel)
	case op < 82:
		q, es := m.query()
		m.must(m.w.Exchange(q, []AnyColumn{m.mark}, nil) == len(es), "Exchange returns the wrong count")
		for _, e := range es {
			m.alive[e] = true
		}
	case op < 88:
		q, es := m.query()
		m.w.Exchange(q, nil, []AnyColumn{m.mark})
		for _, e := range es {
			m.alive[e] = false
		}
	default:
		m.checkQuery(rel)
	}
}

func (m *relationWorld) applyRemoveAll(rel *relationModel) {
	q, es := m.query()
	if len(es) > 60 && m.r.IntN(4) > 0 {
		return
	}
	want := map[string]int{}
	for _, e := range es {
		if t, ok := rel.target[e]; ok {
			want[fmt.Sprint(rel.Name(), " ", e, " ", t)]++
		}
	}
	if m.r.IntN(2) == 0 {
		m.must(m.w.Exchange(q, nil, []AnyColumn{rel}) == len(es), "Exchange returns the wrong count")
	} else {
		n := rel.RemoveAll(q)
		m.must(n == len(want), "RemoveAll removes %d links, want %d", n, len(want))
	}
	m.told(want)
	for _, e := range es {
		rel.unlink(e)
	}
}

func (m *relationWorld) applySetAll(rel *relationModel) {
	q, es := m.query()
	t := m.any()
	if len(es) > 60 && m.r.IntN(4) > 0 {
		return
	}
	if m.w.Alive(t) && slices.ContainsFunc(es, func(e Entity) bool { return rel.closes(e, t) }) {
		before := m.w.Changes()
		says(m.t, func() { rel.SetAll(q, t) }, "is a circle")
		m.must(m.w.Changes() == before, "a refused SetAll changed the world")
		return
	}
	want := len(es)
	if !m.w.Alive(t) {
		want = 0
	}
	n := rel.SetAll(q, t)
	m.must(n == want, "SetAll to %v sets %d links, want %d", t, n, want)
	for _, e := range es[:want] {
		rel.link(e, t)
	}
}

// checkQuery runs a query in several ways and compares the results with the model.
func (m *relationWorld) checkQuery(rel *relationModel) {
	q, es := m.query()
	got := slices.Collect(q.All())
	m.must(q.Count() == len(es), "Count is %d, want %d", q.Count(), len(es))
	if first, ok := q.First(); ok != (len(es) > 0) || ok && first != got[0] {
		m.must(false, "First returns %v, %t; %d entities match", first, ok, len(es))
	}
	slices.SortFunc(got, slotOrder)
	m.must(slices.Equal(got, es), "All yields %v, want %v", got, es)
	got = nil
	for word, mask := range q.Words() {
		for ; mask != 0; mask &= mask - 1 {
			got = append(got, rel.r.entity(uint32(word*64)+trailingZeros(mask)))
		}
	}
	m.must(slices.Equal(got, es), "Words yields %v, want %v", got, es)
	got = nil
	for b := range q.Batches(1 + m.r.IntN(100)) {
		one := slices.Collect(b.All())
		m.must(len(one) == b.Len(), "a batch with Len %d yields %d entities", b.Len(), len(one))
		got = append(got, one...)
	}
	m.must(slices.Equal(got, es), "Batches yields %v, want %v", got, es)
	if rel.options.Cyclic {
		return
	}
	got = nil
	seen, last := map[Entity]bool{}, 0
	for run := range rel.InDepthOrder(q) {
		m.must(run.Len() > 0, "InDepthOrder yields an empty run")
		for i, target := range rel.Targets(run) {
			t := target.Entity()
			e := run.Entity(i)
			d := rel.depth(e)
			m.must(d >= last && (i == 0 || d == last), "%v of depth %d comes after an entity of depth %d", e,
				d, last)
			m.must(t == rel.target[e] && !seen[e], "%v has the target %v, want %v; it was yielded before: %t",
				e, t, rel.target[e], seen[e])
			last, seen[e] = d, true
			got = append(got, e)
		}
	}
	slices.SortFunc(got, slotOrder)
	es = slices.DeleteFunc(es, func(e Entity) bool { _, ok := rel.target[e]; return !ok })
	m.must(slices.Equal(got, es), "InDepthOrder yields %v, want %v", got, es)
}

func (m *relationWorld) check() {
	m.w.checkInvariants()
	m.must(m.w.Len() == len(m.alive), "%d entities, want %d", m.w.Len(), len(m.alive))
	for _, rel := range m.relations {
		m.must(rel.Len() == len(rel.target), "%s: %d sources, want %d", rel.Name(), rel.Len(),
			len(rel.target))
		targets := m.w.Query(rel.TargetColumn()).Count()
		m.must(targets == len(rel.sources), "%s: %d targets, want %d", rel.Name(), targets, len(rel.sources))
		for _, e := range slices.Concat(m.order, m.stale) {
			got, has := rel.Target(e)
			want, ok := rel.target[e]
			m.must(got == want && has == ok && rel.Has(e) == ok, "%s: the target of %v is %v, want %v",
				rel.Name(), e, got, want)
			sources := slices.Collect(rel.Sources(e))
			m.must(slices.Equal(sources, rel.sources[e]) && rel.CountSources(e) == len(sources),
				"%s: the sources of %v are %v, want %v",
				rel.Name(), e, sources, rel.sources[e])
			to := slices.Collect(m.w.Query(m.pos).To(rel.Relation, e).All())
			m.must(slices.Equal(to, sources), "%s: the query to %v yields %v, want %v", rel.Name(), e, to,
				sources)
			if !rel.options.Cyclic {
				m.must(rel.Depth(e) == rel.depth(e), "%s: the depth of %v is %d, want %d", rel.Name(), e,
					rel.Depth(e), rel.depth(e))
			}
		}
		if !rel.options.Cyclic {
			e := m.any()
			var want []Entity
			var walk func(Entity)
			walk = func(e Entity) {
				for _, s := range rel.sources[e] {
					want = append(want, s)
					walk(s)
				}
			}
			walk(e)
			m.must(slices.Equal(slices.Collect(rel.Descendants(e)), want),
				"%s: the descendants of %v are wrong",
				rel.Name(), e)
			up := slices.Collect(rel.Ancestors(e))
			m.must(len(up) == rel.depth(e), "%s: ancestors of %v are %v", rel.Name(), e, up)
			if len(up) > 0 {
				m.must(up[0] == rel.target[e] && rel.Root(e) == up[len(up)-1], "%s: the root of %v is wrong",
					rel.Name(), e)
			}
		}
	}
}

func TestRelationModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	steps := longtest.Pick(800, 4000)
	for stream := range uint64(4) {
		m := newRelationWorld(t, seed, stream, 1<<13)
		for m.step = range steps {
			m.apply()
			if m.step%100 == 0 {
				m.check()
			}
		}
		m.check()
		if err := m.w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
