package prefab_test

import (
	"fmt"
	"testing"

	"github.com/vastgo/vast"
)

// TestEdges adds, changes and removes edges of a template. Edges in which an instance differs stay.
func TestEdges(t *testing.T) {
	f := newFleet(t, vast.Options{MaxEntities: 1 << 12})
	ship, gun, other := f.ship()
	port := f.Archetype().New()
	f.roads.Add(ship, gun, road{1, ship})
	f.roads.Add(ship, port, road{2, port})
	one := f.p.Mark(ship)
	same, changed, smaller := one.Instantiate(), one.Instantiate(), one.Instantiate()
	roads := func(e vast.Entity) (text string) {
		names := map[vast.Entity]string{e: "ship", f.guns(e)[0]: "gun", port: "port", {}: "none"}
		for i, gun := range f.guns(e)[1:] {
			names[gun] = fmt.Sprint("gun ", i+2)
		}
		for to, v := range f.roads.Targets(e) {
			text += fmt.Sprintf("%s %d %s; ", names[to], v.Length, names[v.Owner])
		}
		return text
	}
	f.roads.Get(changed, f.guns(changed)[0]).Length = 9
	f.roads.Remove(changed, port)
	f.roads.Add(changed, f.guns(changed)[1], road{8, port})
	f.mustDiffer(t, changed, "roads")
	f.Delete(f.guns(smaller)[1])

	*f.roads.Get(ship, gun) = road{5, gun}
	f.roads.Remove(ship, port)
	f.roads.Add(ship, other, road{6, other})
	if n := mustApply(t, one); n != 3+2 {
		t.Errorf("%d changes, want 5", n)
	}
	for _, tt := range []struct {
		e    vast.Entity
		want string
	}{
		{ship, "gun 5 gun; gun 2 6 gun 2; "},
		{same, "gun 5 gun; gun 2 6 gun 2; "},
		{changed, "gun 9 ship; gun 2 8 port; "},
		{smaller, "gun 5 gun; "},
		{one.Instantiate(), "gun 5 gun; gun 2 6 gun 2; "},
	} {
		if got := roads(tt.e); got != tt.want {
			t.Errorf("the edges are %q, want %q", got, tt.want)
		}
	}
	f.mustDiffer(t, same)
	f.mustDiffer(t, smaller, "mind") // which refers to the deleted gun
	f.roads.Add(changed, port, road{})
	if !f.p.Revert(changed, "roads") || f.p.Revert(changed, "roads") || roads(changed) != roads(ship) {
		t.Errorf("after Revert, the edges are %q", roads(changed))
	}
	if n := mustApply(t, one); n != 0 {
		t.Errorf("a second Apply makes %d changes", n)
	}
}
