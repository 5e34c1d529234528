package vast

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// promisesWorld is a world, and the promises that calls of Grow have made.
type promisesWorld struct {
	*World
	dense      Column[[100]byte]
	sparse     [2]SparseColumn[kilobyte]
	heap       HeapColumn[string]
	child      Relation
	roads      Edges[uint64]
	archetypes []*Archetype
	trackers   []*Tracker
	alive      []Entity
	births     []int  // number of promised births, by archetype
	additions  [2]int // number of promised additions, by sparse column
	reach      [3]int // by column: promised additions hold in slots below this number; dense is the last
	edges      int    // number of promised edges
	edgesReach int    // promised edges hold between slots below this number
	links      int    // promised links hold between slots below this number
}

// promisesModel runs random operations on two worlds that share a limit. Some operations close the limit:
// they lower it to the memory in use. A promised operation must succeed under a closed limit. An operation
// that fails must change nothing.
type promisesModel struct {
	t        testing.TB
	limit    *vm.Limit
	worlds   [2]*promisesWorld
	step     int
	what     string
	refusals int
	redeemed int // number of promised operations that ran under a closed limit
}

const promisesSlots = 3000

func newPromisesModel(t testing.TB) *promisesModel {
	m := &promisesModel{t: t, limit: vm.NewLimit(1 << 30)}
	for i := range m.worlds {
		w := NewWorld(Options{Name: fmt.Sprintf("world %d", i), MaxEntities: promisesSlots, Limit: m.limit})
		f := &promisesWorld{World: w}
		f.dense = NewColumn[[100]byte](w)
		f.sparse = [2]SparseColumn[kilobyte]{NewSparseColumn[kilobyte](w),
			NewSparseColumn[kilobyte](w).Named("second")}
		f.heap = NewHeapColumn[string](w)
		f.child = NewRelation(w, "child", RelationOptions{})
		f.roads = NewEdges[uint64](w, "roads", EdgesOptions{Capacity: 2000})
		for _, set := range [][]AnyColumn{{}, {f.dense}, {f.sparse[0]}, {f.dense, f.sparse[0]},
			{f.sparse[0], f.sparse[1]},
			{f.dense, f.sparse[1], f.heap}} {
			f.archetypes = append(f.archetypes, w.Archetype(set...))
		}
		f.births = make([]int, len(f.archetypes))
		m.worlds[i] = f
	}
	return m
}

func (m *promisesModel) must(ok bool, format string, a ...any) {
	if !ok {
		m.t.Helper()
		m.t.Fatalf("step %d, %s: %s", m.step, m.what, fmt.Sprintf(format, a...))
	}
}

// try calls f and reports whether f succeeded. If promised is true, f must succeed.
func (m *promisesModel) try(promised bool, f func() error) bool {
	m.t.Helper()
	type state struct {
		used      int
		committed [2]int
		changes   [2]uint64
		lens      [2]int
	}
	look := func() (s state) {
		s.used = m.limit.Used()
		for i, f := range m.worlds {
			s.committed[i], s.changes[i], s.lens[i] = f.Stats().Committed, f.Changes(), f.Len()
		}
		return s
	}
	before := look()
	var err error
	if v := panicOf(func() { err = f() }); v != nil {
		err, _ = v.(error)
		m.must(err != nil, "panic: %v", v)
	}
	if err == nil {
		if promised && m.limit.Max() == before.used {
			m.redeemed++
		}
		return true
	}
	var e *vm.Error
	m.must(errors.As(err, &e) && (errors.Is(err, vm.ErrCapacity) || errors.Is(err, vm.ErrLimit)),
		"error %v, want ErrCapacity or ErrLimit", err)
	m.must(!promised, "a promised operation fails: %v", err)
	after := look()
	m.must(after == before, "a refused operation changed\n%+v to\n%+v\n%v", before, after, err)
	m.refusals++
	return false
}

func (m *promisesModel) run(stream []byte) {
	b := &byteStream{stream}
	for len(b.rest) > 0 {
		f := m.worlds[b.next()%2]
		m.apply(f, b)
		m.step++
	}
	m.what = "at the end"
	for _, f := range m.worlds {
		for a := range f.births {
			m.redeem(f, a)
		}
		f.checkInvariants()
	}
	for _, f := range m.worlds {
		m.must(f.Close() == nil, "Close fails")
	}
	m.must(m.limit.Used() == 0, "%d bytes are in use after all worlds were closed", m.limit.Used())
}

// redeem closes the limit and makes all promised births of archetype a.
func (m *promisesModel) redeem(f *promisesWorld, a int) {
	m.limit.SetMax(m.limit.Used())
	m.born(f, a, f.births[a])
}

func (m *promisesModel) born(f *promisesWorld, a, n int) {
	m.what = fmt.Sprintf("%d births of archetype %d of %s", n, a, f.Options().Name)
	var es []Entity
	if !m.try(n <= f.births[a], func() error {
		f.archetypes[a].NewN(n, func(r Run) {
			for i := range r.Len() {
				es = append(es, r.Entity(i))
			}
		})
		return nil
	}) {
		return
	}
	m.must(len(es) == n, "%d entities are born", len(es))
	f.alive = append(f.alive, es...)
	f.births[a] = max(0, f.births[a]-n)
}

func (m *promisesModel) apply(f *promisesWorld, b *byteStream) {
	a, n := b.next()%len(f.archetypes), b.next()*b.next()/128
	c := a % 2
	column := f.sparse[c]
	switch op := b.next() % 32; op {
	case 0, 1:
		m.limit.SetMax(m.limit.Used() + b.next()*b.next()*16)
	case 2:
		m.limit.SetMax(m.limit.Used())
	case 3:
		m.limit.SetMax(1 << 30)
	case 4, 5, 6, 7:
		m.what = fmt.Sprintf("Grow(%d) of archetype %d", n, a)
		if m.try(n <= f.births[a], func() error { return f.archetypes[a].Grow(n) }) {
			f.births[a] = max(f.births[a], n)
		}
	case 8, 9, 10, 11:
		m.born(f, a, n)
	case 12:
		m.what = fmt.Sprintf("New of archetype %d", a)
		if m.try(f.births[a] > 0, func() error {
			f.alive = append(f.alive,
				f.archetypes[a].New())
			return nil
		}) {
			f.births[a] = max(0, f.births[a]-1)
		}
	case 13, 14:
		m.redeem(f, a)
	case 15:
		m.what = fmt.Sprintf("Grow(%d) of sparse column %d", n, c)
		if m.try(false, func() error { return column.Grow(n) }) {
			f.additions[c] = max(f.additions[c], n)
			f.reach[c] = int(f.size)
		}
	case 16:
		m.what = "Grow of the dense column"
		if m.try(false, func() error { return f.dense.Grow(1) }) {
			f.reach[2] = int(f.size)
		}
	case 17, 18, 19:
		m.what = fmt.Sprintf("additions to sparse column %d", c)
		for _, e := range f.some(b) {
			had := column.Has(e)
			promised := had || f.additions[c] > 0 && int(e.Slot()) < f.reach[c]
			if m.try(promised, func() error { column.Add(e, kilobyte{}); return nil }) && !had {
				f.additions[c] = max(0, f.additions[c]-1)
			}
		}
	case 20:
		m.what = "additions to the dense column"
		for _, e := range f.some(b) {
			m.try(f.dense.Has(e) || int(e.Slot()) < f.reach[2],
				func() error { f.dense.Add(e, [100]byte{}); return nil })
		}
	case 21:
		es := f.some(b)
		m.addMany(f, c, es, "AddAll", func(q Query) { column.AddAll(q, kilobyte{}) })
	case 22:
		es := f.some(b)
		m.addMany(f, c, es, "Exchange", func(q Query) {
			f.Exchange(q, []AnyColumn{column},
				[]AnyColumn{f.heap})
		})
	case 23:
		for _, e := range f.some(b) {
			column.Remove(e)
		}
	case 24:
		m.deleteSome(f, b)
	case 25:
		m.applyLinks(f, b)
	case 26:
		m.what = "Trim"
		m.must(f.Trim() == nil, "Trim fails")
		f.additions, f.reach, f.edges, f.links = [2]int{}, [3]int{}, 0, 0
	case 27:
		if b.next()%8 == 0 {
			m.what = "Reset"
			f.Reset()
			clear(f.births)
			f.alive = nil
		}
	case 28:
		m.what = "commands"
		cs := NewCommands(f.World, CommandsOptions{})
		defer cs.Close()
		if m.try(false, func() error { return cs.GrowBytes(16 * n) }) && n > 0 {
			m.limit.SetMax(m.limit.Used())
			for range n {
				m.try(true, func() error { cs.New(f.archetypes[a]); return nil })
			}
		}
	case 29:
		m.applyTracker(f, b)
	}
	if m.step%64 == 0 {
		f.checkInvariants()
	}
}

func (f *promisesWorld) some(b *byteStream) (es []Entity) {
	if len(f.alive) > 0 {
		at := b.next16() % len(f.alive)
		es = append(es, f.alive[at:min(len(f.alive), at+b.next()%64)]...)
	}
	return es
}

func (m *promisesModel) addMany(f *promisesWorld, c int, es []Entity, what string, add func(Query)) {
	m.what = fmt.Sprintf("%s of sparse column %d", what, c)
	missing, covered := 0, true
	for _, e := range es {
		if !f.sparse[c].Has(e) {
			missing++
		}
		covered = covered && int(e.Slot()) < f.reach[c]
	}
	promised := missing == 0 && covered || missing <= f.additions[c] && covered
	if m.try(promised, func() error { add(f.Query().Among(es)); return nil }) {
		f.additions[c] = max(0, f.additions[c]-missing)
	}
}

// deleteSome deletes some entities. A deletion can end the promise of births in the entity's archetype, so
// the model then expects no promise.
func (m *promisesModel) deleteSome(f *promisesWorld, b *byteStream) {
	m.what = "deletions"
	for _, e := range f.some(b) {
		for a, archetype := range f.archetypes {
			if f.extents[f.owner(e.slot/64).extent].archetype == archetype {
				f.births[a] = 0
			}
		}
		m.must(f.Delete(e), "%v was dead", e)
	}
	f.alive = slices.DeleteFunc(f.alive, func(e Entity) bool { return !f.Alive(e) })
}

func (m *promisesModel) applyLinks(f *promisesWorld, b *byteStream) {
	es := f.some(b)
	switch n := b.next(); n % 4 {
	case 0:
		m.what = "Grow of edges"
		if m.try(false, func() error { return f.roads.Grow(n) }) {
			f.edges, f.edgesReach = max(f.edges, n), int(f.size)
		}
	case 1:
		m.what = "edges"
		for i := 1; i < len(es); i++ {
			had := f.roads.Has(es[0], es[i])
			promised := had || f.edges > 0 && int(max(es[0].Slot(), es[i].Slot())) < f.edgesReach
			if m.try(promised, func() error { f.roads.Add(es[0], es[i], 1); return nil }) && !had {
				f.edges = max(0, f.edges-1)
			}
		}
	case 2:
		m.what = "Grow of a relation"
		if m.try(false, func() error { return f.child.GrowLevels(2) }) {
			f.links = int(f.size)
		}
	case 3:
		m.what = "links"
		for i := 1; i < len(es); i++ {
			if f.child.Has(es[0]) || f.child.CountSources(es[i]) > 0 {
				continue // GrowLevels(2) promises no third level
			}
			promised := int(max(es[0].Slot(), es[i].Slot())) < f.links
			m.try(promised, func() error { f.child.Set(es[i], es[0]); return nil })
		}
		if len(es) > 1 {
			q := f.Query().Among(es[1:]).Without(f.child.TargetColumn())
			m.try(false, func() error { f.child.SetAll(q, es[0]); return nil })
		}
	}
}

func (m *promisesModel) applyTracker(f *promisesWorld, b *byteStream) {
	m.what = "trackers"
	if len(f.trackers) > 2 {
		f.trackers[0].Close()
		f.trackers = f.trackers[1:]
	}
	// A tracker needs memory for each slot of its columns. No promise covers this memory.
	m.try(false, func() error {
		f.trackers = append(f.trackers, NewTracker(f.World, f.sparse[b.next()%2], f.dense))
		return nil
	})
}

func TestPromises(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	bytes, streams := longtest.Pick(6_000, 20_000), longtest.Pick(1, 4)
	for i := range streams {
		m := newPromisesModel(t)
		m.run(randomStream(rand.New(rand.NewPCG(seed, uint64(i))), bytes))
		t.Logf("%d steps, %d refusals, %d promises kept under a closed limit", m.step,
			m.refusals, m.redeemed)
		if m.refusals == 0 || m.redeemed == 0 {
			t.Error("the test refused no operation, or kept no promise under a closed limit")
		}
	}
}

func FuzzPromises(f *testing.F) {
	for i := range uint64(4) {
		f.Add(randomStream(rand.New(rand.NewPCG(5, i)), 400))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		newPromisesModel(t).run(stream[:min(len(stream), 2000)])
	})
}
