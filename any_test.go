package vast

import (
	"slices"
	"testing"
)

func TestAny(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 14})
	defer w.Close()
	a, b, c, d := anotherColumn[uint32](w), anotherColumn[uint32](w), NewColumn[struct{}](w),
		NewColumn[byte](w)
	var es []Entity
	for i := range 10_000 {
		e := w.Archetype(a).New()
		if i%2 == 0 {
			b.Add(e, 0)
		}
		if i%3 == 0 {
			c.Add(e, struct{}{})
		}
		if i < 100 && i%5 == 0 {
			d.Add(e, 1) // d commits memory only for the first slots
		}
		es = append(es, e)
	}
	multipleOf := func(n int) func(int) bool { return func(i int) bool { return i%n == 0 } }
	hasB, hasC := multipleOf(2), multipleOf(3)
	hasD := func(i int) bool { return i < 100 && i%5 == 0 }
	for _, tt := range []struct {
		name  string
		q     Query
		match func(i int) bool
	}{
		{"a and (b or c)", w.Query(a).Any(b, c), func(i int) bool { return hasB(i) || hasC(i) }},
		{"b or c", w.Query().Any(b, c), func(i int) bool { return hasB(i) || hasC(i) }},
		{"b or d", w.Query().Any(b, d), func(i int) bool { return hasB(i) || hasD(i) }},
		{"d", w.Query().Any(d), hasD},
		{"a and c", w.Query(a).Any(c), hasC},
		{"a or b", w.Query().Any(a, b), func(i int) bool { return true }},
		{"b and (c or d)", w.Query(b).Any(c, d),
			func(i int) bool { return hasB(i) && (hasC(i) || hasD(i)) }},
		{"(b or c) and (c or d)", w.Query().Any(b, c).Any(c, d),
			func(i int) bool { return hasC(i) || hasB(i) && hasD(i) }},
		{"a and (b or d), without c", w.Query(a).Any(b, d).Without(c),
			func(i int) bool { return (hasB(i) || hasD(i)) && !hasC(i) }},
		{"a without c, and (b or d)", w.Query(a).Without(c).Any(b, d),
			func(i int) bool { return (hasB(i) || hasD(i)) && !hasC(i) }},
	} {
		var want []Entity
		for i, e := range es {
			if tt.match(i) {
				want = append(want, e)
			}
		}
		if got := slices.Collect(tt.q.All()); !slices.Equal(got, want) {
			t.Errorf("%s: %d entities, want %d", tt.name, len(got), len(want))
		}
		if n := tt.q.Count(); n != len(want) {
			t.Errorf("%s: Count is %d, want %d", tt.name, n, len(want))
		}
	}
	// Queries that derive from one query do not affect each other.
	base := w.Query(a).Any(b, c)
	first, second := base.Any(c, d), base.Any(d)
	wantFirst := len(entitiesOf(w.Query(c))) + 6
	if base.Count() != 6667 || first.Count() != wantFirst || second.Count() != 13 {
		t.Errorf("base matches %d entities, want 6667; first %d, want %d; second %d, want 13", base.Count(),
			first.Count(), wantFirst, second.Count())
	}
}

func TestAnyIllFormed(t *testing.T) {
	w, abroad := NewWorld(Options{Name: "home", MaxEntities: 64}),
		NewWorld(Options{Name: "abroad", MaxEntities: 64})
	defer w.Close()
	defer abroad.Close()
	pos, vel, foreign := NewColumn[position](w), NewColumn[velocity](w), NewColumn[uint64](abroad)
	q := w.Query(pos)
	for _, tt := range []struct {
		f    func()
		says string
	}{
		{func() { Query{}.Any(pos) }, "zero Query"},
		{func() { q.Any() }, "Query.Any: no column is given: name at least one"},
		{func() { q.Any(vel, pos) }, "Query.Any: the query asks for position"},
		{func() { q.Any(vel, vel) }, "Query.Any: column velocity is named twice"},
		{func() { q.Any(vel, nil) }, "Query.Any: column 2 was not made with NewColumn"},
		{func() { q.Any(foreign) }, `Query.Any: column uint64 belongs to world "abroad", not to "home"`},
		{func() { q.Without(vel).Any(vel) }, "Query.Any: the query leaves velocity out"},
		{func() { q.Any(vel).Without(vel) },
			"Query.Without: the query leaves velocity out and names it in Any"},
	} {
		says(t, tt.f, tt.says)
	}
	w.Close()
	says(t, func() { q.Any(vel) }, "Query.Any on the closed world")
}
