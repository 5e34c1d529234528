package prefab_test

import (
	"slices"
	"testing"

	"github.com/vastgo/vast"
)

// TestMoves moves the nodes 1 and 2 in the template. Before, the program moves the copies of node 3 in two
// instances. In the instance waits, the new link of 1 would close a circle until the link of 2 has changed.
// In the instance keeps, the new link of 1 would always close a circle.
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
	plain, waits, keeps := one.Instantiate(), one.Instantiate(), one.Instantiate()
	f.child.Set(find(waits, 3), find(waits, 2))
	f.child.Set(find(keeps, 3), find(keeps, 1))

	f.child.Set(first, second)
	f.child.Set(inner, third)
	if n := mustApply(t, one); n != 5 {
		t.Errorf("%d changes, want 5", n)
	}
	for _, tt := range []struct {
		e    vast.Entity
		want []uint64 // numbers of the parents of 1, 2, 3 and 4
	}{{plain, []uint64{3, 4, 0, 0}}, {waits, []uint64{3, 4, 2, 0}}, {keeps, []uint64{0, 4, 1, 0}}} {
		var got []uint64
		for number := uint64(1); number <= 4; number++ {
			parent, _ := f.child.Target(find(tt.e, number))
			got = append(got, *f.rare.Get(parent))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("the parents are %d, want %d", got, tt.want)
		}
	}
	f.mustDiffer(t, find(keeps, 1), "childOf")
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
