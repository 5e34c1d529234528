package vast

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vastgo/vast/vm"
)

// bulkVerbs are the bulk operations of one kind of storage, with numbers as values. A tag has no values: its
// operations ignore the numbers or pass 0, and its setAll is nil.
type bulkVerbs struct {
	storage
	addAll    func(Query, uint64) int
	setAll    func(Query, uint64) int
	removeAll func(Query) int
	onAdd     func(func(Entity, uint64))
	onRemove  func(func(Entity, uint64))
}

func bulkStorages(w *World) []bulkVerbs {
	all := storages(w)
	c, s, h, g := all[0].column.(Column[number]), all[1].column.(SparseColumn[number]),
		all[2].column.(HeapColumn[boxed]), all[3].column.(Tag)
	value := func(f func(Entity, uint64)) func(Entity, *number) {
		return func(e Entity, v *number) { f(e, v.N) }
	}
	unboxed := func(f func(Entity, uint64)) func(Entity, *boxed) {
		return func(e Entity, v *boxed) { f(e, *v.N) }
	}
	bare := func(f func(Entity, uint64)) func(Entity) { return func(e Entity) { f(e, 0) } }
	return []bulkVerbs{
		{all[0], func(q Query, n uint64) int { return c.AddAll(q, number{n}) },
			func(q Query, n uint64) int { return c.SetAll(q, number{n}) },
			c.RemoveAll, func(f func(Entity, uint64)) { c.OnAdd(value(f)) },
			func(f func(Entity, uint64)) { c.OnRemove(value(f)) }},
		{all[1], func(q Query, n uint64) int { return s.AddAll(q, number{n}) },
			func(q Query, n uint64) int { return s.SetAll(q, number{n}) },
			s.RemoveAll, func(f func(Entity, uint64)) { s.OnAdd(value(f)) },
			func(f func(Entity, uint64)) { s.OnRemove(value(f)) }},
		{all[2], func(q Query, n uint64) int { return h.AddAll(q, boxed{&n}) },
			func(q Query, n uint64) int { return h.SetAll(q, boxed{&n}) },
			h.RemoveAll, func(f func(Entity, uint64)) { h.OnAdd(unboxed(f)) },
			func(f func(Entity, uint64)) { h.OnRemove(unboxed(f)) }},
		{all[3], func(q Query, _ uint64) int { return g.AddAll(q) }, nil,
			g.RemoveAll, func(f func(Entity, uint64)) { g.OnAdd(bare(f)) },
			func(f func(Entity, uint64)) { g.OnRemove(bare(f)) }},
	}
}

func TestBulkOfEachStorage(t *testing.T) {
	const n = 9000
	for kind := range 4 {
		for _, hooked := range []bool{false, true} {
			w := NewWorld(Options{MaxEntities: 1 << 14})
			odd := NewColumn[uint64](w)
			s := bulkStorages(w)[kind]
			name := fmt.Sprintf("%s, hooks %v", s.name, hooked)
			value := func(n uint64) uint64 {
				if s.name == "tag" {
					return 0
				}
				return n
			}
			w.Archetype().NewN(n, nil)
			es := entitiesOf(w.Query())
			model := map[Entity]uint64{}
			for i, e := range es {
				if i%2 == 1 || i/4096 == 1 {
					odd.Add(e, 1)
				}
				if i%3 == 0 {
					s.add(e, 7)
					model[e] = value(7)
				}
			}
			told, wantTold := map[string]int{}, map[string]int{}
			if hooked {
				s.onAdd(func(e Entity, v uint64) { told[fmt.Sprint("+", e, v)]++ })
				s.onRemove(func(e Entity, v uint64) { told[fmt.Sprint("-", e, v)]++ })
			}
			check := func(step string, got, want int, changes uint64) {
				t.Helper()
				if got != want || s.count() != len(model) || w.changes-changes != uint64(len(wantTold)) &&
					hooked {
					t.Fatalf("%s, %s: returns %d, want %d; %d components, want %d; %d changes",
						name, step, got, want, s.count(), len(model), w.changes-changes)
				}
				for _, e := range es {
					want, has := model[e]
					if got, ok := s.get(e); ok != has || got != want {
						t.Fatalf("%s, %s: %v has %d, %v, want %d, %v", name, step, e, got, ok, want, has)
					}
				}
				if hooked && fmt.Sprint(told) != fmt.Sprint(wantTold) {
					t.Fatalf("%s, %s: hooks got %d different calls, want %d", name, step, len(told),
						len(wantTold))
				}
				clear(told)
				clear(wantTold)
				w.checkInvariants()
			}
			// The query excludes the column that AddAll adds. It matches the entities as they were before the
			// call.
			changes, matches := w.changes, 0
			for i, e := range es {
				if i%3 != 0 {
					matches++
					model[e] = value(9)
					wantTold[fmt.Sprint("+", e, value(9))]++
				}
			}
			check("AddAll to entities without the column", s.addAll(w.Query().Without(s.column), 9), matches,
				changes)
			changes = w.changes
			matches = 0
			for i, e := range es {
				if i%2 == 1 || i/4096 == 1 {
					matches++
					wantTold[fmt.Sprint("-", e, model[e])]++
					delete(model, e)
				}
			}
			check("RemoveAll", s.removeAll(w.Query(odd)), matches, changes)
			if s.setAll != nil {
				for e := range model {
					model[e] = 4
				}
				check("SetAll", s.setAll(w.Query(), 4), len(model), w.changes)
			}
			changes = w.changes
			list := append(es[100:5000:5000], es[0], es[8000], Entity{}, es[8000])
			for _, e := range list[:4902] {
				if _, has := model[e]; !has {
					wantTold[fmt.Sprint("+", e, value(5))] = 1
				}
				model[e] = value(5)
			}
			check("AddAll to a list", s.addAll(w.Query().Among(list), 5), 4902, changes)
			changes = w.changes
			if got := s.removeAll(w.Query().Among(nil)); got != 0 || w.changes != changes {
				t.Errorf("%s: RemoveAll over an empty list returns %d and counts %d changes", name, got,
					w.changes-changes)
			}
			if n := w.DeleteAll(w.Query(s.column)); n != len(model) || s.count() != 0 {
				t.Errorf("%s: DeleteAll returns %d, want %d; %d components are left", name, n, len(model),
					s.count())
			}
			w.checkInvariants()
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestBulkOfStoragesRefused(t *testing.T) {
	limit := vm.NewLimit(4 << 20)
	w := NewWorld(Options{MaxEntities: 1 << 14, Limit: limit})
	defer w.Close()
	a, rare := NewColumn[uint64](w), NewSparseColumn[kilobyte](w)
	rare.OnAdd(func(e Entity, _ *kilobyte) {
		if e.Slot() > 1000 {
			t.Errorf("OnAdd is called for %v, which got no component", e)
		}
	})
	w.Archetype(a).NewN(1<<14, nil)
	es := entitiesOf(w.Query())
	rare.Add(es[5], kilobyte{1})
	before, used := fmt.Sprint(w.Stats()), rare.c.slots
	exhausted(t, func() error { rare.AddAll(w.Query(a), kilobyte{2}); return nil }, vm.ErrLimit, "limit")
	exhausted(t, func() error { rare.AddAll(w.Query().Among(es), kilobyte{2}); return nil }, vm.ErrLimit,
		"limit")
	exhausted(t, func() error { w.Exchange(w.Query(a), []AnyColumn{rare}, []AnyColumn{a}); return nil },
		vm.ErrLimit, "limit")
	if after := fmt.Sprint(w.Stats()); after != before || a.Len() != 1<<14 || rare.c.slots != used ||
		rare.Len() != 1 || rare.Get(es[5])[0] != 1 {
		t.Errorf("a failed bulk operation changed the world:\n%s\n%s", before, after)
	}
	w.checkInvariants()
	if n := rare.AddAll(w.Query().Among(es[:200]), kilobyte{2}); n != 200 || rare.Get(es[199])[0] != 2 ||
		rare.Has(es[200]) {
		t.Errorf("AddAll to 200 entities returns %d", n)
	}
	w.checkInvariants()
}

func TestBulkOfStoragesMisuse(t *testing.T) {
	w, abroad := NewWorld(Options{Name: "home", MaxEntities: 64}),
		NewWorld(Options{Name: "abroad", MaxEntities: 64})
	defer w.Close()
	defer abroad.Close()
	tag, rare, heap := NewTag(w, "t"), NewSparseColumn[uint64](w), NewHeapColumn[string](w)
	w.Archetype(tag, rare, heap).NewN(3, nil)
	q, theirs := w.Query(), abroad.Query()
	verbs := map[string]func(Query){
		"Tag.AddAll":             func(q Query) { tag.AddAll(q) },
		"Tag.RemoveAll":          func(q Query) { tag.RemoveAll(q) },
		"SparseColumn.AddAll":    func(q Query) { rare.AddAll(q, 1) },
		"SparseColumn.SetAll":    func(q Query) { rare.SetAll(q, 1) },
		"SparseColumn.RemoveAll": func(q Query) { rare.RemoveAll(q) },
		"HeapColumn.AddAll":      func(q Query) { heap.AddAll(q, "") },
		"HeapColumn.SetAll":      func(q Query) { heap.SetAll(q, "") },
		"HeapColumn.RemoveAll":   func(q Query) { heap.RemoveAll(q) },
	}
	changes := w.changes
	for name, f := range verbs {
		name = name[strings.Index(name, ".")+1:]
		says(t, func() { f(theirs) }, name+": the query belongs to another world")
		says(t, func() { f(Query{}) }, "zero Query")
	}
	says(t, func() { Tag{}.AddAll(q) }, "Tag.AddAll: the column was not made")
	says(t, func() { SparseColumn[uint64]{}.AddAll(q, 1) }, "AddAll: the column was not made")
	says(t, func() { HeapColumn[string]{}.SetAll(q, "") }, "SetAll: the column was not made")
	says(t, func() {
		for range q.All() {
			rare.RemoveAll(q)
		}
	}, "while a query was running")
	if w.changes != changes+3 || rare.Len() != 0 {
		t.Errorf("%d changes and %d components, want 3 and 0: only RemoveAll in the loop may change the "+
			"world", w.changes-changes, rare.Len())
	}
	w.Close()
	for name, f := range verbs {
		says(t, func() { f(q) }, name[strings.Index(name, ".")+1:]+" on the closed world")
	}
}
