package prefab_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/prefab"
	"github.com/vastgo/vast/probe"
)

type hull struct {
	Points int32
	Armour [2]uint16
}

type aim struct {
	At    vast.Entity
	Range float32
}

type mind struct {
	Words []string
	Known []vast.Entity
}

// road is the value of an edge.
type road struct {
	Length uint64
	Owner  vast.Entity
}

// fleet is a world with columns of several storages, relations, edges and templates.
type fleet struct {
	*vast.World
	p     *prefab.Prefabs
	hull  vast.Column[hull]
	aim   vast.Column[aim]
	rare  vast.SparseColumn[uint64]
	mind  vast.HeapColumn[mind]
	armed vast.Tag
	child vast.Relation
	team  vast.Relation
	roads vast.Edges[road]
}

func newFleet(t testing.TB, o vast.Options) *fleet {
	w := vast.NewWorld(o)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return fleetIn(w)
}

func fleetIn(w *vast.World) *fleet {
	return &fleet{w, prefab.New(w), vast.NewColumn[hull](w).Named("hull"),
		vast.NewColumn[aim](w).Named("aim"),
		vast.NewSparseColumn[uint64](w).Named("rare"), vast.NewHeapColumn[mind](w).Named("mind"),
		vast.NewTag(w, "armed"),
		vast.NewRelation(w, "childOf", vast.RelationOptions{OnDelete: vast.Cascade}),
		vast.NewRelation(w, "team", vast.RelationOptions{Cyclic: true}),
		vast.NewEdges[road](w, "roads", vast.EdgesOptions{})}
}

// ship makes a ship with two guns. The first gun aims at the ship, and the second gun aims at the first gun.
func (f *fleet) ship() (ship, gun, other vast.Entity) {
	ship = f.Archetype(f.hull, f.mind).New()
	*f.hull.Get(ship) = hull{100, [2]uint16{1, 2}}
	gun, other = f.Archetype(f.aim, f.rare).New(), f.Archetype(f.aim, f.rare).New()
	f.child.Set(gun, ship)
	f.child.Set(other, ship)
	f.team.Set(ship, gun)
	*f.aim.Get(gun), *f.aim.Get(other) = aim{ship, 5}, aim{gun, 6}
	*f.rare.Get(gun), *f.rare.Get(other) = 7, 8
	*f.mind.Get(ship) = mind{[]string{"a"}, []vast.Entity{gun, other}}
	return ship, gun, other
}

func (f *fleet) guns(ship vast.Entity) []vast.Entity { return slices.Collect(f.child.Sources(ship)) }

func (f *fleet) mustDiffer(t *testing.T, e vast.Entity, want ...string) {
	t.Helper()
	if got := slices.Collect(f.p.Differs(e)); !slices.Equal(got, want) {
		t.Errorf("%v differs in %q, want %q", e, got, want)
	}
}

func mustApply(t *testing.T, one prefab.Template) int {
	t.Helper()
	n, err := one.Apply()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got, _ := recover().(string); !strings.Contains(got, want) {
			t.Errorf("panic %q, want one with %q", got, want)
		}
	}()
	f()
}

func TestInstantiate(t *testing.T) {
	f := newFleet(t, vast.Options{MaxEntities: 1 << 14})
	dock := f.Archetype().New()
	ship, gun, _ := f.ship()
	f.child.Set(ship, dock)
	one := f.p.Mark(ship)
	if f.Query(f.hull).Count() != 0 || f.Query(f.aim).Count() != 0 || f.Query(f.p.Tag()).Count() != 3 {
		t.Fatal("queries find nodes or bases")
	}
	if f.child.CountSources(dock) != 1 {
		t.Error("the base of the root has a parent")
	}
	if f.p.Mark(ship) != one || one.Root() != ship {
		t.Error("a second Mark gives another template")
	}
	const n = 1000
	runs := 0
	one.InstantiateN(n, func(r vast.Run) {
		runs++
		for i := range f.hull.Slice(r) {
			f.hull.Slice(r)[i].Points += int32(i)
		}
	})
	if runs > n/50 {
		t.Errorf("%d runs of roots", runs)
	}
	all := slices.Collect(one.Instances())
	if len(all) != n || f.Query(f.hull).Count() != n || f.Query(f.aim).Count() != 2*n {
		t.Fatalf("%d instances", len(all))
	}
	for _, e := range all {
		guns := f.guns(e)
		mate, _ := f.team.Target(e)
		if len(guns) != 2 || f.child.Has(e) || mate != guns[0] || f.aim.Get(guns[0]).At != e ||
			f.aim.Get(guns[1]).At != guns[0] || !slices.Equal(f.mind.Get(e).Known, guns) ||
			*f.rare.Get(guns[1]) != 8 {
			t.Fatalf("instance %s", f.Sprint(e))
		}
		if node, ok := f.p.NodeOf(guns[0]); !ok || node != gun {
			t.Fatalf("the gun is a copy of %v, want %v", node, gun)
		}
		f.mustDiffer(t, guns[0])
	}
	f.mustDiffer(t, all[1], "hull.Points")
	if !f.p.Revert(all[1], "hull") || f.p.Revert(all[1], "hull.Points") || f.hull.Get(all[1]).Points != 100 {
		t.Error("Revert does not revert")
	}
	copied := f.World.Clone(all[0])
	if node, _ := f.p.NodeOf(copied); node != ship {
		t.Error("a copy of an instance is no instance")
	}
	f.Delete(ship)
	if _, ok := f.p.NodeOf(all[0]); ok || f.Query(f.hull).Count() != n+1 || f.Len() != 3*n+2 {
		t.Errorf("%d entities live on without the template", f.Len())
	}
	if e := one.Instantiate(); !e.IsZero() || len(slices.Collect(one.Instances())) != 0 {
		t.Error("a stale template makes instances")
	}
	if n, err := one.Apply(); n != 0 || err != nil {
		t.Error("a stale template changes instances")
	}
}

func TestApply(t *testing.T) {
	f := newFleet(t, vast.Options{MaxEntities: 1 << 12})
	ship, gun, other := f.ship()
	one := f.p.Mark(ship)
	a, b := one.Instantiate(), one.Instantiate()
	f.hull.Get(b).Armour[1] = 50 // an override
	f.hull.Get(ship).Points, f.hull.Get(ship).Armour = 200, [2]uint16{3, 4}
	f.mind.Get(ship).Known = []vast.Entity{other}
	f.aim.Get(gun).At = other
	f.team.Set(ship, other)
	f.armed.Add(gun)
	f.rare.Remove(other)
	*f.rare.Get(f.guns(b)[1]) = 9 // an override of what the template loses
	tracker := vast.NewTracker(f.World, f.hull)
	if n := mustApply(t, one); n != 5+2+2+2+2+1 {
		t.Errorf("%d changes, want 14", n)
	}
	if n := len(slices.Collect(tracker.Changed(f.hull))); n != 3 {
		t.Errorf("the tracker notes %d written components, want 3", n)
	}
	for i, e := range []vast.Entity{a, b} {
		guns := f.guns(e)
		want := []hull{{200, [2]uint16{3, 4}}, {200, [2]uint16{3, 50}}}[i]
		mate, _ := f.team.Target(e)
		if *f.hull.Get(e) != want || f.aim.Get(guns[0]).At != guns[1] || mate != guns[1] ||
			!f.armed.Has(guns[0]) ||
			f.rare.Has(guns[1]) != (e == b) || !slices.Equal(f.mind.Get(e).Known, guns[1:]) {
			t.Errorf("instance %d: %s %s %s", i, f.Sprint(e), f.Sprint(guns[0]), f.Sprint(guns[1]))
		}
	}
	f.mustDiffer(t, a)
	f.mustDiffer(t, b, "hull.Armour[1]")
	f.mustDiffer(t, f.guns(b)[1], "rare")
	if n := mustApply(t, one); n != 0 {
		t.Errorf("a second Apply makes %d changes", n)
	}
	if c := one.Instantiate(); f.hull.Get(c).Points != 200 || !f.armed.Has(f.guns(c)[0]) {
		t.Error("a new instance lacks the changes")
	}
	if !f.p.Revert(f.guns(b)[1], "rare") || f.rare.Has(f.guns(b)[1]) {
		t.Error("Revert does not remove a component")
	}
	f.armed.Remove(f.guns(b)[0])
	f.mustDiffer(t, f.guns(b)[0], "armed")
	if !f.p.Revert(f.guns(b)[0], "armed") || !f.armed.Has(f.guns(b)[0]) {
		t.Error("Revert does not add a component")
	}
	f.team.Remove(b)
	if f.mustDiffer(t, b, "hull.Armour[1]", "team"); !f.p.Revert(b, "team") || f.p.Revert(b, "team") {
		t.Error("Revert does not set a link")
	}
}

func TestApplyNodes(t *testing.T) {
	f := newFleet(t, vast.Options{MaxEntities: 1 << 12})
	ship, gun, other := f.ship()
	one := f.p.Mark(ship)
	a, b := one.Instantiate(), one.Instantiate()
	f.rare.Set(f.guns(b)[1], 77)
	// A turret comes between the ship and the first gun. The second gun goes.
	turret, crew := f.Archetype(f.hull, f.aim).New(), f.Archetype(f.rare).New()
	*f.aim.Get(turret) = aim{crew, 1}
	f.child.Set(turret, ship)
	f.child.Set(crew, turret)
	f.child.Set(gun, turret)
	f.team.Set(crew, ship)
	f.Delete(other)
	mustApply(t, one)
	for i, e := range []vast.Entity{a, b} {
		parts := f.guns(e)
		if len(parts) != 1+i {
			t.Fatalf("instance %d has %d parts", i, len(parts))
		}
		turret := parts[i]
		below := f.guns(turret)
		if len(below) != 2 || f.aim.Get(turret).At != below[0] || *f.rare.Get(below[1]) != 7 ||
			!f.hull.Has(turret) {
			t.Fatalf("instance %d: %s, %d entities below", i, f.Sprint(turret), len(below))
		}
		if mate, _ := f.team.Target(below[0]); mate != e {
			t.Errorf("instance %d: the link of a new node leads to %v", i, mate)
		}
		for _, e := range append(below, e, turret) {
			f.mustDiffer(t, e)
		}
	}
	if node, ok := f.p.NodeOf(f.guns(b)[0]); ok {
		t.Errorf("the gun with an override is still a copy of %v", node)
	}
	if f.Query(f.p.Tag()).Count() != 4 || probe.All(f.Query()).Count() != 4+4+4+5 {
		t.Errorf("%d nodes, %d entities", f.Query(f.p.Tag()).Count(), probe.All(f.Query()).Count())
	}
	// The crew leaves the template. The gun becomes the parent of its turret.
	f.child.Remove(crew)
	f.child.Set(gun, ship)
	f.child.Set(turret, gun)
	mustApply(t, one)
	if f.p.Tag().Has(crew) || f.Query(f.p.Tag()).Count() != 3 {
		t.Error("an entity that left the template is still a node")
	}
	gun = f.guns(a)[0]
	if parts := f.guns(gun); len(parts) != 1 || !f.hull.Has(parts[0]) || len(f.guns(parts[0])) != 0 {
		t.Errorf("%d parts below the gun", len(parts))
	}
	if n := mustApply(t, one); n != 0 {
		t.Errorf("a second Apply makes %d changes", n)
	}
}

func TestVariantsAndNested(t *testing.T) {
	f := newFleet(t, vast.Options{MaxEntities: 1 << 12})
	ship, gun, _ := f.ship()
	one := f.p.Mark(ship)
	strong := one.Override("hull.Points", 500)
	elite := strong.Override("hull.Armour[0]", 9)
	squad := f.Archetype().New()
	f.child.Set(one.Instantiate(), squad)
	f.child.Set(elite.Instantiate(), squad)
	group := f.p.Mark(squad)
	plain, e, s, g := one.Instantiate(), elite.Instantiate(), strong.Instantiate(), group.Instantiate()
	f.hull.Get(ship).Points, f.hull.Get(ship).Armour = 150, [2]uint16{30, 40}
	f.aim.Get(gun).Range = 50
	crew := f.Archetype(f.rare).New()
	f.child.Set(crew, ship)
	mustApply(t, one)
	check := func(what string, e vast.Entity, want hull) {
		t.Helper()
		guns := f.guns(e)
		if *f.hull.Get(e) != want || len(guns) != 3 || f.aim.Get(guns[0]).Range != 50 ||
			f.aim.Get(guns[0]).At != e || !f.rare.Has(guns[2]) {
			t.Errorf("%s: %s with %d children", what, f.Sprint(e), len(guns))
		}
	}
	check("plain", plain, hull{150, [2]uint16{30, 40}})
	check("strong", s, hull{500, [2]uint16{30, 40}})
	check("elite", e, hull{500, [2]uint16{9, 40}})
	check("nested plain", f.guns(g)[0], hull{150, [2]uint16{30, 40}})
	check("nested elite", f.guns(g)[1], hull{500, [2]uint16{9, 40}})
	f.mustDiffer(t, elite.Root(), "hull.Armour[0]")
	f.mustDiffer(t, strong.Root(), "hull.Points")
	f.mustDiffer(t, e)
	f.hull.Get(strong.Root()).Points = 600
	mustApply(t, strong)
	check("plain", plain, hull{150, [2]uint16{30, 40}})
	check("nested elite", f.guns(g)[1], hull{600, [2]uint16{9, 40}})
	if node, _ := f.p.NodeOf(f.guns(g)[1]); node != f.guns(squad)[1] {
		t.Error("the nearest template of a nested entity is another one")
	}
	if n := len(slices.Collect(one.Instances())); n != 1 {
		t.Errorf("%d instances, want 1", n)
	}
}

func TestMisuse(t *testing.T) {
	f := newFleet(t, vast.Options{MaxEntities: 1 << 12})
	ship, gun, _ := f.ship()
	dock := f.Archetype().New()
	f.child.Set(ship, dock)
	one := f.p.Mark(ship)
	mustPanic(t, "belongs to the template with root", func() { f.p.Mark(gun) })
	mustPanic(t, "put an instance of that template there", func() { f.p.Mark(dock) })
	base, _ := probe.All(f.Query(f.hull)).Without(f.p.Tag()).First()
	mustPanic(t, "which belongs to package prefab", func() { f.p.Mark(base) })
	mustPanic(t, "cannot be negative", func() { one.InstantiateN(-1, nil) })
	mustPanic(t, "the zero Template", func() { prefab.Template{}.Instantiate() })
	mustPanic(t, `the root has no "hull.Mass"`, func() { one.Override("hull.Mass", 1) })
	mustPanic(t, `the root has no "aim"`, func() { one.Override("aim", aim{}) })
	for _, v := range []any{"x", 1 << 40, 1.5, nil} {
		mustPanic(t, "give a value that fits", func() { one.Override("hull.Points", v) })
	}
	mustPanic(t, "fill changed the structure", func() {
		one.InstantiateN(2, func(vast.Run) { f.Archetype().New() })
	})
	mustPanic(t, `relation or edges for "colour"`, func() { f.p.Revert(one.Instantiate(), "colour") })
	mustPanic(t, "has a tag \"Prefab\" already", func() { prefab.New(f.World) })
	inner := one.Instantiate()
	f.child.Set(inner, gun)
	mustPanic(t, "which contains the first one", func() { _, _ = one.Apply() })
	f.Delete(inner)
	group := f.p.Mark(dockWith(f, one.Instantiate()))
	f.child.Set(group.Instantiate(), ship)
	mustPanic(t, "which contains the first one", func() { _, _ = one.Apply() })
	if !f.p.Mark(vast.Entity{}).Root().IsZero() {
		t.Error("Mark of a stale entity gives a template")
	}
	if f.p.Revert(dock, "hull") {
		t.Error("Revert changes an entity without a template")
	}
}

func dockWith(f *fleet, e vast.Entity) vast.Entity {
	dock := f.Archetype().New()
	f.child.Set(e, dock)
	return dock
}
