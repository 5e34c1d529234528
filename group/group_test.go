package group_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/group"
	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/shared"
	"github.com/vastgo/vast/store"
	"github.com/vastgo/vast/vm"
)

type position struct{ X, Y float64 }

type team struct{ Number int32 }

type game struct {
	*vast.World
	pos    vast.Column[position]
	teams  shared.Column[team]
	hidden vast.Tag
}

func newGame(t testing.TB, o vast.Options) *game {
	w := vast.NewWorld(o)
	t.Cleanup(func() { w.Close() })
	return gameIn(w)
}

func gameIn(w *vast.World) *game {
	return &game{w, vast.NewColumn[position](w), shared.New[team](w), vast.NewTag(w, "hidden")}
}

// mustEqual fails if a group differs from its query.
func mustEqual(t *testing.T, what string, g *group.Group, q vast.Query) {
	t.Helper()
	got, want := slices.Collect(g.Query().All()), slices.Collect(q.All())
	if !slices.Equal(got, want) || g.Query().Count() != len(want) {
		t.Fatalf("%s: the group has %d entities, its query %d", what, len(got), len(want))
	}
}

// TestByValue changes the teams of entities with all Set methods, Replace and AddLater, and compares the
// groups of teams with their queries. Package vast tests groups without values.
func TestByValue(t *testing.T) {
	g := newGame(t, vast.Options{})
	r := rand.New(rand.NewPCG(1, 2))
	visible := g.Query(g.pos).Without(g.hidden)
	var queries []vast.Query
	var groups []*group.Group
	for i := range 4 {
		queries = append(queries, g.teams.Where(visible, team{int32(i)}))
		groups = append(groups, group.New(queries[i]))
	}
	some := func() team { return team{int32(r.IntN(5))} }
	kind := g.Archetype(g.pos, g.teams)
	kind.NewN(1000, nil)
	asleep := vast.NewDisabled(g.World, "asleep")
	unseen := vast.NewDisabled(g.World, "unseen", g.hidden)
	cs := vast.NewCommands(g.World, vast.CommandsOptions{})
	for step := range 300 {
		all := slices.Collect(g.Query().All())
		e := all[r.IntN(len(all))]
		switch r.IntN(12) {
		case 0:
			kind.NewN(r.IntN(200), nil)
		case 1:
			g.DeleteAll(g.teams.Where(g.Query().Between(r.IntN(500), 500), some()))
		case 2:
			g.teams.Set(e, some())
		case 3:
			for run := range g.Query(g.teams).Runs() {
				g.teams.SetRun(run, some())
			}
		case 4:
			for s := range g.Query(g.teams).Slots() {
				g.teams.SetAt(s, some())
			}
		case 5:
			g.teams.Replace(some(), some())
		case 6:
			g.teams.AddLater(cs, e, some())
			g.teams.SetLater(cs, all[r.IntN(len(all))], some())
			if _, err := g.Apply(cs); err != nil {
				t.Fatal(err)
			}
		case 7:
			g.hidden.Add(e)
			g.hidden.AddAll(groups[1].Query().Between(r.IntN(500), 1000))
		case 8:
			g.hidden.RemoveAll(g.Query().Between(r.IntN(500), 1000))
		case 9:
			g.teams.SetAll(g.Query(g.pos).Between(r.IntN(900), 1000), some())
		case 10:
			asleep.Add(e)
			unseen.Add(all[r.IntN(len(all))])
		case 11:
			kind.Pack(vast.MoveOptions{})
			if err := g.Trim(); err != nil {
				t.Fatal(err)
			}
		}
		for i, q := range queries {
			if r.IntN(2) == 0 {
				mustEqual(t, fmt.Sprint("step ", step, ", team ", i), groups[i], q)
			}
		}
	}
	for e := range groups[2].Query().All() {
		if v, _ := g.teams.Get(e); v.Number != 2 {
			t.Fatalf("%v has team %d", e, v.Number)
		}
	}
	n := g.Len()
	died := g.DeleteAll(groups[2].Query())
	if left := groups[2].Query().Count(); died == 0 || g.Len() != n-died || left != 0 {
		t.Errorf("%d of %d entities were deleted, %d remain, %d in the group", died, n, g.Len(), left)
	}
}

// TestWritesInLoop moves each entity from team 0 to team 1 in a loop over the group of team 0.
func TestWritesInLoop(t *testing.T) {
	g := newGame(t, vast.Options{})
	g.Archetype(g.pos, g.teams).NewN(500, nil)
	zero := group.New(g.teams.Where(g.Query(g.pos), team{}))
	one := group.New(g.teams.Where(g.Query(g.pos), team{1}))
	if got := zero.Query().Plan(); !strings.HasPrefix(got, "bits of a group; position, team; entities: 500") {
		t.Errorf("the plan is %q", got)
	}
	n := 0
	for s := range zero.Query().Slots() {
		g.teams.SetAt(s, team{1})
		n++
	}
	if n != 500 || zero.Query().Count() != 0 || one.Query().Count() != 500 {
		t.Errorf("the loop visits %d of 500 entities, then the groups have %d and %d", n,
			zero.Query().Count(), one.Query().Count())
	}
}

func TestSeveralGoroutines(t *testing.T) {
	g := newGame(t, vast.Options{})
	g.Archetype(g.pos, g.teams).NewN(10_000, nil)
	one := group.New(g.teams.Where(g.Query(g.pos), team{1}))
	for i := range 20 {
		for s := range g.Query(g.teams).Between(i*500, 10_000).Slots() {
			g.teams.SetAt(s, team{int32(i % 2)})
		}
		loopInParallel(t, one, g.teams.Where(g.Query(g.pos), team{1}).Count())
	}
}

// TestSeveralGoroutinesAfterNewDisabled: a new Disabled makes each group test all entities again.
func TestSeveralGoroutinesAfterNewDisabled(t *testing.T) {
	g := newGame(t, vast.Options{})
	g.Archetype(g.pos).NewN(10_000, nil)
	shown := group.New(g.Query(g.pos).Without(g.hidden))
	for i := range 20 {
		vast.NewDisabled(g.World, fmt.Sprint("off ", i), g.hidden)
		loopInParallel(t, shown, 10_000)
	}
}

// loopInParallel loops over a group on several goroutines. Each goroutine must see the wanted number of
// entities.
func loopInParallel(t *testing.T, g *group.Group, want int) {
	t.Helper()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			n := 0
			for run := range g.Query().Runs() {
				n += run.Len()
			}
			if n != want {
				t.Errorf("a goroutine sees %d entities, want %d", n, want)
			}
		})
	}
	wait.Wait()
}

func TestLoad(t *testing.T) {
	g := newGame(t, vast.Options{Mark: 1})
	g.Archetype(g.pos, g.teams).NewN(300, nil)
	g.teams.SetAll(g.Query().Between(50, 90), team{1})
	g.hidden.AddAll(g.Query().Between(50, 90))
	group.New(g.Query(g.pos)) // the file does not contain this group
	var file bytes.Buffer
	if err := store.Save(g.World, &file, store.Options{}); err != nil {
		t.Fatal(err)
	}
	to := newGame(t, vast.Options{Mark: 1})
	q := to.teams.Where(to.Query(to.pos, to.hidden), team{1})
	before := group.New(q)
	tracker := vast.NewTracker(to.World, to.pos)
	if _, err := store.Load(to.World, &file, store.Options{}); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "after Load", before, q)
	if n := before.Query().Count(); n != 40 {
		t.Errorf("the group has %d entities after Load, want 40", n)
	}
	if n := len(slices.Collect(tracker.Added(to.pos))); n != 300 {
		t.Errorf("the tracker reports %d entities after Load, want 300", n)
	}
}

func TestClose(t *testing.T) {
	g := newGame(t, vast.Options{})
	g.Archetype(g.pos, g.teams).NewN(1000, nil)
	before := g.Stats().Committed
	q := g.teams.Where(g.Query(g.pos), team{})
	for i := range 50 {
		one := group.New(q)
		tracker := vast.NewTracker(g.World, g.teams)
		mustEqual(t, "open", one, q)
		if i%2 == 0 {
			tracker.Close()
		}
		one.Close()
		one.Close()
		tracker.Close()
		if after := g.Stats().Committed; after != before {
			t.Fatalf("round %d: the world has %d bytes after Close, and had %d", i, after, before)
		}
	}
}

func TestMisuse(t *testing.T) {
	g := newGame(t, vast.Options{})
	e := g.Archetype(g.pos, g.teams).New()
	rel := vast.NewRelation(g.World, "rel", vast.RelationOptions{})
	off := vast.NewDisabled(g.World, "off")
	tracker := vast.NewTracker(g.World, g.pos)
	one := group.New(g.Query(g.pos))
	shut := group.New(g.Query(g.pos))
	q := shut.Query()
	shut.Close()
	var none *group.Group
	closed := newGame(t, vast.Options{})
	last := group.New(closed.Query(closed.pos)).Query()
	all := closed.Query(closed.pos)
	closed.Close()
	for want, f := range map[string]func(){
		"group: Group.Query: there is no group":    func() { none.Query() },
		"group: Group.Close: there is no group":    func() { new(group.Group).Close() },
		"the zero Query belongs to no world":       func() { group.New(vast.Query{}) },
		"the query asks for no column: name a":     func() { group.New(g.Query().Without(g.pos)) },
		"belongs to a group already":               func() { group.New(one.Query()) },
		"Query.To, which a group does not keep":    func() { group.New(g.Query(g.pos).To(rel, e)) },
		"Query.Changed, which":                     func() { group.New(g.Query().Changed(g.pos, tracker)) },
		"Query.Where or Query.Up, which":           func() { group.New(g.Query().Where(rel, g.Query())) },
		"Query.Among, which":                       func() { group.New(g.Query(g.pos).Among(nil)) },
		"Query.Between, which":                     func() { group.New(g.Query(g.pos).Between(0, 9)) },
		"Query.Exactly, which":                     func() { group.New(g.Query(g.pos).Exactly()) },
		"a Disabled, which":                        func() { group.New(g.Query(g.pos, off)) },
		"do not use Group.Query after Group.Close": func() { q.Count() },
		"group.New on the closed world":            func() { group.New(all) },
		"Query on the closed world":                func() { last.Count() },
		"while a query was running, by group.New": func() {
			for range one.Query().All() {
				group.New(g.Query(g.pos))
			}
		},
		"while a query was running, by Group.Close": func() {
			two := group.New(g.Query(g.pos))
			for range two.Query().All() {
				two.Close() //vastvet:ignore queryloop: to see the panic
			}
		},
	} {
		if got := modeltest.PanicText(f); !strings.Contains(got, want) {
			t.Errorf("got the panic %q, want %q", got, want)
		}
	}
}

// TestFaults makes each memory call fail in turn.
func TestFaults(t *testing.T) {
	faulttest.EachCall(t, func() (failed error) {
		w := vast.NewWorld(vast.Options{MaxEntities: 1 << 14})
		defer w.Close()
		g := gameIn(w)
		kind := g.Archetype(g.pos, g.teams)
		kind.NewN(100, nil)
		q := g.teams.Where(g.Query(g.pos), team{})
		var one *group.Group
		if err := faulttest.Again(t, "group.New", func() error { one = group.New(q); return nil }, func() {
			if n := q.Count(); n != 100 {
				t.Fatalf("group.New failed, and the query has %d entities", n)
			}
		}); err != nil {
			failed = err
		}
		if err := faulttest.Again(t, "NewN", func() error { kind.NewN(9000, nil); return nil }, func() {
			mustEqual(t, "NewN failed", one, q)
		}); err != nil {
			failed = err
		}
		mustEqual(t, "at the end", one, q)
		return failed
	})
}

func TestLimit(t *testing.T) {
	limit := vm.NewLimit(1 << 20)
	g := newGame(t, vast.Options{Limit: limit})
	kind := g.Archetype(g.pos)
	one := group.New(g.Query(g.pos))
	var err *vm.Error
	for err == nil {
		func() {
			defer func() {
				if v := recover(); v != nil && !errors.As(v.(error), &err) {
					panic(v)
				}
			}()
			kind.NewN(1000, nil)
		}()
	}
	mustEqual(t, "at the limit", one, g.Query(g.pos))
	if !errors.Is(err, vm.ErrLimit) {
		t.Errorf("the births fail with %v", err)
	}
}
