package vast

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// The tests in this file decode a stream of bytes into operations on a world and on a model of plain Go maps.
// The answers of the world must equal those of the model. The tests write the answers to a transcript, which
// must not depend on the kind of pages.

// modelColumn is a column whose elements are written and read as one number.
type modelColumn interface {
	untypedColumn
	cut(v uint64) uint64 // v, cut to the size of an element
	get(e Entity) (uint64, bool)
	add(e Entity, v uint64) bool
	set(e Entity, v uint64) bool
	addAll(q Query, v uint64) int
	setAll(q Query, v uint64) int
	put(e Entity, v uint64) bool // for a Column: writes through the pointer that Get returns
	read(r Run) []uint64         // for a Column: reads through Slice
	write(r Run, v func(i int) uint64)
	hook(add, remove func(Entity))
}

// untypedColumn has the methods of a column that do not depend on the element type.
type untypedColumn interface {
	AnyColumn
	Name() string
	Len() int
	Grow(n int) error
	Has(Entity) bool
	Remove(Entity) bool
	RemoveAll(q Query) int
}

// numbered embeds an interface and not the Column, because the compiler generates a wrapper for every method
// of an embedded type, and Column has many methods.
type numbered[T any] struct {
	untypedColumn
	typed Column[T]
	to    func(uint64) T
	from  func(T) uint64
}

func numberedOf[T any](c Column[T], to func(uint64) T, from func(T) uint64) numbered[T] {
	return numbered[T]{c, c, to, from}
}

func (c numbered[T]) cut(v uint64) uint64 { return c.from(c.to(v)) }

func (c numbered[T]) get(e Entity) (uint64, bool) {
	if p := c.typed.Get(e); p != nil {
		return c.from(*p), true
	}
	return 0, false
}

func (c numbered[T]) add(e Entity, v uint64) bool {
	p := c.typed.Add(e, c.to(v))
	return p != nil && c.from(*p) == c.cut(v) && p == c.typed.Get(e)
}

func (c numbered[T]) set(e Entity, v uint64) bool { return c.typed.Set(e, c.to(v)) }

func (c numbered[T]) addAll(q Query, v uint64) int { return c.typed.AddAll(q, c.to(v)) }

func (c numbered[T]) setAll(q Query, v uint64) int { return c.typed.SetAll(q, c.to(v)) }

func (c numbered[T]) put(e Entity, v uint64) bool {
	p := c.typed.Get(e)
	if p != nil {
		*p = c.to(v)
	}
	return p != nil
}

func (c numbered[T]) read(r Run) []uint64 {
	vs := []uint64{}
	for _, t := range c.typed.Slice(r) {
		vs = append(vs, c.from(t))
	}
	return vs
}

func (c numbered[T]) write(r Run, v func(i int) uint64) {
	s := c.typed.Slice(r)
	for i := range s {
		s[i] = c.to(v(i))
	}
}

// mixed is the number for an array whose elements differ.
const mixed = ^uint64(0) - 7

func newModelColumn(w *World, i int) modelColumn {
	name := fmt.Sprintf("c%d", i)
	switch i {
	case 5, 67:
		return numberedTag{NewTag(w, name)}
	case 20, 66:
		return newNumberedSparse(w, name)
	case 21, 65:
		return newNumberedHeap(w, name)
	}
	switch i % 6 {
	case 0:
		return numberedOf(NewColumn[uint64](w).Named(name), func(v uint64) uint64 { return v },
			func(t uint64) uint64 { return t })
	case 1:
		return numberedOf(NewColumn[[3]uint64](w).Named(name),
			func(v uint64) [3]uint64 { return [3]uint64{v, v, v} },
			func(t [3]uint64) uint64 {
				if t[0] != t[1] || t[0] != t[2] {
					return mixed
				}
				return t[0]
			})
	case 2:
		return numberedOf(NewColumn[struct{}](w).Named(name),
			func(uint64) struct{} { return struct{}{} },
			func(struct{}) uint64 { return 0 })
	case 3:
		return numberedOf(NewColumn[byte](w).Named(name), func(v uint64) byte { return byte(v) },
			func(t byte) uint64 { return uint64(t) })
	case 4:
		return numberedOf(NewColumn[[100]byte](w).Named(name),
			func(v uint64) (t [100]byte) {
				for i := range t {
					t[i] = byte(v)
				}
				return t
			},
			func(t [100]byte) uint64 {
				if slices.ContainsFunc(t[:], func(b byte) bool { return b != t[0] }) {
					return mixed
				}
				return uint64(t[0])
			})
	}
	return numberedOf(NewColumn[uint16](w).Named(name), func(v uint64) uint16 { return uint16(v) },
		func(t uint16) uint64 { return uint64(t) })
}

// modelColumns is greater than 64, so that some columns share a bit of owner.extra.
const modelColumns = 70

// modelSets are the columns of the archetypes. Columns 0 and 64, and columns 1 and 65, share a bit of
// owner.extra.
var modelSets = [][]int{{}, {0}, {1, 2}, {0, 64}, {65, 66}, {1, 65, 3}, {0, 1, 2, 3, 4, 5, 6, 7}, {69, 4}}

// hotColumns are chosen more often than other columns, so that entities, queries and archetypes have columns
// in common.
var hotColumns = []int{0, 1, 2, 3, 64, 65, 66, 67}

type modelEntity struct {
	archetype int
	values    map[int]uint64
}

type model struct {
	t           testing.TB
	options     Options
	world       *World
	columns     []modelColumn
	archetypes  []*Archetype
	entities    map[Entity]*modelEntity
	order       []Entity // the live entities, in an order that depends on the stream only
	stale       []Entity
	step        int
	operation   string
	transcript  io.Writer
	refusals    int
	capacity    int
	sinceOpened int
	forms       bool                    // whether queries get the conditions of moreForms
	told        map[int]map[Entity]bool // by column, the entities that have the component according to hooks
}

func newModel(t testing.TB, o Options, transcript io.Writer) *model {
	m := &model{t: t, options: o, transcript: transcript}
	m.open()
	return m
}

func (m *model) open() {
	m.world = NewWorld(m.options)
	m.columns, m.archetypes = nil, nil
	for i := range modelColumns {
		m.columns = append(m.columns, newModelColumn(m.world, i))
	}
	for _, set := range modelSets {
		m.archetypes = append(m.archetypes, m.world.Archetype(m.chosen(set)...))
	}
	m.hookAll()
	m.entities, m.order = map[Entity]*modelEntity{}, nil
	m.capacity = (m.options.MaxEntities + 63) &^ 63
}

func (m *model) chosen(set []int) []AnyColumn {
	var cols []AnyColumn
	for _, i := range set {
		cols = append(cols, m.columns[i])
	}
	return cols
}

func (m *model) fail(format string, a ...any) {
	m.t.Helper()
	m.t.Fatalf("step %d, %s: %s", m.step, m.operation, fmt.Sprintf(format, a...))
}

func (m *model) must(ok bool, format string, a ...any) {
	if !ok {
		m.t.Helper()
		m.fail(format, a...)
	}
}

func (m *model) note(a ...any) { fmt.Fprintln(m.transcript, a...) }

func (m *model) noteEntity(e Entity) { m.note("entity", e.Slot(), e.Generation()) }

// byteStream yields the bytes of a stream, and zeros after the end.
type byteStream struct{ rest []byte }

func (b *byteStream) next() int {
	if len(b.rest) == 0 {
		return 0
	}
	v := b.rest[0]
	b.rest = b.rest[1:]
	return int(v)
}

func (b *byteStream) next16() int { return b.next()<<8 | b.next() }

func (b *byteStream) column() int {
	if v := b.next(); v < 200 {
		return hotColumns[v%len(hotColumns)]
	} else {
		return v % modelColumns
	}
}

func (b *byteStream) set(most int) (set []int) {
	for range b.next() % (most + 1) {
		if i := b.column(); !slices.Contains(set, i) {
			set = append(set, i)
		}
	}
	return set
}

func (m *model) entity(b *byteStream) Entity {
	if len(m.order) == 0 {
		return Entity{}
	}
	return m.order[b.next16()%len(m.order)]
}

func (m *model) born(e Entity, archetype int) {
	m.must(m.entities[e] == nil, "New returned %v, which is alive already", e)
	m.must(!e.IsZero() && int(e.Slot()) < m.capacity, "%v is not an entity of this world", e)
	m.must(!slices.Contains(m.stale, e), "New returned %v, which was deleted before", e)
	v := &modelEntity{archetype: archetype, values: map[int]uint64{}}
	for _, i := range modelSets[archetype] {
		v.values[i] = 0
	}
	m.entities[e] = v
	m.order = append(m.order, e)
	m.noteEntity(e)
}

func (m *model) died(e Entity) {
	delete(m.entities, e)
	if len(m.stale) < 200 {
		m.stale = append(m.stale, e)
	} else {
		m.stale[m.step%len(m.stale)] = e
	}
}

func (m *model) removeDeadFromOrder() {
	m.order = slices.DeleteFunc(m.order, func(e Entity) bool { return m.entities[e] == nil })
}

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// mayRefuse runs f, which makes n entities of archetype a or room for n entities. f may fail only if slots
// are lacking, and a failure must change nothing.
func (m *model) mayRefuse(a, n int, f func() error) {
	changes, lens, slots := m.world.changes, m.lens(), m.world.size
	var err error
	if v := panicOf(func() { err = f() }); v != nil {
		err, _ = v.(error)
		m.must(err != nil, "panic: %v", v)
	}
	if err == nil {
		return
	}
	var e *vm.Error
	m.must(errors.As(err, &e) && errors.Is(err, vm.ErrCapacity), "%v", err)
	m.refusals++
	m.note("refused", n)
	m.must(m.world.changes == changes && slices.Equal(m.lens(), lens) && m.world.size == slots,
		"a refusal changed the world")
	if m.refusals%16 == 0 {
		m.checkAll()
	}
	others := 0
	for i, b := range m.archetypes {
		if i != a {
			others += int(b.words) * 64
		}
	}
	m.must(others+lens[a]+n > m.capacity, "a world of %d slots refused %d entities, but other archetypes "+
		"own only %d slots, and this archetype has %d entities",
		m.capacity, n, others, lens[a])
}

func (m *model) lens() (n []int) {
	for _, a := range m.archetypes {
		n = append(n, a.Len())
	}
	return n
}

func (m *model) run(stream []byte) {
	b := &byteStream{stream}
	for len(b.rest) > 0 {
		m.apply(b)
		m.step++
		m.sinceOpened++
	}
	m.operation = "at the end"
	m.checkAll()
	m.close()
}

func (m *model) close() {
	w := m.world
	order := m.order
	for range 2 {
		err := w.Close()
		m.must(err == nil, "%v", err)
	}
	m.must(w.Len() == 0 && w.Stats().Committed == 0, "a closed world has entities or memory: %+v", w.Stats())
	for i, has := range m.told {
		m.must(len(has) == 0, "OnRemove of column %d did not run for %d entities", i, len(has))
	}
	for _, e := range order[:min(len(order), 20)] {
		c := m.columns[hotColumns[int(e.Slot())%len(hotColumns)]]
		_, has := c.get(e)
		m.must(!w.Alive(e) && !c.Has(e) && !has && !c.set(e, 1) && !c.Remove(e) && !w.Delete(e),
			"a method of a closed world finds %v", e)
	}
	// Keep only the stale entities of the last world. Marks repeat after 255 worlds, so an entity of an older
	// world could be alive in a later world.
	m.stale = slices.Clone(order[:min(len(order), 50)])
}

func digest(t testing.TB, o Options, stream []byte) (sum string, m *model) {
	h := fnv.New64a()
	m = newModel(t, o, h)
	m.run(stream)
	return fmt.Sprintf("%x", h.Sum(nil)), m
}

func randomStream(r *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, r.Uint64())
	}
	return b[:n]
}

func TestWorldModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	bytes := longtest.Pick(30_000, 150_000)
	for _, slots := range []int{64, 640, 1 << 13} {
		t.Run(fmt.Sprintf("%d slots", slots), func(t *testing.T) {
			stream := randomStream(rand.New(rand.NewPCG(seed, uint64(slots))), bytes)
			_, m := digest(t, Options{MaxEntities: slots}, stream)
			t.Logf("%d steps, %d refusals", m.step, m.refusals)
			if m.refusals == 0 && slots < 1<<13 {
				t.Error("the world was never full: the test covers too little")
			}
		})
	}
}

func TestWorldModelPages(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	bytes := longtest.Pick(8_000, 30_000)
	stream := randomStream(rand.New(rand.NewPCG(seed, 1)), bytes)
	var first string
	for _, p := range []vm.Pages{vm.PagesAuto, vm.PagesSmall, vm.PagesHuge, vm.PagesHeap} {
		sum, _ := digest(t, Options{MaxEntities: 2048, Pages: p}, stream)
		if first == "" {
			first = sum
		}
		if sum != first {
			t.Errorf("the answers with pages %v differ from the answers with pages %v", p, vm.PagesAuto)
		}
	}
}
