package prefab_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/prefab"
)

// TestPanicInCallback checks that a panicking callback leaves no half-made nodes, and that Apply goes on
// later.
func TestPanicInCallback(t *testing.T) {
	f := newFleet(t, vast.Options{MaxEntities: 1 << 12})
	ship, gun, _ := f.ship()
	one := f.p.Mark(ship)
	one.InstantiateN(3, nil)
	left := 2
	angry := false
	f.rare.OnAdd(func(vast.Entity, *uint64) {
		if left--; angry && left < 0 {
			panic("no more")
		}
	})
	crew := f.Archetype(f.rare).New()
	f.child.Set(crew, gun)
	before := f.Len()
	angry, left = true, 2 // the calls for the base and for the first copy of crew succeed
	mustPanic(t, "no more", func() { _, _ = one.Apply() })
	if f.Len() != before {
		t.Errorf("%d entities, want %d", f.Len(), before)
	}
	angry = false
	mustApply(t, one)
	for e := range one.Instances() {
		if len(f.guns(f.guns(e)[0])) != 1 {
			t.Errorf("instance %v has no crew", e)
		}
	}
}

// TestPanicInMark: Mark removes the parent from the root's base, and the callback of this removal panics.
func TestPanicInMark(t *testing.T) {
	f := newFleet(t, vast.Options{MaxEntities: 1 << 12})
	ship, _, _ := f.ship()
	f.child.Set(ship, f.Archetype().New())
	before, angry := f.Len(), true
	f.child.OnRemove(func(_, _ vast.Entity) {
		if angry {
			angry = false
			panic("no more")
		}
	})
	mustPanic(t, "no more", func() { f.p.Mark(ship) })
	if _, ok := f.p.Template(ship); ok || f.Len() != before || f.Query(f.hull).Count() != 1 {
		t.Errorf("after a panic, the world has %d entities, want %d", f.Len(), before)
	}
	if e := f.p.Mark(ship).Instantiate(); len(f.guns(e)) != 2 {
		t.Errorf("an instance has %d guns", len(f.guns(e)))
	}
}

// tower is a world with a template that has changes of all kinds, and callbacks for all of them.
type tower struct {
	*modelWorld
	above      vast.Relation // a second hierarchy
	tail, hat  vast.Column[uint64]
	one        prefab.Template
	calls      int // number of callback calls left before the panic
	angry      bool
	overridden vast.Entity // the instance with overrides
}

func newTower(t *testing.T, calls int) *tower {
	f := newFleet(t, vast.Options{MaxEntities: 1 << 12})
	w := &tower{modelWorld: &modelWorld{fleet: f, label: vast.NewColumn[uint64](f.World).Named("label")},
		above: vast.NewRelation(f.World, "above", vast.RelationOptions{}),
		tail:  vast.NewColumn[uint64](f.World).Named("tail"),
		hat:   vast.NewColumn[uint64](f.World).Named("hat"), calls: calls}
	f.Require(w.tail, w.hat)
	ship, gun, other := w.ship()
	lost := w.Archetype(w.rare).New()
	w.child.Set(lost, ship)
	for i, e := range []vast.Entity{ship, gun, other, lost} {
		w.label.Add(e, uint64(i+1))
	}
	w.roads.Add(ship, gun, road{1, gun})
	w.roads.Add(other, ship, road{1, ship})
	w.one = w.p.Mark(ship)
	w.one.InstantiateN(3, nil)
	w.overridden = w.one.Instantiate()
	w.hull.Get(w.overridden).Points = 7
	w.team.Set(w.overridden, w.overridden)

	// The turret comes between the ship and the first gun. The crew has its place in the other hierarchy.
	turret, crew := w.Archetype(w.hull, w.aim, w.label).New(), w.Archetype(w.rare, w.label).New()
	*w.label.Get(turret), *w.label.Get(crew) = 5, 6
	*w.aim.Get(turret) = aim{crew, 1}
	w.child.Set(turret, ship)
	w.child.Set(gun, turret)
	w.above.Set(crew, turret)
	w.team.Set(crew, ship)
	w.above.Set(other, crew)
	w.team.Remove(ship)
	w.team.Set(other, turret)
	w.hull.Get(ship).Points = 300
	w.rare.Remove(other)
	w.armed.Add(gun)
	w.tail.Add(ship, 4)
	w.hat.Set(ship, 5)
	w.roads.Remove(ship, gun)
	w.roads.Add(gun, turret, road{2, turret})
	w.roads.Add(other, ship, road{3, ship})
	w.Delete(lost)

	call := func() {
		if w.calls--; w.angry && w.calls == -1 {
			panic("no more")
		}
	}
	relation := func(_, _ vast.Entity) { call() }
	for _, r := range []vast.Relation{w.child, w.above, w.team} {
		r.OnAdd(relation)
		r.OnRemove(relation)
	}
	value := func(vast.Entity, *uint64) { call() }
	w.rare.OnAdd(value)
	w.rare.OnRemove(value)
	for _, c := range []vast.Column[uint64]{w.tail, w.hat} {
		c.OnAdd(value)
		c.OnRemove(value)
	}
	w.armed.OnAdd(func(vast.Entity) { call() })
	return w
}

// apply applies the template, and reports whether a callback has panicked.
func (w *tower) apply(t *testing.T) (panicked bool) {
	defer func() {
		w.angry = false
		panicked = recover() != nil
	}()
	w.angry = true
	mustApply(t, w.one)
	return false
}

// whole describes an instance or the template.
func (w *tower) whole(root vast.Entity) string {
	labelOf := func(e vast.Entity) uint64 { return *w.label.Get(e) }
	var b strings.Builder
	b.WriteString(w.read(root).String())
	found := w.find(root)
	for _, label := range slices.Sorted(maps.Keys(found)) {
		for crew := range w.above.Sources(found[label]) {
			mate, _ := w.team.Target(crew)
			fmt.Fprintf(&b, "%d above %d, in the team of %d, with %d\n", labelOf(crew), label, labelOf(mate),
				*w.rare.Get(crew))
			for e := range w.above.Sources(crew) {
				fmt.Fprintf(&b, "%d above %d\n", labelOf(e), labelOf(crew))
			}
		}
	}
	return b.String()
}

// TestPanicInEachCallback lets one callback after the other panic. A second Apply makes all instances equal
// to the template, except for overrides. One of the instances was made after the panic.
func TestPanicInEachCallback(t *testing.T) {
	for calls := 0; ; calls++ {
		w := newTower(t, calls)
		panicked := w.apply(t)
		if panicked {
			w.one.Instantiate()
			mustApply(t, w.one)
		}
		n := 0
		for _, e := range slices.Collect(w.one.Instances()) {
			n++
			if e == w.overridden {
				w.mustDiffer(t, e, "hull.Points", "team")
				w.hull.Get(e).Points = 300
				w.team.Remove(e)
			}
			if got, want := w.whole(e), w.whole(w.one.Root()); got != want || *w.hat.Get(e) != 5 {
				t.Fatalf("after %d calls: instance %v has the hat %d and is\n%swant\n%s", calls, e,
					*w.hat.Get(e), got, want)
			}
		}
		if again := mustApply(t, w.one); again != 0 {
			t.Errorf("after %d calls: one more Apply makes %d changes", calls, again)
		}
		w.Close()
		if !panicked {
			if n != 4 || calls < 60 {
				t.Errorf("%d instances, %d calls", n, calls)
			}
			return
		}
	}
}
