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

// The combined model decodes a stream of bytes into operations on one world. The world has columns of all
// storages, columns of type Disabled, hooks, relations, edges, trackers, groups and commands. The operations
// include all forms of queries, bulk operations, Trim, Reset and limits. After each step the world must equal
// a model of plain maps. The model in world_model_test.go has more columns and fewer kinds of operations.

type combinedOptions struct {
	slots   int
	pages   vm.Pages
	storage probing.Storage // storage of the columns "number" and "wide"
	hooks   bool            // whether the world has hooks
	roads   OnDelete        // rule of the edges
	limit   *vm.Limit       // nil for no limit
	faults  bool            // whether one call for memory fails
}

type combinedEntity struct {
	archetype *Archetype
	values    map[int]uint64
	tags      map[int]bool // tags of Disabled, by column
}

type combinedModel struct {
	t          testing.TB
	options    combinedOptions
	world      *World
	columns    []AnyColumn // all columns, by number
	values     []combinedColumn
	relations  []*relationModel
	roads      *combinedEdges
	switches   []Disabled
	lifted     bool // whether the method matching sees components that a Disabled switches off
	archetypes []*Archetype
	trackers   []*combinedTracker // nil where there is no tracker
	groups     []*combinedGroup   // nil where there is no group
	buffers    []*combinedBuffer
	hog        *vm.Region // uses memory of the limit, so that less is left for the world

	entities map[Entity]*combinedEntity
	order    []Entity // the living entities, in an order that depends only on the stream
	stale    []Entity
	told     map[int]map[Entity]bool // by column, the entities that have the component according to hooks

	step       int           // number of operations
	refusals   int           // number of refused operations
	opened     int           // number of operations since the world was made
	fault      error         // error of the injected failure, or nil
	moved      []movedEntity // moves that the current operation reported to OnMove
	callbacks  int           // number of calls of hooks, fill functions and the callback of OnMove
	applied    int           // number of applied commands
	resumed    int           // number of calls of Apply that ended early
	operation  string
	transcript io.Writer
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
		needs.OnDelete = Orphan // an acyclic relation whose sources survive their target
	}
	for i, o := range []RelationOptions{{OnDelete: Cascade}, {OnDelete: Orphan, Cyclic: true}, needs} {
		r := made(m, func() Relation { return NewRelation(w, []string{"childOf", "aims", "needs"}[i], o) })
		m.relations = append(m.relations, &relationModel{r, o, map[Entity]Entity{}, map[Entity][]Entity{}})
		m.columns = append(m.columns, r, r.TargetColumn())
	}
	roads := made(m, func() Edges[uint64] {
		return NewEdges[uint64](w, "roads", EdgesOptions{OnDelete: m.options.roads, Capacity: 300})
	})
	m.roads = &combinedEdges{roads, m.options.roads, map[Entity][]Entity{}, map[Entity][]Entity{},
		map[[2]Entity]uint64{}}
	m.columns = append(m.columns, roads, roads.TargetColumn())
	m.makeSwitches()
	for _, set := range combinedSets {
		m.archetypes = append(m.archetypes,
			made(m, func() *Archetype { return w.Archetype(m.chosen(set)...) }))
	}
	m.trackers = make([]*combinedTracker, 2)
	m.groups = make([]*combinedGroup, 3)
	m.buffers = []*combinedBuffer{{Commands: NewCommands(w, CommandsOptions{})},
		{Commands: NewCommands(w, CommandsOptions{Bytes: 1 << 16})}}
	m.entities, m.order, m.told = map[Entity]*combinedEntity{}, nil, map[int]map[Entity]bool{}
	w.OnMove(func(old, now Entity) {
		m.moved = append(m.moved, movedEntity{old, now})
		m.useFromCallback()
	})
	if m.options.hooks {
		m.hookAll()
	}
}

// hookAll registers hooks that check that each gain and each loss of a component calls a hook exactly once.
func (m *combinedModel) hookAll() {
	hooks := func(i int, has func(Entity) bool) (add, remove func(Entity)) {
		told := map[Entity]bool{}
		m.told[i] = told
		return func(e Entity) {
				m.must(!told[e] && has(e),
					"OnAdd of %s is called for %v; called before: %v, component exists: %v",
					m.columns[i].Name(), e, told[e], has(e))
				told[e] = true
				m.useFromCallback()
			}, func(e Entity) {
				m.must(told[e] && has(e),
					"OnRemove of %s is called for %v; OnAdd called: %v, component exists: %v",
					m.columns[i].Name(), e, told[e], has(e))
				delete(told, e)
				m.useFromCallback()
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
			m.must(has && t == target, "OnAdd of %s is called for %v → %v, the target is %v", r.Name(),
				source, target, t)
			add(source)
		})
		r.OnRemove(func(source, target Entity) {
			t, has := r.Target(source)
			m.must(has && t == target && m.world.Alive(target),
				"OnRemove of %s is called for %v → %v, the target is %v",
				r.Name(), source, target, t)
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

func (m *combinedModel) has(e Entity, col int) bool {
	v := m.entities[e]
	if v == nil {
		return false
	}
	switch {
	case col < combinedValues:
		_, ok := v.values[col]
		return ok
	case col >= combinedOff:
		return v.tags[col]
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

// put writes a component in the model and records the write for trackers.
func (m *combinedModel) put(e Entity, col int, v uint64) {
	m.entities[e].values[col] = m.values[col].cut(v)
	m.wrote(col, e)
}

func (m *combinedModel) born(e Entity, archetype int) {
	m.must(m.entities[e] == nil && !slices.Contains(m.stale, e) && int(e.Slot()) < (m.options.slots+63)&^63,
		"%v is not a new entity", e)
	m.entities[e] = &combinedEntity{m.archetypes[archetype], map[int]uint64{}, map[int]bool{}}
	m.order = append(m.order, e)
	for _, i := range combinedSets[archetype] {
		if i >= combinedOff {
			m.toggle(e, i, true)
			continue
		}
		m.put(e, i, 0)
	}
	m.note("born", e.Slot(), e.Generation())
}

// any usually chooses a living entity, and sometimes a stale entity.
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

// try runs an operation that may run out of memory or slots, and reports whether the operation succeeded. A
// refused operation must change nothing. If the injected failure refused the operation, try runs it again.
func (m *combinedModel) try(f func()) bool {
	changes := m.world.changes
	for {
		v := panicOf(f)
		if v == nil {
			return true
		}
		err, _ := v.(error)
		injected := m.failing(err)
		m.must(injected || errors.As(err, new(*vm.Error)), "panic: %v", v)
		atLimit := m.options.limit != nil && errors.Is(err, vm.ErrLimit)
		m.must(injected || atLimit || errors.Is(err, vm.ErrCapacity), "unexpected error: %v", err)
		m.must(m.world.changes == changes && m.world.Len() == len(m.order), "a refusal changed the world: %v",
			err)
		if injected {
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

// made calls register, and calls it a second time if the injected failure refused the first call.
func made[T any](m *combinedModel, register func() T) (v T) {
	m.done("registering", func() error {
		failure := panicOf(func() { v = register() })
		err, _ := failure.(error)
		m.must(failure == nil || err != nil, "%v", failure)
		return err
	})
	return v
}

// failing reports whether err comes from the injected failure.
func (m *combinedModel) failing(err error) bool {
	if !m.options.faults || !errors.Is(err, faulttest.Err) {
		return false
	}
	m.must(errors.As(err, new(*vm.Error)), "%v is not a *vm.Error", err)
	m.must(m.fault == nil, "a second injected failure: %v, after %v", err, m.fault)
	m.fault = err
	return true
}

// done runs f, and runs it a second time if the injected failure refused the first run. f must succeed.
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
		m.trackers[0] = nil // closing the world closes the open tracker
	} else if m.trackers[0] != nil {
		m.trackers[0].Close()
	}
	for range 2 {
		m.done("Close", w.Close)
	}
	m.must(w.Len() == 0 && w.Stats().Committed == 0,
		"the closed world has %d entities and %d bytes committed", w.Len(), w.Stats().Committed)
	for i, told := range m.told {
		m.must(len(told) == 0, "OnRemove of %s was not called for %d entities", m.columns[i].Name(),
			len(told))
	}
	if m.hog != nil {
		left := m.options.limit.Used() - m.hog.Committed()
		m.must(left == 0, "%d bytes are still charged after the world is closed", left)
	}
	for _, e := range m.order[:min(len(m.order), 20)] {
		r := m.relations[0]
		_, has := r.Target(e)
		m.must(!w.Alive(e) && !w.Delete(e) && !has && r.CountSources(e) == 0 && m.roads.CountTargets(e) == 0,
			"%v outlives the closed world", e)
	}
	m.stale = slices.Clone(m.order[:min(len(m.order), 50)])
}

func combinedDigest(t testing.TB, o combinedOptions, stream []byte) (sum uint64, m *combinedModel) {
	h := fnv.New64a()
	m = newCombinedModel(t, o, h)
	m.run(stream)
	return h.Sum64(), m
}

// combinedBytes returns the length of a stream in bytes: n in the long form of a test, otherwise a fifth of
// n.
func combinedBytes(n int) int {
	if !longtest.Enabled() {
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
		t.Logf("%d slots: %d steps, %d refusals, %d commands, %d calls of Apply that ended early", slots,
			m.step, m.refusals, m.applied, m.resumed)
	}
}

// TestCombinedModelAlike runs one stream with different pages and storages, with and without hooks. The
// transcripts must be equal.
func TestCombinedModelAlike(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	stream := randomStream(rand.New(rand.NewPCG(seed, 1)), combinedBytes(15_000))
	var first uint64
	for i, o := range []combinedOptions{{}, {pages: vm.PagesSmall, storage: probing.StorageSparse},
		{pages: vm.PagesHuge, storage: probing.StorageHeap},
		{pages: vm.PagesHeap, storage: probing.StorageSparse}} {
		o.slots, o.hooks = 704, i%2 == 0
		sum, _ := combinedDigest(t, o, stream)
		if i == 0 {
			first = sum
		}
		if sum != first {
			t.Errorf("%+v: the transcript differs from the transcript of the first options", o)
		}
	}
}

// TestCombinedModelLimit varies the memory that the world may use. A refused operation must change nothing.
func TestCombinedModelLimit(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	least := 4
	if vm.HeapStandIn() {
		least = 0 // the heap stand-in takes the memory of a whole region when the region is made
	}
	// Not every stream runs out of memory.
	refusals, streams := 0, uint64(0)
	for ; streams < 4 || refusals < least && streams < 40; streams++ {
		o := combinedOptions{slots: 1 << 13, pages: vm.PagesSmall, hooks: streams%2 == 0,
			storage: []probing.Storage{probing.StorageDense, probing.StorageSparse}[streams/2%2],
			limit:   vm.NewLimit(64 << 20)}
		stream := randomStream(rand.New(rand.NewPCG(seed, streams)), combinedBytes(15_000))
		_, m := combinedDigest(t, o, stream)
		refusals += m.refusals + m.resumed
	}
	t.Logf("%d refusals in %d streams", refusals, streams)
	if refusals < least {
		t.Errorf("%d operations were refused, want at least %d", refusals, least)
	}
}

// combinedOptionsOf decodes options from the bits of a byte.
func combinedOptionsOf(v byte) combinedOptions {
	o := combinedOptions{slots: 64 << (v % 4 * 2), pages: vm.Pages(v / 64), hooks: v&4 != 0,
		storage: probing.StorageDense, roads: OnDelete(v % 3)}
	if v&8 != 0 {
		o.storage = probing.StorageSparse
	}
	if v&16 != 0 && o.pages != vm.PagesHeap {
		o.limit = vm.NewLimit(64 << 20)
	}
	return o
}

// TestCombinedModelLong runs 200 random streams under VAST_LONG=1, or the number of streams in VAST_STREAMS.
func TestCombinedModelLong(t *testing.T) {
	streams := longtest.Pick(0, 200)
	if n, err := strconv.Atoi(os.Getenv("VAST_STREAMS")); err == nil {
		streams = n
	}
	if streams == 0 {
		t.Skip("set VAST_LONG=1, or VAST_STREAMS to the number of streams")
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
			m := newCombinedModel(t, combinedOptionsOf(v), io.Discard)
			m.run(randomStream(r, n))
			steps += m.step
			refusals += m.refusals + m.resumed
			commands += m.applied
		})
		if t.Failed() {
			break
		}
	}
	t.Logf("seed %d: %d streams, %d steps, %d refusals, %d commands", seed, streams, steps, refusals,
		commands)
}

// FuzzCombined runs the combined model on its input. The first byte chooses the options.
func FuzzCombined(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		f.Add(randomStream(r, 400))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		if len(stream) < 2 {
			return
		}
		m := newCombinedModel(t, combinedOptionsOf(stream[0]), io.Discard)
		m.run(stream[1:min(len(stream), 1<<13)])
	})
}
