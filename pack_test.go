package vast

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// holed is a world with numbered entities. Some entities were deleted.
type holed struct {
	*World
	number Column[uint64]
	ships  *Archetype
	left   []Entity // the entities that were not deleted, in the order of their numbers
}

// newHoled makes n entities and deletes the entities for whose number keep returns false.
func newHoled(n int, keep func(i int) bool) *holed {
	w := NewWorld(Options{MaxEntities: 1 << 16})
	h := &holed{World: w, number: NewColumn[uint64](w)}
	h.ships = w.Archetype(h.number)
	for i := range n {
		e := h.ships.New()
		*h.number.Get(e) = uint64(i)
		h.left = append(h.left, e)
	}
	for i := n - 1; i >= 0; i-- {
		if !keep(i) {
			w.Delete(h.left[i])
			h.left = slices.Delete(h.left, i, i+1)
		}
	}
	return h
}

func (h *holed) numbers() (ns []uint64) {
	for s := range h.Query(h.number).Slots() {
		ns = append(ns, *h.number.At(s))
	}
	return ns
}

func TestPackFillsHolesWithTheLastEntities(t *testing.T) {
	h := newHoled(8, func(i int) bool { return i != 1 && i != 3 && i != 4 })
	defer h.Close()
	changes := h.Changes()
	m := h.ships.Pack(MoveOptions{})
	// The entities in slots 5, 6 and 7 move to slots 1, 3 and 4.
	if got := h.numbers(); !slices.Equal(got, []uint64{0, 5, 2, 6, 7}) {
		t.Errorf("the entities lie in the order %v", got)
	}
	if m.Len() != 3 || h.Changes() != changes+3 {
		t.Errorf("%d entities moved in %d changes, want 3 in 3", m.Len(), h.Changes()-changes)
	}
	for i, e := range h.left {
		now := m.Resolve(e)
		number := []uint64{0, 2, 5, 6, 7}[i]
		if moved := i >= 2; moved == h.Alive(e) || moved == (now == e) || *h.number.Get(now) != number {
			t.Errorf("entity %v is %v now", e, now)
		}
		if m.Resolve(now) != now {
			t.Errorf("the new reference %v resolves to %v", now, m.Resolve(now))
		}
	}
	var olds []Entity
	for old, now := range m.All() {
		if olds = append(olds, old); m.Resolve(old) != now {
			t.Errorf("%v resolves to %v, not to %v", old, m.Resolve(old), now)
		}
	}
	if !slices.Equal(olds, h.left[2:]) {
		t.Errorf("All yields %v", olds)
	}
	for range m.All() {
		break
	}
	none := Moves{}
	if e := (Entity{}); m.Resolve(e) != e || none.Resolve(h.left[0]) != h.left[0] || none.Len() != 0 {
		t.Error("an entity that was not moved does not resolve to itself")
	}
	if again := h.ships.Pack(MoveOptions{}); again.Len() != 0 || h.Changes() != changes+3 {
		t.Errorf("a second Pack moves %d entities", again.Len())
	}
	h.checkInvariants()
}

func TestPackOfAnEmptyArchetype(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	a := w.Archetype(NewColumn[uint32](w))
	if m := a.Pack(MoveOptions{}); m.Len() != 0 {
		t.Error("entities moved in an archetype that never had an entity")
	}
	w.Delete(a.New())
	if m := a.Pack(MoveOptions{}); m.Len() != 0 {
		t.Error("entities moved in an empty archetype")
	}
	a.New()
	w.checkInvariants()
}

// TestPackWithManyColumns: columns c6 and c70 share a bit of owner.extra. The packed entities have c70.
// Column c6 has no memory.
func TestPackWithManyColumns(t *testing.T) {
	h := newHoled(100, func(i int) bool { return i%2 == 0 })
	defer h.Close()
	var columns []Column[uint32]
	for i := range 130 {
		columns = append(columns, NewColumn[uint32](h.World).Named(fmt.Sprint("c", i)))
	}
	for i, e := range h.left {
		columns[70].Add(e, uint32(i))
	}
	m := h.ships.Pack(MoveOptions{})
	for i, e := range h.left {
		if v := columns[70].Get(m.Resolve(e)); v == nil || *v != uint32(i) {
			t.Errorf("entity %d has the value %v", i, v)
		}
	}
	if m = h.Regroup(h.Query(), MoveOptions{}); m.Len() != len(h.left) {
		t.Errorf("Regroup moves %d of %d entities that gained a component", m.Len(), len(h.left))
	}
	h.checkInvariants()
}

func TestPackMakesRunsLong(t *testing.T) {
	h := newHoled(10_000, func(i int) bool { return i%10 == 3 })
	defer h.Close()
	before := h.Stats().Archetypes[0]
	if before.Runs != 1000 || !before.PackPays(1000) || before.PackPays(1) {
		t.Errorf("%d runs before; packing pays for 1,000 walks: %v, for one: %v", before.Runs,
			before.PackPays(1000), before.PackPays(1))
	}
	h.ships.Pack(MoveOptions{})
	after := h.Stats().Archetypes[0]
	if after.Runs != 1 || after.Entities != 1000 || after.Slots != 1024 || after.PackPays(1<<30) {
		t.Errorf("after Pack: %+v, packing pays: %v", after, after.PackPays(1<<30))
	}
	h.checkInvariants()
}

func TestPackInSteps(t *testing.T) {
	keep := func(i int) bool { return i*i%7 == 2 }
	all, steps := newHoled(3000, keep), newHoled(3000, keep)
	defer all.Close()
	defer steps.Close()
	total := all.ships.Pack(MoveOptions{}).Len()
	for left := total; left > 0; {
		n := steps.ships.Pack(MoveOptions{Most: 50}).Len()
		if n != min(left, 50) {
			t.Fatalf("a step moves %d entities of %d", n, left)
		}
		left -= n
		steps.checkInvariants()
	}
	if n := steps.ships.Pack(MoveOptions{Most: 50}).Len(); n != 0 {
		t.Errorf("the steps move %d entities more than one call", n)
	}
	a, s := all.Stats().Archetypes[0], steps.Stats().Archetypes[0]
	if a.Runs != s.Runs || a.Slots != s.Slots {
		t.Errorf("after one call %+v, after several steps %+v", a, s)
	}
	one, other := all.numbers(), steps.numbers()
	slices.Sort(one)
	slices.Sort(other)
	if !slices.Equal(one, other) {
		t.Error("the entities differ")
	}
}

func TestPackGivesMemoryBack(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("regions are Go heap memory")
	}
	w := NewWorld(Options{Pages: vm.PagesSmall})
	defer w.Close()
	c := NewColumn[[16]uint64](w)
	a := w.Archetype(c)
	n := 100_000
	if testing.Short() && invariants.Enabled { // the checks take seconds
		n = 25_000
	}
	a.NewN(n, func(r Run) {
		for i := range c.Slice(r) {
			c.Slice(r)[i][0] = 1
		}
	})
	random := rand.New(rand.NewPCG(1, 2))
	var gone []Entity
	for e := range w.Query(c).All() {
		if random.IntN(10) != 0 {
			gone = append(gone, e)
		}
	}
	w.DeleteAll(w.Query().Among(gone))
	before, err := w.Resident()
	if err != nil {
		t.Fatal(err)
	}
	a.Pack(MoveOptions{})
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	after, err := w.Resident()
	if err != nil {
		t.Fatal(err)
	}
	if need := w.Len() * (128 + 4); after > need*3/2 || before < n*100 {
		t.Errorf("%s are resident after Pack and Trim, %s before; %d entities need %s", vm.Bytes(after),
			vm.Bytes(before), w.Len(), vm.Bytes(need))
	}
	w.checkInvariants()
}

// TestPackSkipsWornSlots: Pack moves no entity to a slot whose generations are used up.
func TestPackSkipsWornSlots(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	c := NewColumn[uint64](w)
	a := w.Archetype(c)
	var es []Entity
	for range 10 {
		es = append(es, a.New())
	}
	for _, i := range []int{1, 2, 8} {
		w.Delete(es[i])
	}
	age(w, generation.MaxCount-1, 1, 2, 8)
	w.Delete(a.New()) // slot 1 is worn now
	*w.generation(2) = uint32(generation.MaxCount-1) | uint32(w.mark)
	last := a.New() // takes slot 2 at its last generation
	if last.Slot() != 2 {
		t.Fatalf("the entity is %v", last)
	}
	w.Delete(es[0])
	m := a.Pack(MoveOptions{})
	// The entity in slot 9 moves to slot 0. Slot 1 is worn. No entity lies behind the next hole, slot 8.
	if m.Len() != 1 || m.Resolve(es[9]).Slot() != 0 {
		t.Errorf("Pack makes the moves %v", m.pairs)
	}
	w.checkInvariants()
	w.Delete(es[3])
	w.Delete(m.Resolve(es[9]))
	w.Delete(es[7])
	w.Delete(es[6])
	w.checkInvariants()
	if m = a.Pack(MoveOptions{}); m.Len() != 2 || w.Alive(last) == (m.Resolve(last) != last) {
		t.Errorf("Pack makes the moves %v", m.pairs)
	}
	w.checkInvariants()
}

func TestPackRefuses(t *testing.T) {
	h := newHoled(100, func(i int) bool { return i%2 == 0 })
	mustPanic(t, "MoveOptions.Most is -1: use 1 or more, or 0 for all", func() {
		h.ships.Pack(MoveOptions{Most: -1})
	})
	mustPanic(t, "changed while a query was running, by Archetype.Pack", func() {
		for range h.Query(h.number).Slots() {
			h.ships.Pack(MoveOptions{})
		}
	})
	h.Delete(h.ships.New())
	other := newHoled(10, func(i int) bool { return i%2 == 0 })
	other.number.OnRemove(func(Entity, *uint64) {})
	mustPanic(t, "Archetype.Pack: column uint64 has callbacks, which may keep entities", func() {
		other.ships.Pack(MoveOptions{})
	})
	mustPanic(t, "World.Regroup: the query belongs to another world", func() {
		h.Regroup(other.Query(), MoveOptions{})
	})
	mustPanic(t, "zero Query", func() { h.Regroup(Query{}, MoveOptions{}) })
	if !slices.Equal(other.numbers(), []uint64{0, 2, 4, 6, 8}) {
		t.Error("a refused Pack moved entities")
	}
	called := 0
	other.OnMove(func(Entity, Entity) { called++ })
	if m := other.ships.Pack(MoveOptions{}); m.Len() == 0 || m.Len() != called {
		t.Errorf("%d entities moved, and the callback ran %d times", m.Len(), called)
	}
	other.checkInvariants()
	for _, w := range []*holed{h, other} {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		mustPanic(t, "Archetype.Pack on the closed world", func() { w.ships.Pack(MoveOptions{}) })
		mustPanic(t, "World.Regroup on the closed world", func() { w.Regroup(Query{}, MoveOptions{}) })
		mustPanic(t, "World.OnMove on the closed world", func() { w.OnMove(func(Entity, Entity) {}) })
	}
}

// TestPackSurvivesItsCallback: the world stays consistent if a callback panics or changes the structure.
func TestPackSurvivesItsCallback(t *testing.T) {
	for _, what := range []string{"panics", "changes"} {
		h := newHoled(100, func(i int) bool { return i >= 50 })
		links := NewRelation(h.World, "links", RelationOptions{Cyclic: true})
		for i, e := range h.left {
			links.Set(e, h.left[(i+1)%len(h.left)])
		}
		calls := 0
		h.OnMove(func(old, now Entity) {
			if calls++; calls == 10 {
				if what == "panics" {
					panic("on purpose")
				}
				h.Delete(now)
			}
			if h.Alive(old) || !h.Alive(now) || !links.Has(now) {
				t.Errorf("%v moved to %v: alive %v and %v", old, now, h.Alive(old), h.Alive(now))
			}
		})
		v := panicOf(func() { h.ships.Pack(MoveOptions{}) })
		if v == nil || calls != 10 {
			t.Errorf("%s: %v after %d calls", what, v, calls)
		}
		h.checkInvariants()
		if h.Len() != 50 || len(h.numbers()) != 50 {
			t.Errorf("%s: %d entities", what, h.Len())
		}
		if n := h.ships.Pack(MoveOptions{}).Len(); n != 0 {
			t.Errorf("%s: a second Pack moves %d entities", what, n)
		}
		h.Close()
	}
}

// TestTrackersSeeMoves: a tracker notes a move as a removal and an addition, and a renewed reference as a
// write.
func TestTrackersSeeMoves(t *testing.T) {
	h := newHoled(6, func(i int) bool { return i != 0 })
	defer h.Close()
	to := NewColumn[Entity](h.World)
	to.Add(h.left[1], h.left[4])
	to.Add(h.left[2], h.left[1])
	tr := NewTracker(h.World, h.number, to)
	m := h.ships.Pack(MoveOptions{}) // the last entity moves to slot 0
	moved := m.Resolve(h.left[4])
	for _, tt := range []struct {
		what      string
		got, want []Entity
	}{
		{"added", slices.Collect(tr.Added(h.number)), []Entity{moved}},
		{"removed", slices.Collect(tr.Removed(h.number)), []Entity{h.left[4]}},
		{"changed", slices.Collect(tr.Changed(to)), []Entity{h.left[1]}},
		{"added references", slices.Collect(tr.Added(to)), nil},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.what, tt.got, tt.want)
		}
	}
	if *to.Get(h.left[1]) != moved {
		t.Errorf("the reference is %v, want %v", *to.Get(h.left[1]), moved)
	}
}

// TestPackKeepsLinks: Pack keeps the order of sources, the depths and the edges of moved entities.
func TestPackKeepsLinks(t *testing.T) {
	h := newHoled(400, func(i int) bool { return i%3 == 0 })
	defer h.Close()
	childOf := NewRelation(h.World, "childOf", RelationOptions{})
	roads := NewEdges[Entity](h.World, "roads", EdgesOptions{})
	random := rand.New(rand.NewPCG(3, 4))
	for i, e := range h.left {
		if i > 0 {
			childOf.Set(e, h.left[random.IntN(i)])
		}
		for range 3 {
			roads.Add(e, h.left[random.IntN(len(h.left))], h.left[i/2])
		}
	}
	type links struct {
		Sources, In, Out []uint64
		Values           []uint64
		Depth            int
	}
	linksByNumber := func() map[uint64]links {
		p := map[uint64]links{}
		for e := range h.Query(h.number).All() {
			var l links
			for s := range childOf.Sources(e) {
				l.Sources = append(l.Sources, *h.number.Get(s))
			}
			for to, v := range roads.Targets(e) {
				l.Out = append(l.Out, *h.number.Get(to))
				l.Values = append(l.Values, *h.number.Get(*v))
			}
			for from := range roads.Sources(e) {
				l.In = append(l.In, *h.number.Get(from))
			}
			l.Depth = childOf.Depth(e)
			p[*h.number.Get(e)] = l
		}
		return p
	}
	before := linksByNumber()
	if m := h.ships.Pack(MoveOptions{}); m.Len() < 50 {
		t.Fatalf("%d entities moved", m.Len())
	}
	if after := linksByNumber(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the links differ:\n%v\n%v", after, before)
	}
	n := 0
	for r := range childOf.InDepthOrder(h.Query(h.number)) {
		n += r.Len()
	}
	if n != len(h.left)-1 {
		t.Errorf("%d entities in depth order", n)
	}
	h.checkInvariants()
}
