package vast

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/vm"
)

// needy is a column that requires others, and the ways in which entities gain its component.
type needy struct {
	AnyColumn
	ways map[string]func(es []Entity)
}

// needyOf returns the needy of a column with values. Its ways are those that all such columns share.
func needyOf[T any](w *World, c interface {
	AnyColumn
	Add(Entity, T) *T
	AddAll(Query, T) int
	AddLater(*Commands, Entity, T)
	EditOrAdd(Entity) *T
}) needy {
	var v T
	return needyIn(w, c, map[string]func([]Entity){
		"Add": func(es []Entity) {
			for _, e := range es {
				c.Add(e, v)
			}
		},
		"EditOrAdd": func(es []Entity) {
			for _, e := range es {
				c.EditOrAdd(e)
			}
		},
		"AddAll": func(es []Entity) { c.AddAll(w.Query().Among(es), v) },
		"AddLater": func(es []Entity) {
			applyIn(w, func(cs *Commands) {
				for _, e := range es {
					c.AddLater(cs, e, v)
				}
			})
		},
		"AddValue": func(es []Entity) {
			for _, e := range es {
				probed.AddValue(c, e, reflect.ValueOf(v))
			}
		},
	})
}

func needyIn(w *World, c AnyColumn, ways map[string]func([]Entity)) needy {
	ways["Exchange"] = func(es []Entity) { w.Exchange(w.Query().Among(es), []AnyColumn{c}, nil) }
	return needy{c, ways}
}

func applyIn(w *World, record func(*Commands)) {
	cs := NewCommands(w, CommandsOptions{})
	record(cs)
	if _, err := w.Apply(cs); err != nil {
		panic(err)
	}
	if err := cs.Close(); err != nil {
		panic(err)
	}
}

// requirements is a world in which a column of each storage requires columns of all storages.
type requirements struct {
	*World
	needy  []needy
	plain  Column[uint64]
	sparse SparseColumn[uint64]
	heap   HeapColumn[[]string]
	tag    Tag
	others []AnyColumn
}

func newRequirements(o Options) *requirements {
	w := NewWorld(o)
	r := &requirements{World: w, plain: NewColumn[uint64](w), tag: NewTag(w, "other")}
	tag := NewTag(w, "needy")
	r.needy = []needy{needyOf(w, NewColumn[uint16](w)), needyOf(w, NewSparseColumn[number](w)),
		needyOf(w, NewHeapColumn[string](w)), needyIn(w, tag, map[string]func([]Entity){
			"Add": func(es []Entity) {
				for _, e := range es {
					tag.Add(e)
				}
			},
			"AddAll": func(es []Entity) { tag.AddAll(w.Query().Among(es)) },
			"AddLater": func(es []Entity) {
				applyIn(w, func(cs *Commands) {
					for _, e := range es {
						tag.AddLater(cs, e)
					}
				})
			},
		})}
	// These two required columns are newer than the columns that require them.
	r.sparse, r.heap = NewSparseColumn[uint64](w), NewHeapColumn[[]string](w)
	r.others = []AnyColumn{r.plain, r.sparse, r.heap, r.tag}
	for _, n := range r.needy {
		w.Require(n, r.others...)
	}
	return r
}

func (r *requirements) values(e Entity) (plain, sparse uint64, heap []string, n int) {
	if p := r.plain.Get(e); p != nil {
		plain, n = *p, n+1
	}
	if p := r.sparse.Get(e); p != nil {
		sparse, n = *p, n+1
	}
	if p := r.heap.Get(e); p != nil {
		heap, n = *p, n+1
	}
	if r.tag.Has(e) {
		n++
	}
	return plain, sparse, heap, n
}

func TestRequiredComponentsCome(t *testing.T) {
	for i := range 4 {
		first := newRequirements(Options{MaxEntities: 64})
		defer first.Close()
		for way := range first.needy[i].ways {
			r := newRequirements(Options{MaxEntities: 1 << 13})
			n := r.needy[i]
			told := map[string]int{}
			r.plain.OnAdd(func(Entity, *uint64) { told["plain"]++ })
			r.sparse.OnAdd(func(_ Entity, v *uint64) { told["sparse"]++; *v += 3 })
			r.heap.OnAdd(func(Entity, *[]string) { told["heap"]++ })
			r.tag.OnAdd(func(Entity) { told["tag"]++ })
			var es []Entity
			for _, s := range r.Archetype().NewEach(5000) {
				es = append(es, s.Entity())
			}
			had := func(i int) bool { return i%7 == 0 }
			for i, e := range es { // leave old values, which later gains must not find
				r.plain.Add(e, 9)
				r.sparse.Add(e, 9)
				r.heap.Add(e, []string{"9"})
				r.tag.Add(e)
				if !had(i) {
					r.plain.Remove(e)
					r.sparse.Remove(e)
					r.heap.Remove(e)
					r.tag.Remove(e)
				}
			}
			clear(told)
			tracker := NewTracker(r.World, r.plain)
			gaining := slices.DeleteFunc(slices.Clone(es), func(e Entity) bool { return e.Slot()%3 == 0 })
			n.ways[way](gaining)
			r.checkInvariants()
			lacked := 0
			for i, e := range es {
				plain, sparse, heap, has := r.values(e)
				gains := e.Slot()%3 != 0
				switch {
				case had(i):
					if plain != 9 || sparse != 12 || len(heap) != 1 || has != 4 {
						t.Fatalf("%s to %s: entity %d has the values %d, %d and %v, want 9, 12 and [9]", way,
							n.Name(), i, plain, sparse, heap)
					}
				case gains:
					if lacked++; plain != 0 || sparse != 3 || heap != nil || has != 4 {
						t.Fatalf("%s to %s: entity %d has %d required components, want 4; the values are "+
							"%d, %d and %v, want 0, 3 and []", way, n.Name(), i, has, plain, sparse, heap)
					}
				case has != 0:
					t.Fatalf("%s to %s: entity %d has %d required components without a gain", way, n.Name(),
						i, has)
				}
				if n.column().has(e) != gains {
					t.Fatalf("%s to %s: entity %d has the component: %t, want %t", way, n.Name(), i,
						!gains, gains)
				}
			}
			want := map[string]int{"plain": lacked, "sparse": lacked, "heap": lacked, "tag": lacked}
			if fmt.Sprint(told) != fmt.Sprint(want) {
				t.Errorf("%s to %s: the numbers of OnAdd calls are %v, want %v", way, n.Name(), told, want)
			}
			if added := len(slices.Collect(tracker.Added(r.plain))); added != lacked {
				t.Errorf("%s to %s: the tracker noted %d gains, want %d", way, n.Name(), added, lacked)
			}

			// The entities have the component of n already, so no required component is added.
			r.plain.RemoveAll(r.Query())
			r.heap.RemoveAll(r.Query())
			n.ways[way](gaining)
			if got := r.plain.Len() + r.heap.Len(); got != 0 {
				t.Errorf("%s to %s without a gain adds %d required components", way, n.Name(), got)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestRequiredWaysAreComplete(t *testing.T) {
	r := newRequirements(Options{MaxEntities: 64})
	defer r.Close()
	for _, n := range r.needy {
		typ := reflect.TypeOf(n.AnyColumn)
		for i := range typ.NumMethod() {
			name := typ.Method(i).Name
			if strings.Contains(name, "Add") && name != "OnAdd" && n.ways[name] == nil {
				t.Errorf("no way calls %s of %s", name, typ)
			}
		}
	}
}

func TestRequiredComponentsAreBorn(t *testing.T) {
	for way, born := range map[string]func(w *World, a *Archetype) Entity{
		"New":     func(_ *World, a *Archetype) Entity { return a.New() },
		"NewSlot": func(_ *World, a *Archetype) Entity { return a.NewSlot().Entity() },
		"NewEach": func(_ *World, a *Archetype) (e Entity) {
			for _, s := range a.NewEach(3) {
				e = s.Entity()
			}
			return e
		},
		"NewN": func(_ *World, a *Archetype) (e Entity) {
			a.NewN(3, func(r Run) { e = r.Entity(0) })
			return e
		},
		"Commands.New": func(w *World, a *Archetype) Entity {
			cs := NewCommands(w, CommandsOptions{})
			defer cs.Close()
			e := cs.New(a)
			if _, err := w.Apply(cs); err != nil {
				t.Fatal(err)
			}
			return cs.Resolve(e)
		},
	} {
		r := newRequirements(Options{MaxEntities: 1 << 10})
		for _, n := range r.needy {
			a := r.Archetype(n)
			if r.Archetype(append(r.others, n)...) != a {
				t.Errorf("the archetype of %s differs from the archetype that names all columns", n.Name())
			}
			e := born(r.World, a)
			if _, _, _, has := r.values(e); has != 4 || !n.column().has(e) {
				t.Errorf("%s with %s: the entity has %d required components, want 4; it has the named "+
					"component: %t", way, n.Name(), has, n.column().has(e))
			}
		}
		r.checkInvariants()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRequirementsChain(t *testing.T) {
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		w := NewWorld(Options{})
		a, b, c := NewTag(w, "a"), NewTag(w, "b"), NewTag(w, "c")
		for _, i := range order {
			w.Require([]Tag{a, b}[i], []Tag{b, c}[i])
		}
		empty := w.Archetype()
		one, two, three := empty.New(), empty.New(), empty.New()
		a.Add(one)
		b.Add(two)
		c.Add(three)
		got := fmt.Sprint(a.Has(one), b.Has(one), c.Has(one), a.Has(two), b.Has(two), c.Has(two),
			a.Has(three), b.Has(three), c.Has(three))
		if got != "true true true false true true false false true" {
			t.Errorf("after calls of Require in the order %v, the entities have %s", order, got)
		}
		// A move must not add a required component that the entity has lost.
		hole := empty.New()
		last := empty.New()
		a.Add(last)
		b.Remove(last)
		w.Delete(hole)
		last = empty.Pack(MoveOptions{}).Resolve(last)
		if !a.Has(last) || b.Has(last) || !c.Has(last) {
			t.Errorf("after a move the entity has a: %t, b: %t, c: %t; want true, false, true", a.Has(last),
				b.Has(last), c.Has(last))
		}
		w.Regroup(w.Query(a).Without(b), MoveOptions{})
		if n := w.Query(a).Without(b).Count(); n != 1 {
			t.Errorf("after Regroup %d entities have a without b, want 1", n)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRequiredComponentsKeepPromises(t *testing.T) {
	limit := vm.NewLimit(1 << 30)
	w := NewWorld(Options{MaxEntities: 1 << 14, Limit: limit})
	defer w.Close()
	c, required := NewColumn[uint64](w), NewSparseColumn[kilobyte](w)
	w.Require(c, required)
	empty := w.Archetype()
	var es []Entity
	for _, s := range empty.NewEach(4000) {
		es = append(es, s.Entity())
	}
	if err := required.Grow(500); err != nil {
		t.Fatal(err)
	}
	if err := c.Grow(1000); err != nil {
		t.Fatal(err)
	}
	if used := limit.Used(); used < 1500<<10 {
		t.Fatalf("%d bytes are used, want room for 1,500 promised elements of 1 KiB", used)
	}
	w.checkInvariants()
	limit.SetMax(limit.Used())
	for _, e := range es[:500] {
		required.Add(e, kilobyte{})
	}
	for range 10_000 { // fill the last committed page
		if e := es[500]; panicOf(func() { required.Add(e, kilobyte{}) }) != nil {
			break
		}
		es = append(es[:500], es[501:]...)
	}
	for _, e := range es[500:1000] {
		c.Add(e, 1)
	}
	if n := c.column().promised; n != 500 {
		t.Errorf("%d promises are left, want 500", n)
	}
	if n := c.AddAll(w.Query().Among(es[1000:1500]), 1); n != 500 {
		t.Errorf("AddAll matched %d entities, want 500", n)
	}
	w.checkInvariants()
	if n := w.Query(c, required).Count(); n != 1000 || c.Len() != 1000 {
		t.Errorf("%d of %d entities have the required component, want 1000 of 1000", n, c.Len())
	}
	exhausted(t, func() error { c.AddAll(w.Query(), 1); return nil }, vm.ErrLimit, "")
	if err := c.Grow(100); !errors.Is(err, vm.ErrLimit) {
		t.Errorf("Grow at the limit returns %v, want ErrLimit", err)
	}
	limit.SetMax(1 << 30)
	if err := c.Grow(100); err != nil {
		t.Fatal(err)
	}
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	if c.column().promised != 0 || required.column().owed != 0 {
		t.Errorf("after Trim %d promises are left and %d elements are owed, want 0 and 0",
			c.column().promised, required.column().owed)
	}
	w.checkInvariants()
}

func TestRequiredRefusedChangesNothing(t *testing.T) {
	for _, way := range []string{"Add", "EditOrAdd", "AddAll", "Exchange", "AddValue", "AddLater"} {
		refused := 0
		for slack := 16 << 10; slack < 24<<20; slack += slack / 2 {
			limit := vm.NewLimit(1 << 30)
			w := NewWorld(Options{MaxEntities: 1 << 14, Limit: limit})
			plain, sparse := NewColumn[uint64](w), NewSparseColumn[kilobyte](w)
			n := needyOf(w, NewSparseColumn[[3]uint64](w))
			w.Require(n, plain, sparse)
			var es []Entity
			for _, s := range w.Archetype().NewEach(10_000) {
				es = append(es, s.Entity())
			}
			limit.SetMax(limit.Used() + slack)
			used, changes := limit.Used(), w.Changes()
			err, _ := panicOf(func() { n.ways[way](es) }).(error)
			if err != nil {
				if refused++; !errors.Is(err, vm.ErrLimit) {
					t.Fatalf("%s: %v", way, err)
				}
				bulk := way == "AddAll" || way == "Exchange"
				if bulk && (limit.Used() != used || w.Changes() != changes) {
					t.Fatalf("%s is refused with %d bytes left, but keeps %d bytes and makes %d changes", way,
						slack, limit.Used()-used, w.Changes()-changes)
				}
			}
			if k := n.column().len(); k != plain.Len() || k != sparse.Len() {
				t.Fatalf("%s with %d bytes left: %d entities have the component, and %d and %d have a "+
					"required component", way, slack, k, plain.Len(), sparse.Len())
			}
			w.checkInvariants()
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if refused == 0 {
			t.Errorf("%s was never refused", way)
		}
	}
}

func TestRequireMisuse(t *testing.T) {
	w, other := NewWorld(Options{Name: "w"}), NewWorld(Options{})
	defer other.Close()
	a, b, c := NewTag(w, "a"), NewTag(w, "b"), NewTag(w, "c")
	w.Require(a, b)
	w.Require(b, c)
	says(t, func() { w.Require(c, a) }, "World.Require",
		"column c would require itself, because a requires it", "leave one of the requirements out")
	says(t, func() { w.Require(a, a) }, "column a is named twice")
	says(t, func() { w.Require(a, nil) }, "was not made with NewColumn")
	says(t, func() { w.Require(a, NewTag(other, "x")) }, `column x belongs to world "world", not to "w"`)
	relation := NewRelation(w, "aims", RelationOptions{})
	says(t, func() { w.Require(a, relation) }, "aims holds links")
	says(t, func() { w.Require(relation, a) }, "aims holds links")
	says(t, func() { w.Require(a, NewEdges[uint64](w, "roads", EdgesOptions{})) }, "roads holds links")
	more := NewTag(w, "more")
	e := w.Archetype().New()
	a.Add(e)
	says(t, func() { w.Exchange(w.Query(), []AnyColumn{a}, []AnyColumn{c}) },
		"column c is in remove, and column a of add requires it", "in another call")
	says(t, func() { w.Require(c, more) }, "has 1 components already", "before the first entity gains one")
	w.DeleteAll(w.Query())
	w.Require(c, more)
	if x := w.Archetype(a); len(x.columns) != 4 {
		t.Errorf("the archetype has %d columns, want 4", len(x.columns))
	}
	says(t, func() { w.Require(c, NewTag(w, "yet more")) }, "an archetype has column",
		"before World.Archetype")
	more.OnAdd(func(Entity) { w.Require(NewTag(w, "late"), more) })
	says(t, func() { w.Archetype(a).New() },
		"World.Require was called while OnAdd of column more was running")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	says(t, func() { w.Require(a, b) }, "World.Require on the closed world")
}
