package clone_test

import (
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/clone"
	"github.com/vastgo/vast/shared"
)

// TestDisabled copies and merges disabled entities. The copies are disabled, too.
func TestDisabled(t *testing.T) {
	o := vast.Options{MaxEntities: 1 << 10}
	from, to := vast.NewWorld(o), vast.NewWorld(o)
	defer from.Close()
	defer to.Close()
	off, toOff := vast.NewDisabled(from, "off"), vast.NewDisabled(to, "off")
	size, toSize := vast.NewColumn[uint64](from), vast.NewColumn[uint64](to)
	child := vast.NewRelation(from, "childOf", vast.RelationOptions{})
	vast.NewRelation(to, "childOf", vast.RelationOptions{})
	a := from.Archetype(size)
	root, e := a.New(), a.New()
	size.Set(e, 5)
	child.Set(e, root)
	off.Disable(e)
	one := from.Clone(e)
	if !off.Has(one) || *size.Get(one) != 5 {
		t.Error("Clone leaves the tag of a Disabled out")
	}
	c, err := clone.New(from, from, clone.Options{})
	if err != nil {
		t.Fatal(err)
	}
	copies, err := c.CloneN(root, 2)
	if err != nil || !off.Has(copies.Of(e, 1)) || off.Has(copies.Root(1)) {
		t.Errorf("a subtree with a disabled entity: %v, %v", copies, err)
	}
	n, hidden := from.Len(), off.Len()
	moves, err := clone.Merge(from, to, clone.Options{})
	if err != nil || from.Len() != 0 || to.Len() != n || toOff.Len() != hidden {
		t.Errorf("%v: %d entities are left, %d are moved, %d of them disabled, want 0, %d, %d", err,
			from.Len(), to.Len(), toOff.Len(), n, hidden)
	}
	if now := moves.Resolve(one); !toOff.Has(now) || *toSize.Get(now) != 5 {
		t.Error("Merge leaves the tag of a Disabled out")
	}
}

// TestSharedColumns copies components of a shared column, with references, within a world, into a shared
// column of another world, and into a plain column.
func TestSharedColumns(t *testing.T) {
	type team struct {
		Number uint64
		Leader vast.Entity
	}
	w, other, plain := vast.NewWorld(vast.Options{MaxEntities: 1 << 10}),
		vast.NewWorld(vast.Options{MaxEntities: 1 << 10}), vast.NewWorld(vast.Options{MaxEntities: 1 << 10})
	defer w.Close()
	defer other.Close()
	defer plain.Close()
	teams, otherTeams, plainTeams := shared.New[team](w), shared.New[team](other), vast.NewColumn[team](plain)
	for _, one := range []*vast.World{w, other, plain} {
		vast.NewRelation(one, "childOf", vast.RelationOptions{})
	}
	a := w.Archetype(teams)
	root, e := a.New(), a.New()
	teams.Set(root, team{1, root})
	teams.Set(e, team{1, root})
	c := w.Clone(root)
	if got, _ := teams.Get(c); got != (team{1, c}) {
		t.Errorf("the copy has %v, want the leader %v", got, c)
	}
	if got, _ := teams.Get(root); got != (team{1, root}) {
		t.Errorf("the original has %v now", got)
	}
	if got, _ := teams.Get(e); got != (team{1, root}) {
		t.Errorf("another entity has %v now", got)
	}
	for to, get := range map[*vast.World]func(vast.Entity) team{
		other: func(e vast.Entity) team { v, _ := otherTeams.Get(e); return v },
		plain: func(e vast.Entity) team { return *plainTeams.Get(e) },
	} {
		cloner, err := clone.New(w, to, clone.Options{})
		if err != nil {
			t.Fatal(err)
		}
		copies, err := cloner.CloneN(root, 100)
		if err != nil {
			t.Fatal(err)
		}
		for i := range copies.Len() {
			if got := get(copies.Root(i)); got != (team{1, copies.Root(i)}) {
				t.Fatalf("copy %d has %v, want the leader %v", i, got, copies.Root(i))
			}
		}
	}
}
