package prefab_test

import (
	"slices"
	"testing"

	"github.com/vastgo/vast"
)

// TestMoves moves the copies of node 3 in two instances, and then moves the nodes 1 and 2 in the template. In
// the instance delayed, the new link of node 1 would close a circle until the link of node 2 has changed. In
// the instance blocked, the new link of node 1 would always close a circle.
func TestMoves(t *testing.T) {
	f := newFleet(t, vast.Options{MaxEntities: 1 << 12})
	a := f.Archetype(f.rare)
	below := func(e, parent vast.Entity, number uint64) vast.Entity {
		*f.rare.Get(e) = number
		f.child.Set(e, parent)
		return e
	}
	root := a.New()
	first := below(a.New(), root, 1)
	inner := below(a.New(), first, 2)
	second, third := below(a.New(), root, 3), below(a.New(), root, 4)
	one := f.p.Mark(root)
	find := func(e vast.Entity, number uint64) vast.Entity {
		for d := range f.child.Descendants(e) {
			if *f.rare.Get(d) == number {
				return d
			}
		}
		return vast.Entity{}
	}
	plain, delayed, blocked := one.Instantiate(), one.Instantiate(), one.Instantiate()
	f.child.Set(find(delayed, 3), find(delayed, 2))
	f.child.Set(find(blocked, 3), find(blocked, 1))

	f.child.Set(first, second)
	f.child.Set(inner, third)
	if n := mustApply(t, one); n != 5 {
		t.Errorf("%d changes, want 5", n)
	}
	for _, tt := range []struct {
		e    vast.Entity
		want []uint64 // numbers of the parents of 1, 2, 3 and 4
	}{{plain, []uint64{3, 4, 0, 0}}, {delayed, []uint64{3, 4, 2, 0}}, {blocked, []uint64{0, 4, 1, 0}}} {
		var got []uint64
		for number := uint64(1); number <= 4; number++ {
			parent, _ := f.child.Target(find(tt.e, number))
			got = append(got, *f.rare.Get(parent))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("the parents are %d, want %d", got, tt.want)
		}
	}
	f.mustDiffer(t, find(blocked, 1), "childOf")
}

// TestSeveralHierarchies changes a reference in a node that leads to the root through two hierarchies.
func TestSeveralHierarchies(t *testing.T) {
	f := newFleet(t, vast.Options{MaxEntities: 1 << 12})
	above := vast.NewRelation(f.World, "above", vast.RelationOptions{})
	ship, gun, _ := f.ship()
	crew := f.Archetype(f.aim).New()
	above.Set(crew, gun)
	one := f.p.Mark(ship)
	e := one.Instantiate()
	*f.aim.Get(crew) = aim{ship, 3}
	if n := mustApply(t, one); n != 2 {
		t.Errorf("%d changes, want 2", n)
	}
	for c := range above.Sources(f.guns(e)[0]) {
		if *f.aim.Get(c) != (aim{e, 3}) {
			t.Errorf("the crew has %v, want a reference to %v", *f.aim.Get(c), e)
		}
	}
}
