package vast

import (
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/invariants"
)

// slotWorld is a world with several kinds of columns. Each entity has a position. Every third entity, from
// entity 0 on, has all other components, but entity 0 has no link.
type slotWorld struct {
	*World
	position Column[position]
	count    Column[uint64]
	sparse   SparseColumn[uint64]
	heap     HeapColumn[string]
	tag      Tag
	of       Relation
	es       []Entity
}

func newSlotWorld(t *testing.T, n int) *slotWorld {
	t.Helper()
	w := NewWorld(Options{MaxEntities: n + 100})
	t.Cleanup(func() { w.Close() })
	s := &slotWorld{World: w, position: NewColumn[position](w), count: NewColumn[uint64](w),
		sparse: NewSparseColumn[uint64](w).Named("sparse"), heap: NewHeapColumn[string](w),
		tag: NewTag(w, "tag"), of: NewRelation(w, "of", RelationOptions{})}
	born := w.Archetype(s.position)
	for i := range n {
		e := born.New()
		s.position.Get(e).X = float64(i)
		s.es = append(s.es, e)
		if i%3 == 0 {
			s.count.Add(e, uint64(i))
			s.sparse.Add(e, uint64(i))
			s.heap.Add(e, string(rune('a'+i%26)))
			s.tag.Add(e)
			if i > 0 {
				s.of.Set(e, s.es[0])
			}
		}
	}
	return s
}

func TestSlotsFindComponents(t *testing.T) {
	w := newSlotWorld(t, 1000)
	n := 0
	for s := range w.Query(w.position).Slots() {
		e := w.es[n]
		if s.Entity() != e || s.Index() != int(e.Slot()) || w.position.At(s) != w.position.Get(e) {
			t.Fatalf("slot %d of entity %v, want %v", s.Index(), s.Entity(), e)
		}
		has := n%3 == 0
		if p := w.count.TryAt(s); p != w.count.Get(e) || (p != nil) != has {
			t.Errorf("TryAt of %v is %v", e, p)
		}
		if p := w.sparse.TryAt(s); p != w.sparse.Get(e) || (p != nil) != has {
			t.Errorf("SparseColumn.TryAt of %v is %v", e, p)
		}
		if p := w.heap.TryAt(s); p != w.heap.Get(e) || (p != nil) != has {
			t.Errorf("HeapColumn.TryAt of %v is %v", e, p)
		}
		linked := has && n > 0
		if w.tag.HasAt(s) != has || (w.of.At(s) == w.es[0]) != linked || w.of.At(s).IsZero() == linked {
			t.Errorf("tag %v, target %v of %v", w.tag.HasAt(s), w.of.At(s), e)
		}
		n++
	}
	if n != len(w.es) {
		t.Errorf("%d slots, want %d", n, len(w.es))
	}
	n = 0
	for s := range w.Query(w.count, w.sparse, w.heap).Slots() {
		*w.count.At(s) += *w.sparse.At(s)
		*w.heap.At(s) += "!"
		n++
	}
	if n != 334 || *w.count.Get(w.es[999]) != 2*999 || *w.heap.Get(w.es[0]) != "a!" {
		t.Errorf("%d entities; entity 999 has count %d, entity 0 has text %q", n,
			*w.count.Get(w.es[999]), *w.heap.Get(w.es[0]))
	}
}

func TestSlotsOfEachWalk(t *testing.T) {
	w := newSlotWorld(t, 5000)
	for name, q := range map[string]Query{
		"all": w.Query(), "two columns": w.Query(w.position, w.count),
		"without":  w.Query(w.position).Without(w.tag),
		"optional": w.Query(w.position).Optional(w.count), "between": w.Query(w.count).Between(100, 3000),
		"among": w.Query().Among(w.es[70:200]), "target": w.Query(w.count).To(w.of, w.es[0]),
		"exactly": w.Query(w.position).Exactly(), "none": w.Query(w.count).Without(w.tag),
	} {
		want := slices.Collect(q.All())
		var runs, batches []Entity
		for run := range q.Runs() {
			for s := range run.Slots() {
				runs = append(runs, s.Entity())
			}
		}
		for b := range q.Batches(300) {
			for s := range b.Slots() {
				batches = append(batches, s.Entity())
			}
		}
		slices.SortFunc(batches, bySlot)
		inOrder := slices.SortedFunc(slices.Values(want), bySlot)
		if !slices.Equal(runs, want) || !slices.Equal(batches, inOrder) ||
			len(want) == 0 != (name == "none") {
			t.Errorf("%s: %d entities, %d by runs, %d by batches", name, len(want), len(runs), len(batches))
		}
	}
	for range (Batch{}).Slots() {
		t.Error("the zero Batch has a slot")
	}
}

func TestSlotsEnd(t *testing.T) {
	w := newSlotWorld(t, 200)
	n := 0
	for s := range w.Query().Slots() {
		if n++; s.Index() == 100 {
			break
		}
	}
	if n != 101 {
		t.Errorf("the loop was left after %d steps", n)
	}
	says(t, func() {
		for s := range w.Query().Slots() {
			w.Delete(s.Entity())
		}
	}, "changed while a query was running, by World.Delete")
	says(t, func() {
		for b := range w.Query().Batches(100) {
			for s := range b.Slots() {
				w.count.Add(s.Entity(), 1)
			}
		}
	}, "changed while a batch of a query was running, by Column.Add")
	says(t, func() {
		for range (Query{}).Slots() {
		}
	}, "zero Query")
}

func TestEditAtMarks(t *testing.T) {
	w := newSlotWorld(t, 300)
	tracker := NewTracker(w.World, w.count, w.sparse)
	for s := range w.Query(w.count, w.sparse).Slots() {
		if s.Index()%2 == 0 {
			*w.count.EditAt(s) = 1
		} else {
			*w.sparse.EditAt(s) = 2
		}
		_ = *w.count.At(s) // reading marks nothing
	}
	counts, sparse := 0, 0
	for e := range tracker.Changed(w.count) {
		counts++
		if e.Slot()%2 != 0 || *w.count.Get(e) != 1 {
			t.Errorf("%v is marked in the dense column, where it was not written", e)
		}
	}
	for e := range tracker.Changed(w.sparse) {
		sparse++
		if e.Slot()%2 == 0 || *w.sparse.Get(e) != 2 {
			t.Errorf("%v is marked in the sparse column, where it was not written", e)
		}
	}
	if counts != 50 || sparse != 50 {
		t.Errorf("%d entities are marked in the dense column and %d in the sparse column, want 50 and 50",
			counts, sparse)
	}
}

func TestSlotMisuse(t *testing.T) {
	w := newSlotWorld(t, 1000)
	var kept Slot
	for s := range w.Query(w.position).Slots() {
		kept = s
	}
	if (Slot{}).Entity() != (Entity{}) {
		t.Error("the zero Slot has an entity")
	}
	empty := NewColumn[int32](w.World)
	says(t, func() { empty.At(kept) },
		"the entity in slot 999 lacks the component: take the slot from a query")
	says(t, func() { empty.EditAt(kept) }, "Column[int32].EditAt")
	if empty.TryAt(kept) != nil {
		t.Error("an empty column has a component")
	}
	var lacks Slot // the slot of entity 1, which has only a position
	for s := range w.Query(w.position).Without(w.tag).Slots() {
		lacks = s
		break
	}
	says(t, func() { w.sparse.At(lacks) }, "Column[sparse].At: the entity in slot 1 lacks the component")
	says(t, func() { w.heap.EditAt(lacks) }, "lacks the component")
	if invariants.Enabled {
		says(t, func() { w.count.At(lacks) }, "the entity in slot 1 lacks the component")
		other := newSlotWorld(t, 1000)
		says(t, func() { other.position.At(kept) }, "the slot belongs to another world")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	says(t, func() { w.position.At(kept) }, "Column.At on the closed world")
}

func TestSlotsDoNotAllocate(t *testing.T) {
	w := newSlotWorld(t, 1000)
	q := w.Query(w.position, w.count)
	if n := testing.AllocsPerRun(10, func() {
		for s := range q.Slots() {
			w.position.At(s).X += float64(*w.count.At(s))
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNewSlot(t *testing.T) {
	w := newSlotWorld(t, 500)
	born := w.Archetype(w.position, w.sparse, w.heap)
	before := w.Len()
	s := born.NewSlot()
	*w.position.At(s), *w.sparse.At(s), *w.heap.At(s) = position{X: 7}, 8, "nine"
	e := s.Entity()
	if !w.Alive(e) || w.position.Get(e).X != 7 || *w.sparse.Get(e) != 8 || *w.heap.Get(e) != "nine" {
		t.Errorf("the new entity %v has %v, %v, %q", e, w.position.Get(e), *w.sparse.Get(e), *w.heap.Get(e))
	}
	if w.Len() != before+1 {
		t.Errorf("%d entities, want %d", w.Len(), before+1)
	}
}

func TestNewEach(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 4096})
	defer w.Close()
	pos, count := NewColumn[position](w), NewColumn[uint64](w)
	sum := 0
	count.OnAdd(func(_ Entity, v *uint64) { sum += int(*v) })
	born := w.Archetype(pos, count)
	first := slices.Collect(w.Query().All())
	for i, s := range born.NewEach(300) {
		pos.At(s).X, *count.At(s) = float64(i), 1
		first = append(first, s.Entity())
	}
	for _, e := range first[100:164] {
		w.Delete(e)
	}
	n := 0
	for i, s := range born.NewEach(200) { // fills the slots of the deleted entities first
		if i != n || *count.At(s) != 0 {
			t.Fatalf("step %d has index %d, and its component is %d, want 0", n, i, *count.At(s))
		}
		*count.At(s) = 1
		n++
		if n == 150 {
			break
		}
	}
	if born.Len() != 300-64+200 || sum != 300+150 || n != 150 {
		t.Errorf("%d entities; the sum of the values that OnAdd got is %d; %d steps", born.Len(), sum, n)
	}
	says(t, func() {
		for _, s := range born.NewEach(2) {
			w.Delete(s.Entity())
		}
	}, "changed while Archetype.NewN was filling new entities, by World.Delete")
	says(t, func() {
		for range born.NewEach(-1) {
		}
	}, "cannot be negative")
	before := born.Len()
	born.NewEach(5) // makes nothing, because no loop runs over the result
	if got := born.Len(); got != before {
		t.Errorf("%d entities, want %d", got, before)
	}
}

func TestSlotsOfTargetInPieces(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 4096})
	defer w.Close()
	of := NewRelation(w, "of", RelationOptions{})
	born := w.Archetype()
	target := born.New()
	var want []Entity
	for range 1000 {
		e := born.New()
		of.Set(e, target)
		want = append(want, e)
	}
	q := w.Query().To(of, target)
	var got []Entity
	for s := range q.Slots() {
		got = append(got, s.Entity())
	}
	if !slices.Equal(got, want) || !slices.Equal(slices.Collect(q.All()), want) {
		t.Errorf("%d sources, want %d in the order of their links", len(got), len(want))
	}
	var k walk
	k.start(q.q)
	if base, mask := k.nextPiece(); base != uint(want[0].slot) || mask != ^uint64(0) ||
		k.linked.next != want[64].slot {
		t.Errorf("the first piece has base %d and mask %x, and the next source is in slot %d", base, mask,
			k.linked.next)
	}
}

func TestSlotsOfAClosedWorld(t *testing.T) {
	w := NewWorld(Options{})
	a := w.Archetype(NewColumn[uint64](w))
	var run Run
	a.NewN(3, func(r Run) { run = r })
	slot := a.NewSlot()
	beyond := Slot{w.size, w}
	says(t, func() { beyond.Entity() }, "keep entities")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	says(t, func() { slot.Entity() }, "do not use a world after Close")
	says(t, func() { run.Entity(0) }, "do not use a world after Close")
}
