package vast

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/vm"
)

// A stream of bytes drives one world in which everything meets: columns of all storages, hooks, relations, edges, trackers,
// commands, all forms of queries, bulk operations over them, Trim, Reset and limits. A model of plain maps must agree after
// every step. The world model has more columns and fewer kinds of things.

type combinedOptions struct {
	slots   int
	pages   vm.Pages
	storage probing.Storage // of two columns
	hooks   bool
	roads   OnDelete
	limit   *vm.Limit // nil for none
	faults  bool      // whether a memory call may be made to fail
}

type combinedEntity struct {
	archetype int
	values    map[int]uint64
}

type combinedModel struct {
	t          testing.TB
	options    combinedOptions
	world      *World
	columns    []AnyColumn // all that queries may name
	values     []combinedColumn
	relations  []*relationModel
	roads      *combinedEdges
	archetypes []*Archetype
	trackers   []*combinedTracker // nil where there is none
	buffers    []*combinedBuffer
	hog        *vm.Region // what else takes of the limit

	entities map[Entity]*combinedEntity
	order    []Entity // the living, in an order that depends on the stream only
	stale    []Entity
	told     map[int]map[Entity]bool // what hooks know to have a component, by column

	step, refusals, opened int
	fault                  error // of the call that was made to fail
	meddled                int   // calls of callbacks
	applied, resumed       int   // commands that were applied, and Applies that ended early
	operation              string
	transcript             io.Writer
}

func newCombinedModel(t testing.TB, o combinedOptions, transcript io.Writer) *combinedModel {
	m := &combinedModel{t: t, options: o, transcript: transcript}
	if o.limit != nil {
		r, err := vm.Reserve(o.limit.Max(), vm.Options{Name: "hog", Limit: o.limit})
		if err != nil {
			t.Fatal(err)
		}
		m.hog = r
		t.Cleanup(func() { r.Close() })
	}
	m.open()
	return m
}

func (m *combinedModel) open() {
	m.world = NewWorld(Options{MaxEntities: m.options.slots, Pages: m.options.pages, Limit: m.options.limit})
	w := m.world
	m.values = combinedColumns(m, m.options.storage)
	m.columns, m.relations, m.archetypes = nil, nil, nil
	for _, c := range m.values {
		m.columns = append(m.columns, c.AnyColumn)
	}
	needs := RelationOptions{OnDelete: Refuse}
	if m.options.roads == Refuse {
		needs.OnDelete = Orphan // a hierarchy whose parts live on
	}
	for i, o := range []RelationOptions{{OnDelete: Cascade}, {OnDelete: Orphan, Cyclic: true}, needs} {
		r := made(m, func() Relation { return NewRelation(w, []string{"childOf", "aims", "needs"}[i], o) })
		m.relations = append(m.relations, &relationModel{r, o, map[Entity]Entity{}, map[Entity][]Entity{}})
		m.columns = append(m.columns, r, r.TargetColumn())
	}
	roads := made(m, func() Edges[uint64] {
		return NewEdges[uint64](w, "roads", EdgesOptions{OnDelete: m.options.roads, Capacity: 300})
	})
	m.roads = &combinedEdges{roads, m.options.roads, map[Entity][]Entity{}, map[Entity][]Entity{}, map[[2]Entity]uint64{}}
	m.columns = append(m.columns, roads, roads.TargetColumn())
	for _, set := range combinedSets {
		m.archetypes = append(m.archetypes, made(m, func() *Archetype { return w.Archetype(m.chosen(set)...) }))
	}
	m.trackers = make([]*combinedTracker, 2)
	m.buffers = []*combinedBuffer{{Commands: NewCommands(w, CommandsOptions{})}, {Commands: NewCommands(w, CommandsOptions{Bytes: 1 << 16})}}
	m.entities, m.order, m.told = map[Entity]*combinedEntity{}, nil, map[int]map[Entity]bool{}
	if m.options.hooks {
		m.hookAll()
	}
}

// hookAll registers hooks that must be told of each gain and of each loss once.
func (m *combinedModel) hookAll() {
	hooks := func(i int, has func(Entity) bool) (add, remove func(Entity)) {
		told := map[Entity]bool{}
		m.told[i] = told
		return func(e Entity) {
				m.must(!told[e] && has(e), "OnAdd of %s is told of %v, which it knew: %v", m.columns[i].Name(), e, told[e])
				told[e] = true
				m.meddle()
			}, func(e Entity) {
				m.must(told[e] && has(e), "OnRemove of %s is told of %v, which it knew: %v", m.columns[i].Name(), e, told[e])
				delete(told, e)
				m.meddle()
			}
	}
	for _, i := range []int{1, 2, 3, 5} {
		c := m.values[i]
		c.hook(hooks(i, func(e Entity) bool { _, has := c.get(e); return has }))
	}
	for i, r := range m.relations[:2] {
		add, remove := hooks(combinedLinks+2*i, r.Has)
		r.OnAdd(func(source, target Entity) {
			t, has := r.Target(source)
			m.must(has && t == target, "OnAdd of %s: %v → %v", r.Name(), source, target)
			add(source)
		})
		r.OnRemove(func(source, target Entity) {
			t, has := r.Target(source)
			m.must(has && t == target && m.world.Alive(target), "OnRemove of %s: %v → %v", r.Name(), source, target)
			remove(source)
		})
	}
}

func (m *combinedModel) chosen(set []int) []AnyColumn {
	var cols []AnyColumn
	for _, i := range set {
		cols = append(cols, m.columns[i])
	}
	return cols
}

func (m *combinedModel) must(ok bool, format string, a ...any) {
	if !ok {
		m.t.Helper()
		m.t.Fatalf("step %d, %s: %s", m.step, m.operation, fmt.Sprintf(format, a...))
	}
}

func (m *combinedModel) note(a ...any) { fmt.Fprintln(m.transcript, a...) }

// has reports whether an entity should have a component.
func (m *combinedModel) has(e Entity, col int) bool {
	v := m.entities[e]
	if v == nil {
		return false
	}
	switch {
	case col < combinedValues:
		_, ok := v.values[col]
		return ok
	case col == combinedRoads:
		return len(m.roads.out[e]) > 0
	case col == combinedRoads+1:
		return len(m.roads.in[e]) > 0
	case (col-combinedLinks)%2 == 0:
		_, ok := m.relations[(col-combinedLinks)/2].target[e]
		return ok
	}
	return len(m.relations[(col-combinedLinks)/2].sources[e]) > 0
}

// put writes a component of the model, and notes that it was written.
func (m *combinedModel) put(e Entity, col int, v uint64) {
	m.entities[e].values[col] = m.values[col].cut(v)
	m.wrote(col, e)
}

func (m *combinedModel) born(e Entity, archetype int) {
	m.must(m.entities[e] == nil && !slices.Contains(m.stale, e) && int(e.Slot()) < (m.options.slots+63)&^63, "%v is no new entity", e)
	m.entities[e] = &combinedEntity{archetype, map[int]uint64{}}
	m.order = append(m.order, e)
	for _, i := range combinedSets[archetype] {
		m.put(e, i, 0)
	}
	m.note("born", e.Slot(), e.Generation())
}

// any chooses an entity: mostly a living one, sometimes one that is no more.
func (m *combinedModel) any(b *byteStream) Entity {
	v := b.next16()
	switch {
	case len(m.stale) > 0 && v%37 == 0:
		return m.stale[v/37%len(m.stale)]
	case len(m.order) > 0:
		return m.order[v%len(m.order)]
	}
	return Entity{}
}

// try runs what may be refused for want of memory or slots, and reports whether it was not. A refusal changes nothing. What a
// failing call has refused is done by running it again.
func (m *combinedModel) try(f func()) bool {
	changes := m.world.changes
	for {
		v := panicOf(f)
		if v == nil {
			return true
		}
		err, _ := v.(error)
		failed := m.failing(err)
		m.must(failed || errors.As(err, new(*vm.Error)), "panic: %v", v)
		m.must(failed || errors.Is(err, vm.ErrCapacity) || m.options.limit != nil && errors.Is(err, vm.ErrLimit), "%v", err)
		m.must(m.world.changes == changes && m.world.Len() == len(m.order), "a refusal changed the world: %v", err)
		if failed {
			m.checkAll()
			continue
		}
		m.refusals++
		m.note("refused")
		if m.refusals%16 == 0 {
			m.checkAll()
		}
		return false
	}
}

// made registers something with the world, again where a call was made to fail.
func made[T any](m *combinedModel, register func() T) (v T) {
	m.done("registering", func() error {
		failure := panicOf(func() { v = register() })
		err, _ := failure.(error)
		m.must(failure == nil || err != nil, "%v", failure)
		return err
	})
	return v
}

// failing reports whether an error is that of the call which was made to fail.
func (m *combinedModel) failing(err error) bool {
	if !m.options.faults || !errors.Is(err, faulttest.Err) {
		return false
	}
	m.must(errors.As(err, new(*vm.Error)), "%v is no *vm.Error", err)
	m.must(m.fault == nil, "%v, after one call was made to fail already: %v", err, m.fault)
	m.fault = err
	return true
}

// done runs what gives memory back, again where a call was made to fail.
func (m *combinedModel) done(what string, f func() error) {
	err := f()
	if m.failing(err) {
		m.world.checkInvariants()
		err = f()
	}
	m.must(err == nil, "%s: %v", what, err)
}

func (m *combinedModel) run(stream []byte) {
	b := &byteStream{stream}
	for len(b.rest) > 0 {
		m.apply(b)
		m.step++
		m.opened++
		m.checkSome()
	}
	m.operation = "at the end"
	m.checkAll()
	m.close()
}

func (m *combinedModel) close() {
	w := m.world
	if m.step%2 == 0 {
		m.trackers[0] = nil // whether one is closed before makes no difference
	} else if m.trackers[0] != nil {
		m.trackers[0].Close()
	}
	for range 2 {
		m.done("Close", w.Close)
	}
	m.must(w.Len() == 0 && w.Stats().Committed == 0, "a closed world holds something")
	for i, told := range m.told {
		m.must(len(told) == 0, "hooks of %s were not told of %d losses", m.columns[i].Name(), len(told))
	}
	if m.hog != nil {
		m.must(m.options.limit.Used() == m.hog.Committed(), "a closed world counts %d bytes", m.options.limit.Used()-m.hog.Committed())
	}
	for _, e := range m.order[:min(len(m.order), 20)] {
		r := m.relations[0]
		_, has := r.Target(e)
		m.must(!w.Alive(e) && !w.Delete(e) && !has && r.CountSources(e) == 0 && m.roads.CountTargets(e) == 0, "%v lives", e)
	}
	m.stale = slices.Clone(m.order[:min(len(m.order), 50)])
}

func combinedDigest(t testing.TB, o combinedOptions, stream []byte) (sum uint64, m *combinedModel) {
	h := fnv.New64a()
	m = newCombinedModel(t, o, h)
	m.run(stream)
	return h.Sum64(), m
}

// combinedBytes is how long a stream of the tests is; with more streams, see TestCombinedModelLong.
func combinedBytes(n int) int {
	if testing.Short() || raceEnabled {
		return n / 5
	}
	return n
}

func TestCombinedModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i, slots := range []int{64, 320, 1024} {
		stream := randomStream(rand.New(rand.NewPCG(seed, uint64(i))), combinedBytes(40_000))
		_, m := combinedDigest(t, combinedOptions{slots: slots, hooks: i > 0, roads: OnDelete(i)}, stream)
		t.Logf("%d slots: %d steps, %d refusals, %d commands, %d resumed", slots, m.step, m.refusals, m.applied, m.resumed)
	}
}

// TestCombinedModelAlike runs one stream with every kind of pages and in every storage: the answers are the same.
func TestCombinedModelAlike(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	stream := randomStream(rand.New(rand.NewPCG(seed, 1)), combinedBytes(15_000))
	var first uint64
	for i, o := range []combinedOptions{{}, {pages: vm.PagesSmall, storage: probing.StorageSparse}, {pages: vm.PagesHuge, storage: probing.StorageHeap},
		{pages: vm.PagesHeap, storage: probing.StorageSparse}} {
		o.slots, o.hooks = 704, i%2 == 0
		sum, _ := combinedDigest(t, o, stream)
		if i == 0 {
			first = sum
		}
		if sum != first {
			t.Errorf("%+v: the answers differ from those of the first", o)
		}
	}
}

// TestCombinedModelLimit squeezes the memory that a world may take: what is refused changes nothing.
func TestCombinedModelLimit(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	least := 4
	if vm.HeapStandIn() {
		least = 0 // all memory is taken at once
	}
	// Some streams never squeeze where memory is taken: others follow until enough was refused.
	refusals, streams := 0, uint64(0)
	for ; streams < 4 || refusals < least && streams < 40; streams++ {
		o := combinedOptions{slots: 1 << 13, pages: vm.PagesSmall, hooks: streams%2 == 0,
			storage: []probing.Storage{probing.StorageDense, probing.StorageSparse}[streams/2%2], limit: vm.NewLimit(64 << 20)}
		_, m := combinedDigest(t, o, randomStream(rand.New(rand.NewPCG(seed, streams)), combinedBytes(15_000)))
		refusals += m.refusals + m.resumed
	}
	t.Logf("%d refusals in %d streams", refusals, streams)
	if refusals < least {
		t.Error("too little was refused: the test does not reach what it should")
	}
}

// combinedOf64 spreads the bits of a byte over the options.
func combinedOf64(v byte) combinedOptions {
	o := combinedOptions{slots: 64 << (v % 4 * 2), pages: vm.Pages(v / 64), hooks: v&4 != 0, storage: probing.StorageDense, roads: OnDelete(v % 3)}
	if v&8 != 0 {
		o.storage = probing.StorageSparse
	}
	if v&16 != 0 && o.pages != vm.PagesHeap {
		o.limit = vm.NewLimit(64 << 20)
	}
	return o
}

// TestCombinedModelLong runs many random streams in the long form, or as many as VAST_STREAMS asks for.
func TestCombinedModelLong(t *testing.T) {
	streams := longtest.Pick(0, 200)
	if n, err := strconv.Atoi(os.Getenv("VAST_STREAMS")); err == nil {
		streams = n
	}
	if streams == 0 {
		t.Skip("only the long form runs it: VAST_LONG=1, or VAST_STREAMS with the number of streams")
	}
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("VAST_SEED"), 10, 64); err == nil {
		seed = s
	}
	steps, refusals, commands := 0, 0, 0
	for i := range uint64(streams) {
		r := rand.New(rand.NewPCG(seed+i, 0))
		v, n := byte(r.Uint64()), 1000+r.IntN(9000)
		t.Run(fmt.Sprintf("%d", seed+i), func(t *testing.T) {
			m := newCombinedModel(t, combinedOf64(v), io.Discard)
			m.run(randomStream(r, n))
			steps += m.step
			refusals += m.refusals + m.resumed
			commands += m.applied
		})
		if t.Failed() {
			break
		}
	}
	t.Logf("seed %d: %d streams, %d steps, %d refusals, %d commands", seed, streams, steps, refusals, commands)
}

// FuzzCombined decodes its input as TestCombinedModel does. The first byte chooses the options.
func FuzzCombined(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		f.Add(randomStream(r, 400))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		if len(stream) < 2 {
			return
		}
		m := newCombinedModel(t, combinedOf64(stream[0]), io.Discard)
		m.run(stream[1:min(len(stream), 1<<13)])
	})
}
