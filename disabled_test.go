package vast

import (
	"slices"
	"testing"
)

// disabledWorld has entities with one column, a tag "odd" for every second entity, and two Disabled: off
// switches entities off, and mute switches the column off.
type disabledWorld struct {
	*World
	c         Column[uint64]
	odd       Tag
	off, mute Disabled
	es        []Entity
}

func newDisabledWorld(t testing.TB, n int) *disabledWorld {
	w := NewWorld(Options{MaxEntities: 1 << 16})
	t.Cleanup(func() { w.Close() })
	d := &disabledWorld{World: w, c: NewColumn[uint64](w), odd: NewTag(w, "odd")}
	d.off, d.mute = NewDisabled(w, "off"), NewDisabled(w, "mute", d.c)
	w.Archetype(d.c).NewN(n, func(r Run) {
		for i, e := range r.All() {
			d.c.Slice(r)[i] = uint64(len(d.es))
			d.es = append(d.es, e)
		}
	})
	for i := 1; i < n; i += 2 {
		d.odd.Add(d.es[i])
	}
	return d
}

// numbersOf returns the indices of a query's entities in d.es.
func (d *disabledWorld) numbersOf(q Query) (numbers []int) {
	for e := range q.All() {
		numbers = append(numbers, slices.Index(d.es, e))
	}
	return numbers
}

func (d *disabledWorld) mustMatch(t *testing.T, what string, q Query, want ...int) {
	t.Helper()
	if got := d.numbersOf(q); !slices.Equal(got, want) {
		t.Errorf("%s matches %v, want %v", what, got, want)
	}
	if q.Count() != len(want) {
		t.Errorf("%s: Count is %d, want %d", what, q.Count(), len(want))
	}
}

func TestDisabledRoles(t *testing.T) {
	d := newDisabledWorld(t, 6)
	d.off.Disable(d.es[1])
	d.off.Disable(d.es[4])
	w := d.World
	for _, tt := range []struct {
		what string
		q    Query
		want []int
	}{
		{"Query", w.Query(), []int{0, 2, 3, 5}},
		{"Query of a column", w.Query(d.c), []int{0, 2, 3, 5}},
		{"Without another tag", w.Query().Without(d.odd), []int{0, 2}},
		{"Query of the Disabled", w.Query(d.off), []int{1, 4}},
		{"Query of both", w.Query(d.odd, d.off), []int{1}},
		{"Any", w.Query(d.c).Any(d.off, d.odd), []int{1, 3, 4, 5}},
		{"Optional", w.Query(d.c).Optional(d.off), []int{0, 1, 2, 3, 4, 5}},
		{"Without", w.Query(d.c).Without(d.off), []int{0, 2, 3, 5}},
		{"Among", w.Query().Among(d.es[:3]), []int{0, 2}},
		{"Between", w.Query().Between(1, 4), []int{2, 3}},
		{"Exactly", w.Query(d.c).Exactly(), []int{0, 2}},
		{"Exactly with Optional", w.Query(d.c).Optional(d.off).Exactly(), []int{0, 2, 4}},
	} {
		d.mustMatch(t, tt.what, tt.q, tt.want...)
	}
	if w.Len() != 6 || d.off.Len() != 2 || !w.Alive(d.es[1]) || *d.c.Get(d.es[1]) != 1 {
		t.Error("a disabled entity does not live on with its components")
	}
	// Optional cuts the runs: the entities of a run are either all disabled or all enabled.
	var lens []int
	for r := range w.Query(d.c).Optional(d.off).Runs() {
		lens = append(lens, r.Len())
		if d.off.In(r) != d.off.Has(r.Entity(0)) {
			t.Errorf("In returns %v", d.off.In(r))
		}
	}
	if !slices.Equal(lens, []int{1, 1, 2, 1, 1}) {
		t.Errorf("the runs have %v entities", lens)
	}
	d.off.EnableAt(Slot{d.es[1].slot, w})
	if d.off.Has(d.es[1]) || d.off.Enable(d.es[1]) || !d.off.Enable(d.es[4]) {
		t.Error("Has or Enable returns the wrong result")
	}
	d.mustMatch(t, "after Enable", w.Query(), 0, 1, 2, 3, 4, 5)
}

func TestDisabledColumn(t *testing.T) {
	d := newDisabledWorld(t, 5)
	w := d.World
	hush := NewDisabled(w, "hush", d.c, d.odd)
	d.mute.Disable(d.es[0])
	d.mute.Disable(d.es[1])
	hush.Disable(d.es[1])
	hush.Disable(d.es[3])
	for _, tt := range []struct {
		what string
		q    Query
		want []int
	}{
		{"Query()", w.Query(), []int{0, 1, 2, 3, 4}},
		{"Query(c)", w.Query(d.c), []int{2, 4}},
		{"Query(odd)", w.Query(d.odd), nil},
		{"Without(c)", w.Query().Without(d.c), []int{0, 1, 3}},
		{"Without(odd)", w.Query().Without(d.odd), []int{0, 1, 2, 3, 4}},
		{"Any(c)", w.Query().Any(d.c), []int{2, 4}},
		{"Any(c, odd)", w.Query().Any(d.c, d.odd), []int{2, 4}},
		{"Any(odd, mute)", w.Query().Any(d.odd, d.mute), []int{0, 1}},
		{"Optional(c)", w.Query().Optional(d.c), []int{0, 1, 2, 3, 4}},
		{"Query(mute)", w.Query(d.mute), []int{0, 1}},
		{"Query(c, mute)", w.Query(d.c, d.mute), nil},
		{"Query(mute).Optional(c)", w.Query(d.mute).Optional(d.c), []int{0, 1}},
		{"Query(c).Optional(mute)", w.Query(d.c).Optional(d.mute), []int{2, 4}},
		{"Query(mute).Without(hush)", w.Query(d.mute).Without(hush), []int{0}},
		{"Exactly", w.Query().Exactly(), nil},
		{"Exactly with Optional", w.Query().Optional(d.c).Exactly(), []int{0, 2, 4}},
		{"lifted", w.Query(d.c).lift("Query"), []int{0, 1, 2, 3, 4}},
	} {
		d.mustMatch(t, tt.what, tt.q, tt.want...)
	}
	s := Slot{d.es[1].slot, w}
	if *d.c.Get(d.es[1]) != 1 || !d.c.Has(d.es[1]) || *d.c.At(s) != 1 || *d.c.TryAt(s) != 1 {
		t.Error("a component that is switched off is not found")
	}
	for r := range w.Query(d.mute).Optional(d.c).Runs() {
		if len(d.c.TrySlice(r)) != 2 {
			t.Errorf("TrySlice returns %d components, want 2", len(d.c.TrySlice(r)))
		}
	}
	hush.Enable(d.es[1])
	d.mustMatch(t, "Query(c) after one of two tags is gone", w.Query(d.c), 2, 4)
	d.mute.Enable(d.es[1])
	d.mustMatch(t, "Query(c) after both tags are gone", w.Query(d.c), 1, 2, 4)
}

// TestDisabledLinks: a relation that is switched off counts as absent in To.
func TestDisabledLinks(t *testing.T) {
	d := newDisabledWorld(t, 4)
	child := NewRelation(d.World, "childOf", RelationOptions{})
	loose := NewDisabled(d.World, "loose", child)
	for _, e := range d.es[1:] {
		child.Set(e, d.es[0])
	}
	loose.Disable(d.es[2])
	of := d.Query(d.c).To(child, d.es[0])
	d.mustMatch(t, "To", of, 1, 3)
	d.mustMatch(t, "To and Between", of.Between(0, 1000), 1, 3)
	d.mustMatch(t, "Without", d.Query().Without(child), 0, 2)
	d.off.Disable(d.es[3])
	d.mustMatch(t, "To after Disable", of, 1)
	if target, ok := child.Target(d.es[2]); !ok || target != d.es[0] || child.CountSources(d.es[0]) != 3 {
		t.Error("a link that is switched off is lost")
	}
	var yielded []int
	for r := range child.InDepthOrder(d.Query(d.c)) {
		for _, e := range r.All() {
			yielded = append(yielded, slices.Index(d.es, e))
		}
	}
	if !slices.Equal(yielded, []int{1, 2}) { // the query does not name the relation
		t.Errorf("InDepthOrder yields %v, want [1 2]", yielded)
	}
}

// TestDisabledAfterQueries: a new Disabled applies also to queries, batches and orders that were made before
// NewDisabled.
func TestDisabledAfterQueries(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 12})
	defer w.Close()
	all := w.Query()
	c, tag := NewColumn[uint64](w), NewTag(w, "tag")
	child := NewRelation(w, "childOf", RelationOptions{})
	d := disabledWorld{World: w, c: c}
	w.Archetype(c, tag).NewN(200, func(r Run) {
		for _, e := range r.All() {
			d.es = append(d.es, e)
		}
	})
	for _, e := range d.es[1:] {
		child.Set(e, d.es[0])
	}
	tracker := NewTracker(w, c)
	for _, e := range d.es {
		c.Set(e, 1)
	}
	queries := []Query{all, w.Query(c), w.Query(child).Any(c, tag), w.Query().Among(d.es),
		w.Query(c).Between(0, 1000), w.Query(tag).Optional(c), w.Query(c, tag).Exactly().Optional(child),
		w.Query().Changed(c, tracker), w.Query(child).To(child, d.es[0])}
	for i, q := range queries {
		if n := q.Count(); n != 200 && !(n == 199 && (i == 2 || i == len(queries)-1)) {
			t.Fatalf("query %d matches %d entities before NewDisabled", i, n)
		}
	}
	batches := slices.Collect(w.Query(c).Batches(64))
	order := NewOrder(w.Query(c), c, func(n *uint64) uint64 { return *n })
	off := NewDisabled(w, "off")
	for _, e := range d.es[1:] {
		off.Disable(e)
	}
	for i, q := range queries {
		want := d.es[:1]
		if i == 2 || i == len(queries)-1 { // the first entity has no target
			want = nil
		}
		runs := []Entity{}
		for r := range q.Runs() {
			runs = append(runs, r.Entity(0))
		}
		if got := slices.Collect(q.All()); !slices.Equal(got, want) || !slices.Equal(runs, want) ||
			q.Count() != len(want) {
			t.Errorf("query %d matches %v, and %d entities according to Count, want %v", i, got, q.Count(),
				want)
		}
		if got := slices.Collect(q.Between(0, 5000).All()); !slices.Equal(got, want) {
			t.Errorf("query %d with Between matches %v, want %v", i, got, want)
		}
	}
	n := 0
	for _, b := range batches {
		n += len(slices.Collect(b.All()))
	}
	for range order.Ascending() {
		n++
	}
	if n != 2 {
		t.Errorf("the batches and the order yield %d entities, want 1 each", n)
	}
	mute := NewDisabled(w, "mute", c)
	mute.Disable(d.es[0])
	if n := queries[1].Count(); n != 0 {
		t.Errorf("after a second NewDisabled the query matches %d entities, want 0", n)
	}
	for _, q := range queries[:2] {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		says(t, func() { q.Count() }, "Query on the closed world")
	}
}

func TestDisabledMisuse(t *testing.T) {
	d := newDisabledWorld(t, 10)
	other := newDisabledWorld(t, 10)
	dead := Slot{d.es[3].slot, d.World}
	d.Delete(d.es[3])
	for want, f := range map[string]func(){
		"make one with NewDisabled":                func() { Disabled{}.Disable(d.es[0]) },
		"has a tag \"off\" already":                func() { NewDisabled(d.World, "off") },
		"has a tag \"mute\" already":               func() { NewTag(d.World, "mute") },
		"belongs to a Disabled itself":             func() { NewDisabled(d.World, "x", d.mute) },
		"column odd belongs to":                    func() { NewDisabled(d.World, "x", other.odd) },
		"is named twice":                           func() { NewDisabled(d.World, "x", d.c, d.c) },
		"disabling an entity calls no hooks":       func() { d.off.OnAdd(func(Entity) {}) },
		"OnRemove: mute is a Disabled":             func() { d.mute.Tag.OnRemove(func(Entity) {}) },
		"disabling an entity adds no components":   func() { d.Require(d.off, d.odd) },
		"DisableAt: a slot of [3, 4) holds no":     func() { d.off.DisableAt(dead) },
		"EnableAt: a slot of [3, 4) holds no":      func() { d.off.EnableAt(dead) },
		"DisableRun: a slot of [0, 10) holds no":   func() { d.off.DisableRun(Run{0, 10, d.World}) },
		"EnableRun: a slot of [60, 7000) holds no": func() { d.off.EnableRun(Run{60, 6940, d.World}) },
		"DisableAt: tag off belongs to world":      func() { d.off.DisableAt(Slot{1, other.World}) },
		"EnableRun: tag off belongs to world":      func() { d.off.EnableRun(Run{1, 1, other.World}) },
		"the query leaves off out and names it":    func() { d.Query().Without(d.off).Optional(d.off) },
	} {
		says(t, f, want)
	}
	if d.off.Disable(d.es[3]) || d.off.Enable(d.es[3]) || d.off.Has(d.es[3]) || d.off.Disable(Entity{}) {
		t.Error("a stale entity is disabled or enabled")
	}
	d.off.DisableRun(Run{})
	d.checkInvariants()
	d.World.Close()
	says(t, func() { d.off.Disable(d.es[0]) }, "Disabled.Disable on the closed world")
	says(t, func() { d.off.DisableAt(dead) }, "Disabled.DisableAt on the closed world")
	says(t, func() { NewDisabled(d.World, "y") }, "NewDisabled on the closed world")
	if d.off.Enable(d.es[0]) || d.off.Has(d.es[0]) || d.off.HasAt(dead) || d.off.In(Run{0, 1, d.World}) {
		t.Error("a closed world has disabled entities")
	}
}

// TestDisabledRequired: a component may require the tag; an entity that gains the component is then disabled.
func TestDisabledRequired(t *testing.T) {
	d := newDisabledWorld(t, 5)
	late := NewColumn[uint16](d.World)
	d.Require(late, d.off)
	late.Add(d.es[2], 1)
	late.AddAll(d.Query().Between(3, 4), 1)
	d.mustMatch(t, "Query", d.Query(), 0, 1, 4)
}
