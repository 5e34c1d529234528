package vast

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/vm"
)

type deep1 struct{ A, B [2]struct{ C [3]uint16 } }
type deep2 struct{ D, E deep1 }
type deep3 struct{ F, G [2]deep2 }
type deep4 struct{ H, I, J deep3 }
type padded struct {
	A byte
	_ [0]uint64
	B byte
	_ struct{}
}

// oddStorage has the methods that Column, SparseColumn and HeapColumn share.
type oddStorage[T any] interface {
	ValueColumn[T]
	Add(Entity, T) *T
	AddAll(Query, T) int
	SetAll(Query, T) int
	RemoveAll(Query) int
	Remove(Entity) bool
	Set(Entity, T) bool
	Edit(Entity) *T
	AddLater(*Commands, Entity, T)
	SetLater(*Commands, Entity, T)
	Len() int
	Has(Entity) bool
	OnAdd(func(Entity, *T))
	OnRemove(func(Entity, *T))
}

// tryOddShape passes two values of a type through a Column, a SparseColumn and a HeapColumn. It also
// describes and prints the components.
func tryOddShape[T comparable](t *testing.T, zero, one T) {
	slots := 1 << 14
	if unsafe.Sizeof(zero) > 1<<16 {
		slots = 256
	}
	if vm.HeapStandIn() && unsafe.Sizeof(zero) > 1<<16 {
		return // NewColumn would allocate memory for all slots
	}
	for kind, newColumn := range map[string]func(w *World) oddStorage[T]{
		"Column":       func(w *World) oddStorage[T] { return NewColumn[T](w) },
		"SparseColumn": func(w *World) oddStorage[T] { return NewSparseColumn[T](w) },
		"HeapColumn":   func(w *World) oddStorage[T] { return NewHeapColumn[T](w) },
	} {
		t.Run(fmt.Sprintf("%T/%s", one, kind), func(t *testing.T) {
			w := NewWorld(Options{MaxEntities: slots})
			c, other := newColumn(w), NewTag(w, "other")
			gained, lost := 0, 0
			c.OnAdd(func(_ Entity, v *T) { gained++ })
			c.OnRemove(func(_ Entity, v *T) { lost++ })
			tracker := NewTracker(w, c)
			a, bare := w.Archetype(c), w.Archetype(other)
			n := slots / 4
			a.NewN(n, nil)
			bare.NewN(n, nil)
			born := slices.Collect(w.Query(c).All())
			if *c.Get(born[0]) != zero || *c.Get(born[n-1]) != zero || len(born) != n {
				t.Fatal("elements are not zero at birth")
			}
			e := bare.New()
			if p := c.Add(e, one); *p != one || !c.Set(e, zero) || *c.Get(e) != zero || !c.Set(e, one) {
				t.Fatal("Add or Set stores a wrong value")
			}
			v, ok := probed.Value(c, e)
			if !ok || v.Interface() != any(one) || !probed.SetValue(c, e, reflect.ValueOf(zero)) ||
				*c.Edit(e) != zero {
				t.Fatal("Value or SetValue is wrong")
			}
			if got := c.AddAll(w.Query(other), one); got != n+1 || c.Len() != 2*n+1 || *c.Get(e) != one {
				t.Fatalf("AddAll matches %d entities, and %d have the component", got, c.Len())
			}
			if c.SetAll(w.Query(c).Without(other), one) != n || *c.Get(born[n-1]) != one {
				t.Fatal("SetAll stores wrong values")
			}
			cs := NewCommands(w, CommandsOptions{})
			later := cs.New(bare)
			c.AddLater(cs, later, zero)
			c.SetLater(cs, later, one)
			if done, err := w.Apply(cs); err != nil || done.Done != 3 || *c.Get(cs.Resolve(later)) != one {
				t.Fatalf("Apply returns %+v, %v", done, err)
			}
			if w.Exchange(w.Query(other), nil, []AnyColumn{c}) != n+2 || c.Len() != n {
				t.Fatal("Exchange does not remove the components")
			}
			if w.Exchange(w.Query(other), []AnyColumn{c}, nil) != n+2 || *c.Get(e) != zero {
				t.Fatal("Exchange does not add zero components")
			}
			if got := len(slices.Collect(tracker.Added(c))); got != 2*n+2 {
				t.Fatalf("the tracker yields %d entities", got)
			}
			if err := w.Trim(); err != nil || *c.Get(born[1]) != one {
				t.Fatalf("Trim: %v", err)
			}
			text := w.Sprint(born[0])
			_, d := probed.Describe(c)
			if !strings.Contains(text, d.Name) || len(text) > 1000 {
				t.Errorf("Sprint returns %d bytes: %.200s", len(text), text)
			}
			if d.Type != reflect.TypeFor[T]() {
				t.Errorf("Describe returns %+v", d)
			}
			for range w.Query(c).Runs() {
			}
			CheckAreas(t, w)
			if s := probed.StatsOf(c); s.Entities != 2*n+2 {
				t.Errorf("stats: %+v", s)
			}
			w.checkInvariants()
			if !c.Remove(e) || c.RemoveAll(w.Query(other)) != n+1 || c.Len() != n || lost != 2*n+4 ||
				gained != lost+n {
				t.Errorf("%d components left, %d gained, %d lost", c.Len(), gained, lost)
			}
			w.DeleteAll(w.Query())
			w.checkInvariants()
			w.Reset()
			a.NewN(3, nil)
			if c.Len() != 3 || lost != gained-3 {
				t.Errorf("%d components after Reset, %d gained, %d lost", c.Len(), gained, lost)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestOddShapes(t *testing.T) {
	tryOddShape(t, struct{}{}, struct{}{})
	tryOddShape(t, [0]int{}, [0]int{})
	tryOddShape(t, [1 << 30]struct{}{}, [1 << 30]struct{}{})
	tryOddShape(t, [1 << 20][1 << 10]struct{}{}, [1 << 20][1 << 10]struct{}{})
	tryOddShape(t, padded{}, padded{A: 1, B: 2})
	tryOddShape(t, [3][4][5]uint16{}, [3][4][5]uint16{2: {3: {4: 9}}})
	tryOddShape(t, deep4{},
		deep4{H: deep3{F: [2]deep2{1: {E: deep1{B: [2]struct{ C [3]uint16 }{1: {C: [3]uint16{1, 2, 3}}}}}}}})
	tryOddShape(t, [3]byte{}, [3]byte{1, 2, 3})
	tryOddShape(t, [1 << 20]byte{}, [1 << 20]byte{0: 1, 1<<20 - 1: 2})
	tryOddShape(t, [100_003]byte{}, [100_003]byte{100_002: 2})
}

// TestManyColumns uses 300 columns. Several columns share a bit in the 64-bit masks of words.
func TestManyColumns(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 15})
	defer w.Close()
	var cols []Column[uint32]
	var columns []AnyColumn
	for i := range 300 {
		cols = append(cols, NewColumn[uint32](w).Named(fmt.Sprintf("c%d", i)))
		columns = append(columns, cols[i])
	}
	all := w.Archetype(columns...)
	e := all.New()
	var es []Entity
	for i := range 600 {
		e := w.Archetype(cols[i%300]).New()
		cols[(i+64)%300].Add(e, uint32(i))
		es = append(es, e)
	}
	if got := len(probed.ComponentsOf(w, e)); got != 300 {
		t.Errorf("the entity with all components has %d components", got)
	}
	if n := w.Query(columns...).Count(); n != 1 {
		t.Errorf("%d entities have all components", n)
	}
	// 5 of the 601 entities have column 7. 70 other entities have none of the columns 100 to 299.
	if n := w.Query().Any(columns[100:]...).Without(cols[7]).Count(); n != 601-5-70 {
		t.Errorf("%d entities have one of the last 200 columns and lack column 7, want 526", n)
	}
	if text := w.Sprint(e); !strings.Contains(text, "c0") || len(text) > 20_000 {
		t.Errorf("Sprint returns %d bytes", len(text))
	}
	parts := 0
	probed.Parts(w, func(AnyColumn, probing.Part) { parts++ })
	if parts < 600 || len(probed.Columns(w)) != 300 {
		t.Errorf("the world has %d parts and %d columns", parts, len(probed.Columns(w)))
	}
	w.checkInvariants()
	for i, e := range es {
		if *cols[(i+64)%300].Get(e) != uint32(i) {
			t.Fatalf("entity %d has a wrong value", i)
		}
		if i%2 == 0 {
			w.Delete(e)
		}
	}
	if n := w.Exchange(w.Query(), columns[:150], columns[150:]); n != 301 {
		t.Errorf("Exchange changed %d entities", n)
	}
	for i, c := range cols {
		if want := 301 * ((299 - i) / 150); c.Len() != want {
			t.Fatalf("%d entities have column %d, want %d", c.Len(), i, want)
		}
	}
	w.checkInvariants()
}

// TestHundredThousandArchetypes makes many archetypes with one entity each. It deletes half of the entities,
// and a new archetype takes over their slots.
func TestHundredThousandArchetypes(t *testing.T) {
	bits := longtest.Pick(10, 17)
	if vm.HeapStandIn() {
		bits = 10
	}
	w := NewWorld(Options{MaxEntities: 64 << bits})
	defer w.Close()
	var tags []Tag
	for i := range bits {
		tags = append(tags, NewTag(w, fmt.Sprint(i)))
	}
	var es []Entity
	for set := range 1 << bits {
		var cols []AnyColumn
		for i := range bits {
			if set>>i&1 != 0 {
				cols = append(cols, tags[i])
			}
		}
		es = append(es, w.Archetype(cols...).New())
	}
	if w.Len() != 1<<bits || w.Query(tags[0], tags[bits-1]).Count() != 1<<bits/4 ||
		w.Query(tags[1]).Without(tags[2]).Count() != 1<<bits/4 {
		t.Errorf("%d entities, %d with two tags", w.Len(), w.Query(tags[0], tags[bits-1]).Count())
	}
	if s := w.Stats(); len(s.Archetypes) != 1<<bits {
		t.Errorf("the statistics list %d archetypes", len(s.Archetypes))
	}
	exhausted(t, func() error { w.Archetype(NewTag(w, "more")).New(); return nil }, vm.ErrCapacity,
		"Options.MaxEntities")
	for i, e := range es {
		if i%2 == 1 {
			w.Delete(e)
		}
	}
	more := w.Archetype(tags[0], NewTag(w, "late"))
	more.NewN(32<<bits, nil) // takes the slots of archetypes without entities
	if w.Len() != 1<<bits/2+32<<bits {
		t.Errorf("%d entities, want %d", w.Len(), 1<<bits/2+32<<bits)
	}
	w.DeleteAll(w.Query(tags[0]))
	if err := w.Trim(); err != nil || w.Len() != 1<<bits/2 {
		t.Errorf("%d entities after DeleteAll, want %d; Trim returns %v", w.Len(), 1<<bits/2, err)
	}
	w.checkInvariants()
}
