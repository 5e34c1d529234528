package vast

import (
	"fmt"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

func TestBulk(t *testing.T) {
	for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesSmall, vm.PagesHuge, vm.PagesHeap} {
		t.Run(pages.String(), func(t *testing.T) { testBulk(t, pages) })
	}
}

func testBulk(t *testing.T, pages vm.Pages) {
	const n = 1 << 14
	w := NewWorld(Options{MaxEntities: n, Pages: pages})
	defer w.Close()
	a, b, c := NewColumn[uint64](w), NewColumn[[3]uint64](w), NewColumn[struct{}](w)
	w.Archetype(a).NewN(n, nil)
	es := entitiesOf(w.Query())
	for i, e := range es {
		if i%3 == 0 {
			c.Add(e, struct{}{})
		}
	}
	third := (n + 2) / 3
	check := func(what string, got, want int, changes uint64, members int,
		value func(i int) ([3]uint64, bool)) {
		t.Helper()
		if got != want {
			t.Errorf("%s returns %d, want %d", what, got, want)
		}
		if w.changes != changes {
			t.Errorf("%s: %d changes, want %d", what, w.changes, changes)
		}
		if b.Len() != members {
			t.Errorf("%s: the column has %d entities, want %d", what, b.Len(), members)
		}
		for i, e := range es {
			want, has := value(i)
			if p := b.Get(e); (p != nil) != has || p != nil && *p != want {
				t.Fatalf("%s: entity %d has %v, want %v, %v", what, i, p, want, has)
			}
		}
		w.checkInvariants()
	}
	changes := w.changes
	v := [3]uint64{1, 2, 3}
	got := b.AddAll(w.Query(c), v)
	changes += uint64(third)
	check("AddAll to a third", got, third, changes, third,
		func(i int) ([3]uint64, bool) { return v, i%3 == 0 })
	got = b.AddAll(w.Query(c), [3]uint64{4})
	check("AddAll again overwrites", got, third, changes, third,
		func(i int) ([3]uint64, bool) { return [3]uint64{4}, i%3 == 0 })
	got = b.SetAll(w.Query(), [3]uint64{5})
	check("SetAll of components", got, third, changes, third,
		func(i int) ([3]uint64, bool) { return [3]uint64{5}, i%3 == 0 })
	got = b.SetAll(w.Query(a).Without(b), [3]uint64{6})
	check("SetAll of missing components", got, 0, changes, third,
		func(i int) ([3]uint64, bool) { return [3]uint64{5}, i%3 == 0 })
	// The query excludes the column that AddAll adds. It matches the entities as they were before the call.
	got = b.AddAll(w.Query(a).Without(b), v)
	changes += uint64(n - third)
	mixed := func(i int) ([3]uint64, bool) {
		if i%3 == 0 {
			return [3]uint64{5}, true
		}
		return v, true
	}
	check("AddAll to the others", got, n-third, changes, n, mixed)
	got = b.RemoveAll(w.Query(a).Without(b))
	check("RemoveAll of missing components", got, 0, changes, n, mixed)
	got = b.RemoveAll(w.Query(b, c))
	changes += uint64(third)
	check("RemoveAll from a third", got, third, changes, n-third,
		func(i int) ([3]uint64, bool) { return v, i%3 != 0 })
	got = b.RemoveAll(w.Query())
	changes += uint64(n - third)
	check("RemoveAll", got, n-third, changes, 0, func(i int) ([3]uint64, bool) { return v, false })
	b.AddAll(w.Query(), v)
	if k := w.DeleteAll(w.Query(c)); k != third || b.Len() != n-third {
		t.Errorf("%d entities deleted, want %d; %d left in b, want %d", k, third, b.Len(), n-third)
	}
	for i, e := range es {
		if i%3 != 0 {
			w.Delete(e)
		}
	}
	if b.Len() != 0 || w.Len() != 0 {
		t.Errorf("%d entities in b and %d in the world after all were deleted", b.Len(), w.Len())
	}
	if b.AddAll(w.Query(), v)+b.SetAll(w.Query(), v)+b.RemoveAll(w.Query()) != 0 {
		t.Error("bulk operations match entities in an empty world")
	}
	w.checkInvariants()
}

func TestBulkOfExtremeSizes(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 64})
	defer w.Close()
	tag, big := NewColumn[struct{}](w), NewColumn[[1 << 20]byte](w)
	w.Archetype().NewN(60, nil)
	if n := tag.AddAll(w.Query(), struct{}{}); n != 60 || tag.Len() != 60 ||
		tag.SetAll(w.Query(), struct{}{}) != 60 {
		t.Errorf("AddAll returns %d and Len returns %d, want 60", n, tag.Len())
	}
	if longtest.Race {
		return // with the race detector, the big column would lie on the Go heap
	}
	first, _ := w.Query().First()
	tag.Remove(first)
	tag.RemoveAll(w.Query())
	tag.Add(first, struct{}{})
	var v [1 << 20]byte
	v[1<<20-1] = 7
	if n := big.AddAll(w.Query(tag), v); n != 1 || big.Get(first)[1<<20-1] != 7 ||
		big.RemoveAll(w.Query()) != 1 {
		t.Errorf("AddAll of 1 MiB returns %d, want 1", n)
	}
	w.checkInvariants()
}

// TestManyColumnsInBulk makes so many columns that several columns share a bit in the mask of a word.
func TestManyColumnsInBulk(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 256})
	defer w.Close()
	var cs []Column[uint16]
	for range 200 {
		cs = append(cs, anotherColumn[uint16](w))
	}
	w.Archetype(cs[3]).NewN(200, nil)
	q := w.Query(cs[3])
	for i, c := range cs {
		if i%7 == 3 {
			c.AddAll(q, uint16(i))
		}
	}
	w.checkInvariants()
	for e := range q.All() {
		for i, c := range cs {
			if p := c.Get(e); (p != nil) != (i%7 == 3) || p != nil && *p != uint16(i) {
				t.Fatalf("column %d of %v: %v", i, e, p)
			}
		}
	}
	w.DeleteAll(q)
	for i, c := range cs {
		if c.Len() != 0 {
			t.Errorf("column %d has %d entities in an empty world", i, c.Len())
		}
	}
	w.checkInvariants()
}

func TestExchange(t *testing.T) {
	const n = 5000
	w := NewWorld(Options{MaxEntities: 1 << 13})
	defer w.Close()
	a, b, c, d := anotherColumn[uint64](w), anotherColumn[uint64](w), NewColumn[[3]byte](w),
		NewColumn[uint16](w)
	w.Archetype(a).NewN(n, nil)
	es := entitiesOf(w.Query())
	for i, e := range es {
		*a.Get(e) = uint64(i)
		if i%4 == 0 {
			b.Add(e, 7)
			b.Remove(e) // leaves a value in memory that must stay invisible
		}
		if i%5 == 0 {
			b.Add(e, 9)
		}
		if i%3 == 0 {
			c.Add(e, [3]byte{1})
		}
	}
	changes := w.changes
	// The query excludes a column that Exchange adds and requires a column that Exchange removes.
	got := w.Exchange(w.Query(a).Without(d), []AnyColumn{b, d}, []AnyColumn{c, a})
	third, fifth := (n+2)/3, n/5
	if want := uint64(n - fifth + n + third + n); got != n || w.changes-changes != want {
		t.Errorf("%d entities and %d changes, want %d and %d", got, w.changes-changes, n, want)
	}
	for i, e := range es {
		want := uint64(0)
		if i%5 == 0 {
			want = 9
		}
		if b.Get(e) == nil || *b.Get(e) != want || d.Get(e) == nil || *d.Get(e) != 0 || a.Has(e) || c.Has(e) {
			t.Fatalf("entity %d: %v %v, %v %v", i, b.Get(e), d.Get(e), a.Has(e), c.Has(e))
		}
	}
	w.checkInvariants()
	changes = w.changes
	if k := w.Exchange(w.Query(b), nil, nil); k != n || w.changes != changes {
		t.Errorf("exchanging nothing: %d entities, %d changes", k, w.changes-changes)
	}
}

func TestBulkRefused(t *testing.T) {
	for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesSmall} {
		limit := vm.NewLimit(4 << 20)
		w := NewWorld(Options{MaxEntities: 1 << 14, Limit: limit, Pages: pages})
		a, big, tag := NewColumn[uint64](w), NewColumn[kilobyte](w), NewColumn[[8]uint64](w)
		w.Archetype(a).NewN(1<<14, nil)
		es := entitiesOf(w.Query())
		big.Add(es[0], kilobyte{1})
		q := w.Query(a)
		used, before := limit.Used(), fmt.Sprint(w.Stats())
		exhausted(t, func() error { big.AddAll(q, kilobyte{}); return nil }, vm.ErrLimit, "limit")
		exhausted(t, func() error { w.Exchange(q, []AnyColumn{tag, big}, []AnyColumn{a}); return nil },
			vm.ErrLimit, "limit")
		if after := fmt.Sprint(w.Stats()); after != before || limit.Used() != used {
			t.Errorf("%v: a failed bulk operation changed the world; %d bytes more are in use:\n%s\n%s",
				pages, limit.Used()-used, before, after)
		}
		w.checkInvariants()
		few := NewColumn[byte](w)
		for _, e := range es[:200] {
			few.Add(e, 1)
		}
		if n := big.AddAll(w.Query(few), kilobyte{2}); n != 200 || big.Get(es[199])[0] != 2 ||
			big.Has(es[200]) {
			t.Errorf("%v: AddAll to 200 entities returns %d", pages, n)
		}
		w.checkInvariants()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBulkMisuse(t *testing.T) {
	w, abroad := NewWorld(Options{Name: "home", MaxEntities: 64}),
		NewWorld(Options{Name: "abroad", MaxEntities: 64})
	defer w.Close()
	defer abroad.Close()
	pos, vel, foreign := NewColumn[position](w), NewColumn[velocity](w), NewColumn[uint64](abroad)
	w.Archetype(pos).NewN(3, nil)
	q, theirs := w.Query(pos), abroad.Query(foreign)
	changes := w.changes
	for _, tt := range []struct {
		f    func()
		says string
	}{
		{func() { pos.AddAll(theirs, position{}) }, "Column.AddAll: the query belongs to another world"},
		{func() { pos.SetAll(theirs, position{}) }, "Column.SetAll: the query belongs to another world"},
		{func() { pos.RemoveAll(theirs) }, "Column.RemoveAll: the query belongs to another world"},
		{func() { pos.AddAll(Query{}, position{}) }, "zero Query"},
		{func() { pos.RemoveAll(Query{}) }, "zero Query"},
		{func() { Column[velocity]{}.AddAll(q, velocity{}) },
			"Column.AddAll: the column was not made with NewColumn"},
		{func() { w.Exchange(theirs, nil, nil) }, "World.Exchange: the query belongs to another world"},
		{func() { w.Exchange(Query{}, nil, nil) }, "zero Query"},
		{func() { w.Exchange(q, []AnyColumn{vel, vel}, nil) },
			"World.Exchange: column velocity is named twice"},
		{func() { w.Exchange(q, []AnyColumn{foreign}, nil) },
			"World.Exchange: column uint64 belongs to world"},
		{func() { w.Exchange(q, []AnyColumn{vel, pos}, []AnyColumn{pos}) },
			"column position is in add and in remove"},
	} {
		says(t, tt.f, tt.says)
	}
	if w.changes != changes {
		t.Error("misuse changed the world")
	}
	for name, f := range map[string]func(){
		"Column.AddAll":    func() { vel.AddAll(q, velocity{}) },
		"World.Exchange":   func() { w.Exchange(q, []AnyColumn{pos}, []AnyColumn{vel}) },
		"Column.RemoveAll": func() { pos.RemoveAll(q) },
	} {
		w.Exchange(w.Query(), []AnyColumn{pos}, []AnyColumn{vel})
		if name == "World.Exchange" {
			vel.AddAll(q, velocity{})
		}
		says(t, func() {
			for range q.All() {
				f()
			}
		}, "while a query was running, by "+name)
	}
	// Writing values in bulk is not a structural change.
	pos.AddAll(w.Query(), position{})
	for e := range q.All() {
		if pos.SetAll(q, position{1, float64(e.Slot())}) != 3 || pos.AddAll(q, position{2, 3}) != 3 {
			t.Error("SetAll or AddAll did not write all 3 components")
		}
	}
	w.Close()
	says(t, func() { pos.AddAll(q, position{}) }, "Column.AddAll on the closed world")
	says(t, func() { pos.SetAll(q, position{}) }, "Column.SetAll on the closed world")
	says(t, func() { pos.RemoveAll(q) }, "Column.RemoveAll on the closed world")
	says(t, func() { w.Exchange(q, nil, nil) }, "World.Exchange on the closed world")
}
