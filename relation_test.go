package vast

import (
	"fmt"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

func entitiesIn(a *Archetype, n int) (es []Entity) {
	a.NewN(n, func(run Run) {
		for i := range run.Len() {
			es = append(es, run.Entity(i))
		}
	})
	return es
}

func TestDeepChain(t *testing.T) {
	n := longtest.Pick(20_000, 200_000)
	for _, upwards := range []bool{false, true} {
		w := NewWorld(Options{MaxEntities: n})
		childOf := NewRelation(w, "ChildOf", RelationOptions{OnDelete: Cascade})
		es := entitiesIn(w.Archetype(), n)
		if upwards {
			for i := n - 1; i > 0; i-- {
				childOf.Set(es[i], es[i-1])
			}
		} else {
			for i := 1; i < n; i++ {
				childOf.Set(es[i], es[i-1])
			}
		}
		w.checkInvariants()
		if d := childOf.Depth(es[n-1]); d != n-1 {
			t.Errorf("the last entity is at depth %d, want %d", d, n-1)
		}
		if d := childOf.Depth(es[63]); d != 63 {
			t.Errorf("entity 63 is at depth %d, want 63", d)
		}
		if root := childOf.Root(es[n-1]); root != es[0] {
			t.Errorf("the root is %v, want %v", root, es[0])
		}
		if down := slices.Collect(childOf.Descendants(es[0])); !slices.Equal(down, es[1:]) {
			t.Errorf("Descendants yields %d entities, want %d in the order of the chain", len(down), n-1)
		}
		at := 1
		for run := range childOf.InDepthOrder(w.Query()) {
			if run.Len() != 1 || run.Entity(0) != es[at] {
				t.Fatalf("a run of %d entities begins with %v, want one entity %v", run.Len(), run.Entity(0),
					es[at])
			}
			at++
		}
		if at != n {
			t.Errorf("InDepthOrder yields %d entities, want %d", at-1, n-1)
		}
		childOf.Remove(es[40])
		w.checkInvariants()
		if d := childOf.Depth(es[n-1]); d != n-1-40 {
			t.Errorf("after Remove the last entity is at depth %d, want %d", d, n-41)
		}
		if !w.Delete(es[40]) || w.Len() != 40 {
			t.Errorf("%d entities are left, want 40", w.Len())
		}
		w.checkInvariants()
		w.Close()
	}
}

func TestDeepOrphans(t *testing.T) {
	const n = 10_000
	for _, exchange := range []bool{false, true} {
		w := NewWorld(Options{MaxEntities: n})
		childOf, odd := NewRelation(w, "ChildOf", RelationOptions{}), NewTag(w, "odd")
		es := entitiesIn(w.Archetype(), n)
		for i := 1; i < n; i++ {
			childOf.Set(es[i], es[i-1])
			if i%2 == 1 {
				odd.Add(es[i])
			}
		}
		if exchange {
			w.Exchange(w.Query(odd), nil, []AnyColumn{childOf})
		} else {
			childOf.RemoveAll(w.Query(odd))
		}
		w.checkInvariants()
		if childOf.Len() != n/2-1 || childOf.Depth(es[n-2]) != 1 || childOf.Depth(es[n-1]) != 0 {
			t.Errorf("%d links are left, want %d; the last two depths are %d and %d, want 1 and 0",
				childOf.Len(), n/2-1, childOf.Depth(es[n-2]), childOf.Depth(es[n-1]))
		}
		w.DeleteAll(w.Query(odd)) // the sources of the deleted entities become orphans
		w.checkInvariants()
		if childOf.Len() != 0 || w.Len() != n/2 {
			t.Errorf("%d links and %d entities are left, want 0 and %d", childOf.Len(), w.Len(), n/2)
		}
		w.Close()
	}
}

func TestCircles(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 64})
	defer w.Close()
	childOf := NewRelation(w, "ChildOf", RelationOptions{})
	es := entitiesIn(w.Archetype(), 30)
	for i := 1; i < 30; i++ {
		childOf.Set(es[i], es[i-1])
	}
	before := fmt.Sprint(w.Stats())
	says(t, func() { childOf.Set(es[5], es[5]) }, "ChildOf: 5.1 → 5.1 is a circle")
	says(t, func() { childOf.Set(es[3], es[4]) }, "ChildOf: 3.1 → 4.1 → 3.1 is a circle")
	says(t, func() { childOf.Set(es[0], es[3]) }, "ChildOf: 0.1 → 3.1 → 2.1 → 1.1 → 0.1 is a circle",
		"RelationOptions.Cyclic")
	says(t, func() { childOf.Set(es[0], es[29]) },
		"0.1 → 29.1 → 28.1 → 27.1 → … 23 more → 3.1 → 2.1 → 1.1 → 0.1 is a circle")
	says(t, func() { childOf.SetAll(w.Query(), es[7]) }, "7.1 → 7.1 is a circle")
	says(t, func() { childOf.SetRun(Run{start: 2, n: 2, world: w}, es[5]) },
		"3.1 → 5.1 → 4.1 → 3.1 is a circle")
	if after := fmt.Sprint(w.Stats()); after != before {
		t.Errorf("refused links changed the world to\n%s, want\n%s", after, before)
	}
	w.checkInvariants()
}

func TestRefuse(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 64})
	defer w.Close()
	dockedAt := NewRelation(w, "DockedAt", RelationOptions{OnDelete: Refuse})
	childOf := NewRelation(w, "ChildOf", RelationOptions{OnDelete: Cascade})
	es := entitiesIn(w.Archetype(), 8)
	station, deck, crane, ship := es[0], es[1], es[2], es[3]
	childOf.Set(deck, station)
	childOf.Set(crane, deck)
	dockedAt.Set(ship, crane)
	changes := w.Changes()
	for _, e := range []Entity{station, deck, crane} {
		if w.Delete(e) {
			t.Errorf("%v was deleted although a ship is docked there", e)
		}
	}
	if w.Changes() != changes || w.Len() != 8 {
		t.Errorf("a refused Delete changed the world, which holds %d entities, want 8", w.Len())
	}
	// All entities except the ship match. The station, the deck and the crane must live, because of the ship.
	if n := w.DeleteAll(w.Query().Without(dockedAt)); n != 4 || !w.Alive(station) {
		t.Errorf("%d entities were deleted, want 4", n)
	}
	// The ship and its station can be deleted together.
	if n := w.DeleteAll(w.Query()); n != 4 || w.Len() != 0 {
		t.Errorf("%d entities were deleted, want 4", n)
	}
	w.checkInvariants()
}

func TestReusedSlots(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 64})
	defer w.Close()
	aims := NewRelation(w, "AimsAt", RelationOptions{Cyclic: true})
	a := w.Archetype()
	gun, first := a.New(), a.New()
	aims.Set(gun, first)
	aims.Set(first, first)
	q := w.Query().To(aims, first)
	w.Delete(first)
	second := a.New()
	if second.Slot() != first.Slot() {
		t.Fatalf("slot %d, want %d", second.Slot(), first.Slot())
	}
	if _, ok := aims.Target(gun); ok || aims.Has(second) || aims.CountSources(second) != 0 ||
		aims.Set(gun, first) {
		t.Error("the new entity in the slot is taken for the old entity")
	}
	aims.Set(gun, second)
	if q.Count() != 0 || aims.CountSources(first) != 0 || w.Query().To(aims, second).Count() != 1 {
		t.Error("a stale target has sources")
	}
	if got, _ := aims.Target(gun); got != second {
		t.Errorf("the target is %v, want %v", got, second)
	}
}

func TestSetRun(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 13})
	defer w.Close()
	pos := NewColumn[uint64](w)
	childOf := NewRelation(w, "ChildOf", RelationOptions{OnDelete: Cascade})
	parents := entitiesIn(w.Archetype(), 3)
	childOf.Set(parents[2], parents[1])
	var gained []Entity
	childOf.OnAdd(func(source, target Entity) { gained = append(gained, source) })
	a := w.Archetype(pos)
	var want [3][]Entity
	for i, p := range parents {
		for range 2 {
			var runs []Run
			a.NewN(500, func(run Run) { runs = append(runs, run) })
			for _, run := range runs {
				for i2 := range run.Len() {
					want[i] = append(want[i], run.Entity(i2))
				}
				if !childOf.SetRun(run, p) {
					t.Fatal("SetRun refuses a live target")
				}
			}
		}
	}
	w.checkInvariants()
	for i, p := range parents {
		if got := slices.Collect(childOf.Sources(p)); len(got) != 1000 && i != 1 ||
			!slices.Equal(got[len(got)-1000:], want[i]) {
			t.Errorf("parent %d has %d children: the number or the order is wrong", i, len(got))
		}
		runs := runsOf(w.Query(pos).To(childOf, p))
		if len(runs) > 2 {
			t.Errorf("the children of parent %d come in %d runs, want at most 2", i, len(runs))
		}
	}
	if len(gained) != 3000 || childOf.Depth(want[2][0]) != 2 {
		t.Errorf("OnAdd ran for %d entities, want 3000; the depth is %d, want 2", len(gained),
			childOf.Depth(want[2][0]))
	}
	if allocs := testing.AllocsPerRun(10, func() {
		q := w.Query(pos).To(childOf, parents[2])
		_ = q
	}); allocs == 0 {
		t.Error("AllocsPerRun counts no allocation when a query is made")
	}
	q := w.Query(pos).To(childOf, parents[2])
	all := w.Query(pos)
	sum := 0
	if allocs := testing.AllocsPerRun(10, func() {
		for run := range q.Runs() {
			sum += run.Len()
		}
		for e := range q.All() {
			sum += int(e.slot)
		}
		for run := range childOf.InDepthOrder(all) {
			sum += run.Len()
		}
	}); allocs != 0 {
		t.Errorf("running queries allocates %v times", allocs)
	}
	if childOf.SetRun(Run{}, Entity{}) {
		t.Error("SetRun accepts a stale target")
	}
	w.Delete(want[0][3])
	says(t, func() { childOf.SetRun(Run{start: want[0][0].slot, n: 10, world: w}, parents[1]) },
		"SetRun: the run", "without an entity")
	if !w.Delete(parents[1]) || w.Len() != 1+999 {
		t.Errorf("%d entities are left, want 1000", w.Len())
	}
	w.checkInvariants()
}

func TestCascadeTellsFirst(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 10})
	pos := NewColumn[number](w)
	childOf := NewRelation(w, "ChildOf", RelationOptions{OnDelete: Cascade})
	ownedBy := NewRelation(w, "OwnedBy", RelationOptions{OnDelete: Cascade})
	aims := NewRelation(w, "AimsAt", RelationOptions{Cyclic: true})
	es := entitiesIn(w.Archetype(pos), 6)
	childOf.Set(es[1], es[0])
	childOf.Set(es[2], es[1])
	ownedBy.Set(es[2], es[0]) // two relations reach es[2]
	ownedBy.Set(es[3], es[2])
	aims.Set(es[0], es[3])
	aims.Set(es[5], es[2])
	aims.Set(es[4], es[5])
	var h heard
	closing := false
	alive := func() {
		if !closing && (w.Len() != 6 || childOf.Len() != 2 || aims.Len() != 3) {
			t.Error("an entity was deleted before all callbacks ran")
		}
	}
	pos.OnRemove(func(e Entity, _ *number) { alive(); h = append(h, fmt.Sprint("pos ", e.slot)) })
	aims.OnRemove(func(e, t Entity) { alive(); h = append(h, fmt.Sprint("aims ", e.slot, t.slot)) })
	childOf.OnRemove(func(e, t Entity) { alive(); h = append(h, fmt.Sprint("child ", e.slot, t.slot)) })
	if !w.Delete(es[0]) {
		t.Error("Delete returns false")
	}
	h.expect(t, "Delete", "pos 0", "pos 1", "pos 2", "pos 3", "child 1 0", "child 2 1", "aims 0 3",
		"aims 5 2")
	if w.Len() != 2 || !aims.Has(es[4]) || aims.Has(es[5]) {
		t.Errorf("%d entities are left, want 2; aims of entity 4: %t, of entity 5: %t", w.Len(),
			aims.Has(es[4]), aims.Has(es[5]))
	}
	w.checkInvariants()
	closing = true
	w.Close()
	h.expect(t, "Close", "pos 4", "pos 5", "aims 4 5")
}

func TestRelationMisuse(t *testing.T) {
	w := NewWorld(Options{Name: "home", MaxEntities: 1024})
	abroad := NewWorld(Options{Name: "abroad", MaxEntities: 64})
	defer abroad.Close()
	childOf := NewRelation(w, "ChildOf", RelationOptions{})
	aims := NewRelation(w, "AimsAt", RelationOptions{Cyclic: true})
	foreign := NewRelation(abroad, "There", RelationOptions{})
	es := entitiesIn(w.Archetype(), 4)
	childOf.Set(es[1], es[0])
	childOf.Set(es[2], es[0])
	q := w.Query()
	changed := []string{"changed while", "after the loop"}
	before := fmt.Sprint(w.Stats())
	tests := []struct {
		name string
		f    func()
		says []string
	}{
		{"in an archetype", func() { w.Archetype(childOf) },
			[]string{"Archetype: ChildOf holds links", "a link needs a target", "Set"}},
		{"targets in an archetype", func() { w.Archetype(childOf.TargetColumn()) },
			[]string{"Archetype: ChildOf holds links"}},
		{"exchanged in", func() { w.Exchange(q, []AnyColumn{childOf}, nil) },
			[]string{"World.Exchange: ChildOf holds links"}},
		{"targets exchanged out", func() { w.Exchange(q, nil, []AnyColumn{childOf.TargetColumn()}) },
			[]string{"ChildOf targets is not a component", "from their sources"}},
		{"zero relation", func() { w.Query(Relation{}) }, []string{"column 1 was not made"}},
		{"unknown rule", func() { NewRelation(w, "x", RelationOptions{OnDelete: 7}) },
			[]string{"OnDelete is 7", "Orphan, Cascade or Refuse"}},
		{"To in another world", func() { q.To(foreign, es[0]) }, []string{`belongs to world "abroad"`}},
		{"To of an excluded relation", func() { q.Without(childOf).To(childOf, es[0]) },
			[]string{"asks for ChildOf and leaves it out"}},
		{"Without after To", func() { q.To(childOf, es[0]).Without(childOf) },
			[]string{"asks for ChildOf and leaves it out"}},
		{"To twice", func() { q.To(childOf, es[0]).To(childOf, es[1]) },
			[]string{"a target in ChildOf already"}},
		{"To of the zero query", func() { Query{}.To(childOf, es[0]) }, []string{"zero Query"}},
		{"SetAll of the zero query", func() { childOf.SetAll(Query{}, es[0]) }, []string{"zero Query"}},
		{"SetAll with a foreign query", func() { foreign.SetAll(q, es[0]) }, []string{"another world"}},
		{"RemoveAll with a foreign query", func() { foreign.RemoveAll(q) }, []string{"another world"}},
		{"depth of no hierarchy", func() { aims.Depth(es[0]) }, []string{"Relation.Depth: AimsAt", "Cyclic"}},
		{"order of no hierarchy", func() { aims.InDepthOrder(q)(func(Run) bool { return true }) },
			[]string{"Relation.InDepthOrder: AimsAt"}},
		{"descendants in no hierarchy", func() { aims.Descendants(es[0])(func(Entity) bool { return true }) },
			[]string{"Relation.Descendants: AimsAt"}},
		{"ancestors in no hierarchy", func() { aims.Ancestors(es[0])(func(Entity) bool { return true }) },
			[]string{"Relation.Ancestors: AimsAt"}},
		{"root in no hierarchy", func() { aims.Root(es[0]) }, []string{"Relation.Root: AimsAt"}},
		{"Targets of an entity without a target", func() {
			for range childOf.Targets(Run{start: es[0].slot, n: 2, world: w}) {
				t.Error("a root has a target")
			}
		}, []string{"Relation.Targets", "has no target in ChildOf", "take runs from InDepthOrder"}},
		{"Targets beyond the world", func() {
			for range childOf.Targets(Run{start: 1 << 20, n: 5, world: w}) {
				t.Error("there are targets beyond the world")
			}
		}, []string{"Relation.Targets", "has no target in ChildOf"}},
		{"Targets of a run of another world", func() {
			for range childOf.Targets(Run{start: es[1].slot, n: 1, world: abroad}) {
				t.Error("a run of another world has targets")
			}
		}, []string{"Relation.Targets", `another world than "home"`}},
		{"SetRun beyond the world", func() { childOf.SetRun(Run{start: 1 << 20, n: 5, world: w}, es[0]) },
			[]string{"without an entity"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { says(t, tt.f, tt.says...) })
	}
	if after := fmt.Sprint(w.Stats()); after != before {
		t.Errorf("misuse changed the world to\n%s, want\n%s", after, before)
	}
	turn := false
	change := func() {
		turn = !turn
		if turn {
			childOf.Set(es[1], es[3])
		} else {
			childOf.Set(es[1], es[0])
		}
	}
	says(t, func() {
		for range childOf.Sources(es[0]) {
			change()
		}
	}, append(changed, "by Relation.Set")...)
	change()
	says(t, func() {
		for range childOf.Descendants(es[0]) {
			change()
		}
	}, changed...)
	change()
	says(t, func() {
		for range childOf.Ancestors(es[1]) {
			change()
		}
	}, changed...)
	says(t, func() {
		for range childOf.InDepthOrder(q) {
			change()
		}
	}, changed...)
	says(t, func() {
		for range q.To(childOf, es[0]).All() {
			change()
		}
	}, changed...)
	w.checkInvariants()
	rel := q.To(childOf, es[0])
	w.Close()
	for name, f := range map[string]func(){
		"Set":         func() { childOf.Set(es[1], es[0]) },
		"SetAll":      func() { childOf.SetAll(q, es[0]) },
		"SetRun":      func() { childOf.SetRun(Run{}, es[0]) },
		"RemoveAll":   func() { childOf.RemoveAll(q) },
		"Grow":        func() { childOf.GrowLevels(3) },
		"To":          func() { q.To(childOf, es[0]) },
		"Count":       func() { rel.Count() },
		"NewRelation": func() { NewRelation(w, "x", RelationOptions{}) },
		"InDepthOrder": func() {
			for range childOf.InDepthOrder(q) {
				t.Error("a closed world has entities")
			}
		},
		"Targets": func() {
			for range childOf.Targets(Run{start: es[1].slot, n: 1, world: w}) {
				t.Error("a closed world has targets")
			}
		},
	} {
		t.Run("closed "+name, func(t *testing.T) { says(t, f, `closed world "home"`) })
	}
	if childOf.Has(es[1]) || childOf.Remove(es[1]) || childOf.Len() != 0 ||
		childOf.CountSources(es[0]) != 0 || childOf.Depth(es[1]) != 0 {
		t.Error("a closed world has a link")
	}
}

func TestSetRunOfAnotherWorld(t *testing.T) {
	w, abroad := NewWorld(Options{MaxEntities: 1024}), NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	defer abroad.Close()
	rel := NewRelation(w, "ChildOf", RelationOptions{Cyclic: true})
	w.Archetype().NewN(100, nil)
	target, _ := w.Query().First()
	abroad.Archetype().NewN(100, func(run Run) {
		says(t, func() { rel.SetRun(run, target) }, "SetRun: the run belongs to another world")
	})
	if rel.Len() != 0 || !rel.SetRun(Run{}, target) {
		t.Errorf("%d links exist after a refused SetRun, or SetRun refuses the empty run", rel.Len())
	}
}

func TestSourcesAfter(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	childOf := NewRelation(w, "ChildOf", RelationOptions{})
	es := entitiesIn(w.Archetype(), 102)
	parent, children := es[0], es[2:]
	for _, e := range children {
		childOf.Set(e, parent)
	}
	for i, e := range children {
		if got := slices.Collect(childOf.SourcesAfter(e)); !slices.Equal(got, children[i+1:]) {
			t.Fatalf("the sources after child %d are %v", i, got)
		}
	}
	childOf.Set(children[50], es[1])
	for _, e := range []Entity{children[50], parent, {}} {
		for after := range childOf.SourcesAfter(e) {
			t.Errorf("%v comes after %v", after, e)
		}
	}
	says(t, func() {
		for range childOf.SourcesAfter(children[3]) {
			childOf.Remove(children[0])
		}
	}, "the sources of a target were walked over")
}
