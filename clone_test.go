package vast

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/vm"
)

// partner is a component with references.
type partner struct {
	self, other Entity
	more        [2]Entity
}

type cloneWorld struct {
	*World
	num      Column[uint64]
	odd      Column[[3]byte]
	wide     Column[[20]uint64]
	partners Column[partner]
	pool     SparseColumn[partner]
	text     HeapColumn[[]string]
	mind     HeapColumn[partner]
	tag      Tag
	child    Relation
	aims     Relation
	roads    Edges[partner]
	full     *Archetype
}

func newCloneWorld(o Options) *cloneWorld {
	w := NewWorld(o)
	f := &cloneWorld{World: w, num: NewColumn[uint64](w), odd: NewColumn[[3]byte](w).Named("odd"),
		wide: NewColumn[[20]uint64](w).Named("wide"), partners: NewColumn[partner](w),
		pool: NewSparseColumn[partner](w).Named("pool"), text: NewHeapColumn[[]string](w),
		mind: NewHeapColumn[partner](w).Named("mind"), tag: NewTag(w, "tag"),
		child: NewRelation(w, "childOf", RelationOptions{OnDelete: Cascade}),
		aims:  NewRelation(w, "aims", RelationOptions{Cyclic: true}),
		roads: NewEdges[partner](w, "roads", EdgesOptions{})}
	f.full = w.Archetype(f.num, f.odd, f.wide, f.partners, f.pool, f.text, f.mind, f.tag)
	return f
}

// original makes an entity with all components, and with references to itself and to other.
func (f *cloneWorld) original(other Entity) Entity {
	e := f.full.New()
	p := partner{self: e, other: other, more: [2]Entity{other, e}}
	*f.num.Get(e), *f.odd.Get(e), *f.partners.Get(e), *f.pool.Get(e), *f.mind.Get(e) = 7, [3]byte{1, 2, 3},
		p, p, p
	for i := range f.wide.Get(e) {
		f.wide.Get(e)[i] = uint64(i)
	}
	*f.text.Get(e) = []string{"a", "b"}
	f.child.Set(e, other)
	f.aims.Set(e, e)
	f.roads.Add(e, other, p)
	f.roads.Add(e, e, partner{self: e})
	return e
}

// mustBeCopy checks that c is a copy of e. The method original has made e, or e is a copy of such an entity.
func (f *cloneWorld) mustBeCopy(t *testing.T, c, e, other Entity) {
	t.Helper()
	p := partner{self: c, other: other, more: [2]Entity{other, c}}
	if c == e || *f.num.Get(c) != 7 || *f.odd.Get(c) != [3]byte{1, 2, 3} ||
		*f.wide.Get(c) != *f.wide.Get(e) || !f.tag.Has(c) ||
		!slices.Equal(*f.text.Get(c), []string{"a", "b"}) {
		t.Fatalf("%v is no copy of %v:\n%s", c, e, f.Sprint(c))
	}
	if *f.partners.Get(c) != p || *f.pool.Get(c) != p || *f.mind.Get(c) != p {
		t.Fatalf("references of the copy %v are %v, %v, %v, want %v", c, *f.partners.Get(c), *f.pool.Get(c),
			*f.mind.Get(c), p)
	}
	target, _ := f.child.Target(c)
	aim, _ := f.aims.Target(c)
	if target != other || aim != c || f.child.Depth(c) != f.child.Depth(e) {
		t.Fatalf("the copy %v of %v has the targets %v and %v, want %v and itself", c, e, target, aim, other)
	}
	var to []Entity
	for e, v := range f.roads.Targets(c) {
		to = append(to, e)
		if v.self != c {
			t.Fatalf("the value of the edge %v → %v refers to %v, want %[1]v", c, e, v.self)
		}
	}
	if !slices.Equal(to, []Entity{other, c}) {
		t.Fatalf("the edges of the copy %v of %v lead to %v, want %v", c, e, to, []Entity{other, c})
	}
}

func TestClone(t *testing.T) {
	f := newCloneWorld(Options{MaxEntities: 1 << 12})
	defer f.Close()
	other := f.Archetype().New()
	e := f.original(other)
	source := f.Archetype().New()
	f.child.Set(source, e)
	f.roads.Add(source, e, partner{})
	if _, err := f.Names().Set(e, "first"); err != nil {
		t.Fatal(err)
	}
	c := f.Clone(e)
	f.mustBeCopy(t, c, e, other)
	if f.child.CountSources(c) != 0 || f.roads.CountSources(c) != 1 || f.child.CountSources(other) != 2 {
		t.Error("the copy has sources, or the target lacks one")
	}
	if name, ok := f.Names().Of(c); ok {
		t.Errorf("the copy has the name %q", name)
	}
	if f.Archetype(f.num, f.odd, f.wide, f.partners, f.pool, f.text, f.mind, f.tag).Len() != 2 {
		t.Error("the copy is born in another archetype")
	}
	if &(*f.text.Get(c))[0] != &(*f.text.Get(e))[0] {
		t.Error("the slice is not shared")
	}
	f.mustBeCopy(t, f.Clone(c), c, other)
	f.checkInvariants()
	f.Delete(e)
	f.mustBeCopy(t, f.Clone(c), c, other)
	if got := f.Clone(e); !got.IsZero() {
		t.Errorf("Clone of a stale entity returns %v", got)
	}
	f.CloneN(e, 5, func(Run) { t.Error("CloneN of a stale entity calls fill") })
}

// TestCloneOfChanged clones entities that gained or lost components. A copy is born with exactly the present
// components.
func TestCloneOfChanged(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 12})
	defer w.Close()
	a, b, c := anotherColumn[uint64](w), anotherColumn[uint64](w), NewTag(w, "c")
	required := anotherColumn[uint64](w)
	w.Require(a, required)
	born := w.Archetype(a, b)
	es := []Entity{born.New(), born.New(), born.New()}
	for i, e := range es {
		*a.Get(e), *b.Get(e) = uint64(i), 10+uint64(i)
	}
	b.Remove(es[1])
	c.Add(es[1])
	required.Remove(es[2])
	for i, want := range [][]AnyColumn{{a, b, required}, {a, c, required}, {a, b}} {
		n := w.Clone(es[i])
		var columns []*column
		for _, col := range want {
			columns = append(columns, col.column())
		}
		slices.SortFunc(columns, func(a, b *column) int { return int(a.id) - int(b.id) })
		if x := w.extents[w.owner(n.slot/64).extent]; !slices.Equal(x.archetype.columns, columns) {
			t.Errorf("the copy of entity %d has the columns of %v, want %v", i, x.archetype.columns, columns)
		}
		if *a.Get(n) != uint64(i) || b.Has(n) != b.Has(es[i]) || b.Has(n) && *b.Get(n) != 10+uint64(i) ||
			c.Has(n) != c.Has(es[i]) || required.Has(n) != required.Has(es[i]) {
			t.Errorf("the copy of entity %d is wrong: %s", i, w.Sprint(n))
		}
	}
	w.checkInvariants()
}

func TestCloneN(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 1000, longtest.Pick(5000, 100_000)} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			f := newCloneWorld(Options{MaxEntities: 1 << 17})
			defer f.Close()
			other := f.Archetype().New()
			e := f.original(other)
			// Holes, so that the copies get several runs, some of them in slots that were used before.
			f.full.NewN(200, nil)
			for i, one := range entitiesOf(f.Query(f.num)) {
				if one != e && i%3 == 0 {
					f.Delete(one)
				}
			}
			before := f.Len()
			var es []Entity
			f.CloneN(e, n, func(r Run) {
				for i := range f.num.Slice(r) {
					if f.num.Slice(r)[i] != 7 {
						t.Fatal("fill sees no values")
					}
				}
				for _, one := range r.All() {
					es = append(es, one)
				}
			})
			if len(es) != n || f.Len() != before+n {
				t.Fatalf("%d copies, %d entities more, want %d", len(es), f.Len()-before, n)
			}
			for _, c := range es {
				f.mustBeCopy(t, c, e, other)
			}
			if got := slices.Collect(f.child.Sources(other)); !slices.Equal(got[1:], es) {
				t.Error("the sources of the target are in another order than the copies")
			}
			f.checkInvariants()
		})
	}
}

// TestCloneOfRuntimeTypes copies components and edges of types that are known only at run time.
func TestCloneOfRuntimeTypes(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 10})
	defer w.Close()
	typ := reflect.TypeFor[partner]()
	var cols []AnyColumn
	for i, s := range []probing.Storage{probing.StorageDense, probing.StorageSparse, probing.StorageHeap} {
		cols = append(cols, probed.NewColumn(w, fmt.Sprint("column ", i), typ, s))
	}
	states{}.NewLinks(w, "roads", typ, 100, RelationOptions{})
	roads := columnOfAnyType{w.columns[len(w.columns)-2]}
	e, other := w.Archetype(cols...).New(), w.Archetype().New()
	v := reflect.New(typ).Elem()
	v.Set(reflect.ValueOf(partner{self: e, other: other}))
	for _, c := range cols {
		probed.SetValue(c, e, v)
	}
	states{}.AddEdge(roads.c, e, other, v)
	c := w.Clone(e)
	want := partner{self: c, other: other}
	for _, col := range cols {
		if got, _ := probed.Value(col, c); got.Interface().(partner) != want {
			t.Errorf("%s of the copy is %v, want %v", col.Name(), got, want)
		}
	}
	n := 0
	probed.Targets(probed.EdgesOf(roads), c, func(to Entity, got reflect.Value) bool {
		if n++; to != other || got.Interface().(partner) != want {
			t.Errorf("the edge of the copy leads to %v with %v, want %v with %v", to, got, other, want)
		}
		return true
	})
	if n != 1 {
		t.Errorf("the copy has %d edges, want 1", n)
	}
	w.checkInvariants()
}

// TestCloneHooks checks the order of callbacks and what they see, and that trackers note copies.
func TestCloneHooks(t *testing.T) {
	f := newCloneWorld(Options{MaxEntities: 1 << 12})
	defer f.Close()
	other := f.Archetype().New()
	e := f.original(other)
	tracker := NewTracker(f.World, f.num, f.child, f.roads)
	var told []string
	f.num.OnAdd(func(c Entity, v *uint64) {
		if *v != 7 && *v != 8 || f.pool.Get(c).other != other || f.child.Has(c) ||
			*f.odd.Get(c) != [3]byte{1, 2, 3} {
			t.Errorf("OnAdd sees %d and %s", *v, f.Sprint(c))
		}
		told = append(told, "num")
	})
	f.child.OnAdd(func(c, target Entity) {
		if got, _ := f.child.Target(c); got != target || target != other {
			t.Errorf("OnAdd sees the target %v", target)
		}
		told = append(told, "child")
	})
	c := f.Clone(e)
	f.CloneN(e, 2, func(r Run) {
		for i := range f.num.Slice(r) {
			f.num.Slice(r)[i]++
		}
		told = append(told, "fill")
	})
	if got, want := strings.Join(told, " "), "num child fill num num child child"; got != want {
		t.Errorf("callbacks: %s, want %s", got, want)
	}
	for _, col := range []AnyColumn{f.num, f.child, f.roads} {
		if es := slices.Collect(tracker.Added(col)); len(es) != 3 || es[0] != c {
			t.Errorf("the tracker of %s notes the additions %v", col.Name(), es)
		}
	}
	f.checkInvariants()
}

func TestCloneMisuse(t *testing.T) {
	f := newCloneWorld(Options{Name: "home", MaxEntities: 1 << 12})
	e := f.original(f.Archetype().New())
	mustPanic(t, "CloneN(-1): the number of entities cannot be negative", func() { f.CloneN(e, -1, nil) })
	mustPanic(t, `while a query was running, by World.Clone:`, func() {
		for range f.Query(f.num).All() {
			f.Clone(e)
		}
	})
	mustPanic(t, `while a query was running, by World.CloneN:`, func() {
		for range f.Query(f.num).All() {
			f.CloneN(e, 2, nil)
		}
	})
	mustPanic(t, `while World.CloneN was filling new entities, by Archetype.New:`, func() {
		f.CloneN(e, 2, func(Run) { f.full.New() })
	})
	f.checkInvariants()
	f.Close()
	mustPanic(t, `World.Clone on the closed world "home"`, func() { f.Clone(e) })
	mustPanic(t, `World.CloneN on the closed world "home"`, func() { f.CloneN(e, 1, nil) })
}

// TestCloneExhausted: CloneN panics and changes nothing if the world has too few slots, or the edges have too
// little capacity.
func TestCloneExhausted(t *testing.T) {
	f := newCloneWorld(Options{MaxEntities: 640})
	defer f.Close()
	e := f.original(f.Archetype().New())
	before, changes, slots := f.Len(), f.Changes(), f.Slots()
	var refused *vm.Error
	if v, _ := panicOf(func() { f.CloneN(e, 1000, nil) }).(error); !errors.As(v, &refused) ||
		!errors.Is(v, vm.ErrCapacity) {
		t.Fatalf("CloneN beyond MaxEntities panics with %v", v)
	}
	if f.Len() != before || f.Changes() != changes || f.Slots() != slots {
		t.Error("a refused CloneN has changed the world")
	}
	w := NewWorld(Options{MaxEntities: 1 << 12})
	defer w.Close()
	c, roads := NewColumn[uint64](w), NewEdges[uint64](w, "roads", EdgesOptions{Capacity: 10})
	from, to := w.Archetype(c).New(), w.Archetype().New()
	roads.Add(from, to, 1)
	slots = w.Slots()
	if v, _ := panicOf(func() { w.CloneN(from, 200, nil) }).(error); !errors.Is(v, vm.ErrCapacity) {
		t.Fatalf("CloneN beyond the capacity of edges panics with %v", v)
	}
	if w.Len() != 2 || roads.Len() != 1 || w.Slots() != slots {
		t.Errorf("a refused CloneN has changed the world: %d entities, %d slots", w.Len(), w.Slots())
	}
	w.CloneN(from, 9, nil)
	if roads.Len() != 10 {
		t.Errorf("%d edges, want 10", roads.Len())
	}
	w.checkInvariants()
	f.checkInvariants()
}

// TestCloneLimit refuses memory at each step of a copy.
func TestCloneLimit(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("the heap stand-in takes the memory of a region when the region is made")
	}
	limit := vm.NewLimit(256 << 20)
	f := newCloneWorld(Options{MaxEntities: 1 << 16, Limit: limit, Pages: vm.PagesSmall})
	defer f.Close()
	leave := hog(t, limit)
	e := f.original(f.Archetype().New())
	before, refusals := f.Stats().Committed, 0
	for left := 0; ; left += 64 << 10 {
		leave(left)
		v := panicOf(func() { f.CloneN(e, 5000, nil) })
		if v == nil {
			break
		}
		err, _ := v.(error)
		if refusals++; !errors.Is(err, vm.ErrLimit) || f.Len() != 2 || f.Stats().Committed != before {
			t.Fatalf("%d bytes left: %v; %d entities, %d bytes committed, %d before", left, v, f.Len(),
				f.Stats().Committed, before)
		}
		f.checkInvariants()
	}
	if refusals < 5 || f.Len() != 5002 {
		t.Errorf("%d refusals, %d entities", refusals, f.Len())
	}
	f.checkInvariants()
}
