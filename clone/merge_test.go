package clone_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/clone"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// TestMerge compares the entities before and after a merge, in random worlds.
func TestMerge(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round := range longtest.Pick(12, 300) {
		r := rand.New(rand.NewPCG(seed, uint64(round)))
		from := newScene(t, round%3, vast.Options{MaxEntities: 1 << 13})
		to := newScene(t, round/3%3, vast.Options{MaxEntities: 1 << 14})
		others := to.fill(r, 100)
		for _, e := range others {
			to.names.Remove(e)
		}
		es := from.fill(r, r.IntN(400)+1)
		from.Delete(es[len(es)-1])
		es = slices.DeleteFunc(es, func(e vast.Entity) bool { return !from.Alive(e) })
		otherShape := to.shape(others, vast.Entity.String, true)
		want := from.shape(es, from.labels(es, func(vast.Entity) string { return "0" }), true)
		moves, err := clone.Merge(from.World, to.World, clone.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if from.Len() != 0 || to.Len() != 100+len(es) || moves.Len() != len(es) || from.names.Len() != 0 {
			t.Fatalf("%d and %d entities, %d moves, %d names in from; want 0, %d, %d and 0", from.Len(),
				to.Len(), moves.Len(), from.names.Len(), 100+len(es), len(es))
		}
		var moved []vast.Entity
		for _, e := range es {
			now := moves.Resolve(e)
			if from.Alive(e) || !to.Alive(now) {
				t.Fatalf("%v became %v", e, now)
			}
			moved = append(moved, now)
		}
		for old, now := range moves.All() {
			if moves.Resolve(old) != now {
				t.Fatalf("All and Resolve disagree about %v", old)
			}
		}
		got := to.shape(moved, to.labels(moved, foreign), true)
		if got != want {
			wl, gl := strings.Split(want, "\n"), strings.Split(got, "\n")
			for k := range wl {
				if wl[k] != gl[k] {
					t.Fatalf("entity %d:\nbefore %s\nafter  %s", k, wl[k], gl[k])
				}
			}
		}
		if to.shape(others, vast.Entity.String, true) != otherShape {
			t.Fatal("the other entities have changed")
		}
		// The emptied world can be used again.
		from.fill(r, 50)
		from.Close()
		to.Close()
	}
}

func TestMergeRefused(t *testing.T) {
	from, to := newScene(t, 0, vast.Options{Name: "level", MaxEntities: 1 << 10}),
		newScene(t, 1, vast.Options{Name: "game", MaxEntities: 256})
	es := from.fill(rand.New(rand.NewPCG(5, 6)), 200)
	if _, err := from.names.Set(es[7], "hero"); err != nil {
		t.Fatal(err)
	}
	hero := to.Archetype().New()
	if _, err := to.names.Set(hero, "hero"); err != nil {
		t.Fatal(err)
	}
	shape := from.shape(es, vast.Entity.String, true)
	unchanged := func(when string) {
		t.Helper()
		if from.shape(es, vast.Entity.String, true) != shape || from.Len() != 200 || to.Len() != 1 {
			t.Errorf("%s: a refused Merge has changed a world", when)
		}
	}
	_, err := clone.Merge(from.World, to.World, clone.Options{})
	var taken *vast.NameTaken
	if !errors.As(err, &taken) || taken.Name != "hero" || taken.Owner != hero {
		t.Errorf("a taken name: %v", err)
	}
	unchanged("a taken name")
	to.names.Remove(hero)
	cs := vast.NewCommands(from.World, vast.CommandsOptions{})
	cs.Delete(es[0])
	if _, err := clone.Merge(from.World, to.World, clone.Options{}); err == nil ||
		!strings.Contains(err.Error(), "call World.Apply first") {
		t.Errorf("commands that wait: %v", err)
	}
	unchanged("commands that wait")
	if err := cs.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := clone.Merge(from.World, to.World, clone.Options{}); !errors.Is(err, vm.ErrCapacity) {
		t.Errorf("no room: %v", err)
	}
	unchanged("no room")
	mustPanic(t, "give two worlds", func() { _, _ = clone.Merge(to.World, to.World, clone.Options{}) })

	nameless := vast.NewWorld(vast.Options{})
	defer nameless.Close()
	if _, err := clone.Merge(from.World, nameless, clone.Options{Drop: true}); err == nil ||
		!strings.Contains(err.Error(), "call its World.Names before") {
		t.Errorf("no Names: %v", err)
	}
	unchanged("no Names")
	if moves, err := clone.Merge(nameless, from.World, clone.Options{}); err != nil || moves.Len() != 0 {
		t.Errorf("an empty world: %v", err)
	}
	unchanged("an empty world")
}

// TestMergeCallbacks checks the order of callbacks, and that a panic undoes the merge.
func TestMergeCallbacks(t *testing.T) {
	for _, when := range []string{"", "to", "from"} {
		from, to := newScene(t, 0, vast.Options{MaxEntities: 1 << 10}),
			newScene(t, 1, vast.Options{MaxEntities: 1 << 10})
		e := from.Archetype(from.size).New()
		root := from.Archetype().New()
		from.child.Set(e, root)
		tracker := vast.NewTracker(to.World, to.size)
		var told []string
		over := false // closing a world also calls OnRemove
		hear := func(what string) {
			if over {
				return
			}
			told = append(told, what)
			if when != "" && strings.HasPrefix(what, when) {
				panic("no more")
			}
		}
		to.size.OnAdd(func(vast.Entity, *uint64) { hear("to: size") })
		to.child.OnAdd(func(_, _ vast.Entity) { hear("to: child") })
		from.size.OnRemove(func(one vast.Entity, _ *uint64) {
			if !over && (to.Len() != 2 || one != e) {
				t.Error("OnRemove runs before the copies exist")
			}
			hear("from: size")
		})
		from.child.OnRemove(func(_, _ vast.Entity) { hear("from: child") })
		merge := func() {
			if _, err := clone.Merge(from.World, to.World, clone.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		if when != "" {
			mustPanic(t, "no more", merge)
			over = true
			if from.Len() != 2 || to.Len() != 0 || !from.child.Has(e) {
				t.Errorf("panic in %s: %d and %d entities, want 2 and 0", when, from.Len(), to.Len())
			}
			continue
		}
		merge()
		over = true
		if got := strings.Join(told, ", "); got != "to: size, to: child, from: size, from: child" {
			t.Errorf("callbacks: %s", got)
		}
		if n := len(slices.Collect(tracker.Added(to.size))); n != 1 {
			t.Errorf("the tracker notes %d additions", n)
		}
	}
}
