package vast

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

type callbackWorld struct {
	*World
	limit    *vm.Limit
	num      Column[uint64]
	late     Column[uint64]
	pool     SparseColumn[uint64]
	text     HeapColumn[string]
	tag      Tag
	child    Relation // acyclic; deleting a target deletes its sources
	aims     Relation // cyclic; sources survive the deletion of their target
	roads    Edges[uint64]
	names    *Names
	full     *Archetype
	plain    *Archetype
	tracker  *Tracker
	spare    *Tracker
	commands *Commands
	es       []Entity
}

func newCallbackWorld() *callbackWorld {
	limit := vm.NewLimit(64 << 20)
	w := NewWorld(Options{Name: "home", MaxEntities: 1 << 10, Limit: limit})
	f := &callbackWorld{World: w, limit: limit}
	f.num = NewColumn[uint64](w).Named("num")
	f.late = NewColumn[uint64](w).Named("late")
	f.pool = NewSparseColumn[uint64](w).Named("pool")
	f.text = NewHeapColumn[string](w).Named("text")
	f.tag = NewTag(w, "tag")
	f.child = NewRelation(w, "child", RelationOptions{OnDelete: Cascade})
	f.aims = NewRelation(w, "aims", RelationOptions{Cyclic: true})
	f.roads = NewEdges[uint64](w, "roads", EdgesOptions{Capacity: 1000})
	f.names = w.Names()
	f.full = w.Archetype(f.num, f.pool, f.text, f.tag)
	f.plain = w.Archetype(f.num)
	f.commands = NewCommands(w, CommandsOptions{})
	for _, a := range []*Archetype{f.full, f.full, f.full, f.full, f.full, f.full, f.full, f.plain} {
		a.NewN(10, func(r Run) {
			for i := range r.Len() {
				f.es = append(f.es, r.Entity(i))
			}
		})
	}
	for i := 1; i < 8; i++ {
		f.child.Set(f.es[i], f.es[i/2])
		f.aims.Set(f.es[i], f.es[(i+1)%8])
		f.roads.Add(f.es[i], f.es[i/2], 1)
	}
	_, _ = f.names.Set(f.es[0], "zero")
	// Holes make NewN call its callback several times.
	for i := 20; i < 60; i += 3 {
		w.Delete(f.es[i])
	}
	f.tracker, f.spare = NewTracker(w, f.num, f.pool), NewTracker(w, f.num)
	f.num.Set(f.es[1], 1)
	f.num.Remove(f.es[2])
	f.num.Add(f.es[2], 3)
	f.num.Remove(f.es[3])
	f.num.Add(w.Archetype().New(), 4)
	SetResource(w, 5)
	return f
}

// callbackPlaces are places, other than hooks, where the package calls a function of the user. Each function
// of the map runs an operation that calls back in one of these places. Its parameter call is the callback.
var callbackPlaces = map[string]func(f *callbackWorld, call func()){
	"fill": func(f *callbackWorld, call func()) { f.full.NewN(100, func(Run) { call() }) },
	"fill of CloneN": func(f *callbackWorld, call func()) {
		f.CloneN(f.es[1], 100, func(Run) { call() })
	},
	"World.Visit": func(f *callbackWorld, call func()) {
		done := make(chan error, 1)
		go func() {
			defer func() {
				if v := recover(); v != nil {
					done <- fmt.Errorf("%v", v)
				}
			}()
			done <- f.Visit(context.Background(), func() bool { call(); return true })
		}()
		f.visits.untilOneWaits()
		f.Admit(0)
		if err := <-done; err != nil && !errors.Is(err, ErrClosed) {
			panic(err.Error())
		}
	},
	"Query.Runs": func(f *callbackWorld, call func()) {
		f.Query(f.num).Runs()(func(Run) bool { call(); return true })
	},
	"Query.All": func(f *callbackWorld, call func()) {
		f.Query(f.num).All()(func(Entity) bool { call(); return true })
	},
	"Query.Words": func(f *callbackWorld, call func()) {
		f.Query(f.num).Words()(func(int, uint64) bool { call(); return true })
	},
	"Query.Batches": func(f *callbackWorld, call func()) {
		f.Query(f.num).Batches(8)(func(Batch) bool { call(); return true })
	},
	"Batch.All": func(f *callbackWorld, call func()) {
		for b := range f.Query(f.num).Batches(8) {
			b.All()(func(Entity) bool { call(); return true })
		}
	},
	"Query.Among": func(f *callbackWorld, call func()) {
		f.Query().Among(f.es[1:4]).Runs()(func(Run) bool { call(); return true })
	},
	"Query.Changed": func(f *callbackWorld, call func()) {
		f.Query().Changed(f.num, f.tracker).Runs()(func(Run) bool { call(); return true })
	},
	"Query.To": func(f *callbackWorld, call func()) {
		f.Query().To(f.child, f.es[1]).Runs()(func(Run) bool { call(); return true })
	},
	"Order.Ascending": func(f *callbackWorld, call func()) {
		NewOrder(f.Query(f.num), f.num, func(v *uint64) uint64 { return *v }).Ascending()(
			func(Slot, *uint64) bool { call(); return true })
	},
	"NewOrder's key": func(f *callbackWorld, call func()) {
		o := NewOrder(f.Query(f.pool), f.pool, func(v *uint64) uint64 { defer call(); return *v })
		o.Descending()(func(Slot, *uint64) bool { return true })
	},
	"Relation.Sources": func(f *callbackWorld, call func()) {
		f.child.Sources(f.es[1])(func(Entity) bool { call(); return true })
	},
	"Relation.Ancestors": func(f *callbackWorld, call func()) {
		f.child.Ancestors(f.es[7])(func(Entity) bool { call(); return true })
	},
	"Relation.Descendants": func(f *callbackWorld, call func()) {
		f.child.Descendants(f.es[0])(func(Entity) bool { call(); return true })
	},
	"Relation.InDepthOrder": func(f *callbackWorld, call func()) {
		f.child.InDepthOrder(f.Query())(func(Run) bool { call(); return true })
	},
	"Edges.Targets": func(f *callbackWorld, call func()) {
		f.roads.Targets(f.es[1])(func(Entity, *uint64) bool { call(); return true })
	},
	"Edges.Sources": func(f *callbackWorld, call func()) {
		f.roads.Sources(f.es[1])(func(Entity, *uint64) bool { call(); return true })
	},
	"Tracker.Added": func(f *callbackWorld, call func()) {
		f.tracker.Added(f.num)(func(Entity) bool { call(); return true })
	},
	"Tracker.Changed": func(f *callbackWorld, call func()) {
		f.tracker.Changed(f.num)(func(Entity) bool { call(); return true })
	},
	"Tracker.Removed": func(f *callbackWorld, call func()) {
		f.tracker.Removed(f.num)(func(Entity) bool { call(); return true })
	},
	"probe.Extents": func(f *callbackWorld, call func()) {
		probed.Extents(f.World, 0, func(_, _, _ int, _ *Archetype) bool { call(); return true })
	},
}

// callbackHooks are functions that register a given function as an OnAdd or OnRemove hook of a column, a tag
// or a relation.
var callbackHooks = map[string]struct {
	add    func(f *callbackWorld, call func())
	remove func(f *callbackWorld, call func())
}{
	"num": {
		func(f *callbackWorld, call func()) { f.num.OnAdd(func(Entity, *uint64) { call() }) },
		func(f *callbackWorld, call func()) { f.num.OnRemove(func(Entity, *uint64) { call() }) }},
	"pool": {
		func(f *callbackWorld, call func()) { f.pool.OnAdd(func(Entity, *uint64) { call() }) },
		func(f *callbackWorld, call func()) { f.pool.OnRemove(func(Entity, *uint64) { call() }) }},
	"text": {
		func(f *callbackWorld, call func()) { f.text.OnAdd(func(Entity, *string) { call() }) },
		func(f *callbackWorld, call func()) { f.text.OnRemove(func(Entity, *string) { call() }) }},
	"tag": {
		func(f *callbackWorld, call func()) { f.tag.OnAdd(func(Entity) { call() }) },
		func(f *callbackWorld, call func()) { f.tag.OnRemove(func(Entity) { call() }) }},
	"child": {
		func(f *callbackWorld, call func()) { f.child.OnAdd(func(_, _ Entity) { call() }) },
		func(f *callbackWorld, call func()) { f.child.OnRemove(func(_, _ Entity) { call() }) }},
}

// callbackGains are operations that run the OnAdd hooks of callbackHooks.
var callbackGains = map[string]func(f *callbackWorld){
	"New":  func(f *callbackWorld) { f.child.Set(f.full.New(), f.es[0]) },
	"NewN": func(f *callbackWorld) { f.full.NewN(100, func(Run) {}); f.child.Set(f.es[8], f.es[0]) },
	"Add": func(f *callbackWorld) {
		e := f.Archetype().New()
		f.num.Add(e, 1)
		f.pool.Add(e, 1)
		f.text.Add(e, "x")
		f.tag.Add(e)
		f.child.Set(e, f.es[9])
	},
	"AddAll": func(f *callbackWorld) {
		q := f.Query()
		f.num.AddAll(q, 1)
		f.pool.AddAll(q, 1)
		f.text.AddAll(q, "x")
		f.tag.AddAll(q)
		f.child.SetAll(f.Query().Among(f.es[10:15]), f.es[0])
	},
	"Exchange": func(f *callbackWorld) {
		f.Exchange(f.Query(), []AnyColumn{f.num, f.pool, f.text, f.tag, f.late}, nil)
		f.child.SetAll(f.Query().Among(f.es[10:15]), f.es[0])
	},
	"Apply": func(f *callbackWorld) {
		c := NewCommands(f.World, CommandsOptions{})
		e := c.New(f.full)
		f.child.SetLater(c, e, f.es[0])
		if _, err := f.Apply(c); err != nil {
			panic(err)
		}
	},
}

// callbackLosses are operations that run the OnRemove hooks of callbackHooks.
var callbackLosses = map[string]func(f *callbackWorld){
	"Delete":                  func(f *callbackWorld) { f.Delete(f.es[7]) },
	"Delete with descendants": func(f *callbackWorld) { f.Delete(f.es[0]) },
	"DeleteAll":               func(f *callbackWorld) { f.DeleteAll(f.Query()) },
	"Remove": func(f *callbackWorld) {
		f.num.Remove(f.es[4])
		f.pool.Remove(f.es[4])
		f.text.Remove(f.es[4])
		f.tag.Remove(f.es[4])
		f.child.Remove(f.es[4])
	},
	"RemoveAll": func(f *callbackWorld) {
		q := f.Query()
		f.num.RemoveAll(q)
		f.pool.RemoveAll(q)
		f.text.RemoveAll(q)
		f.tag.RemoveAll(q)
		f.child.RemoveAll(q)
	},
	"Exchange": func(f *callbackWorld) {
		f.Exchange(f.Query(), []AnyColumn{f.late}, []AnyColumn{f.num, f.pool, f.text, f.tag, f.child})
	},
	"Apply": func(f *callbackWorld) {
		c := NewCommands(f.World, CommandsOptions{})
		c.Delete(f.es[4])
		if _, err := f.Apply(c); err != nil {
			panic(err)
		}
	},
	"Reset": func(f *callbackWorld) { f.Reset() },
	"Close": func(f *callbackWorld) { _ = f.Close() },
}

// TestCallbacks calls operations of the package from places where the package calls a function of the user.
// The call must work, or panic with a message that says what to do. Afterwards the world must be usable. Each
// run tries a random share of the pairs of place and operation.
func TestCallbacks(t *testing.T) {
	places := map[string]func(f *callbackWorld, call func()){}
	for name, place := range callbackPlaces {
		places[name] = place
	}
	for name, hook := range callbackHooks {
		for op, do := range callbackGains {
			places["OnAdd of "+name+" in "+op] = func(f *callbackWorld, call func()) {
				hook.add(f, call)
				do(f)
			}
		}
		for op, do := range callbackLosses {
			places["OnRemove of "+name+" in "+op] = func(f *callbackWorld, call func()) {
				hook.remove(f, call)
				do(f)
			}
		}
	}
	share := longtest.Pick(48, 4)
	refused, worked := 0, 0
	for place, run := range places {
		for verb, do := range callbackVerbs {
			if rand.IntN(share) != 0 {
				continue
			}
			if tryCallback(t, place, run, verb, do) {
				refused++
			} else {
				worked++
			}
		}
	}
	t.Logf("%d places, %d operations: %d calls worked, %d were refused",
		len(places), len(callbackVerbs), worked, refused)
	if refused == 0 || worked == 0 {
		t.Errorf("%d calls worked and %d were refused, want some of each", worked, refused)
	}
}

// tryCallback calls an operation in a place and reports whether the operation or the place panicked.
func tryCallback(
	t *testing.T, place string, run func(*callbackWorld, func()), verb string, do func(*callbackWorld),
) (refused bool) {
	f := newCallbackWorld()
	calls, inside := 0, uint64(0)
	v := panicOf(func() {
		run(f, func() {
			if calls++; calls > 1 {
				return
			}
			before := f.World.changes
			defer func() { inside = f.World.changes - before }()
			do(f)
		})
	})
	what := verb + " in " + place
	if calls == 0 {
		t.Fatalf("%s: the place does not call the function: %v", what, v)
	}
	if _, ok := v.(runtime.Error); ok {
		t.Fatalf("%s: %v", what, v)
	}
	if v != nil {
		text := fmt.Sprint(v)
		remedies := []string{"after the loop", ": call it after ", "do not use a world after Close",
			": write after the operation", ": take the slot from a query ", "after NewN"}
		says := func(remedy string) bool { return strings.Contains(text, remedy) }
		if !slices.ContainsFunc(remedies, says) {
			t.Fatalf("%s panics without a remedy: %s", what, text)
		}
	} else if inside != 0 && place != "World.Visit" {
		t.Fatalf("%s changed the structure, and the world did not detect the change", what)
	}
	f.World.checkInvariants()
	f.mustBeUsable(t, what)
	return v != nil
}

// mustBeUsable runs typical operations on the world and closes it.
func (f *callbackWorld) mustBeUsable(t *testing.T, what string) {
	w := f.World
	if !w.closed {
		w.Reset()
		f.full.NewN(200, nil)
		es := slices.Collect(w.Query().All())
		if len(es) != 200 || f.pool.Len() != 200 || f.text.Len() != 200 {
			t.Fatalf("%s: afterwards the world has %d entities, the sparse column %d, the heap column %d, "+
				"want 200 in each", what, len(es), f.pool.Len(), f.text.Len())
		}
		f.child.SetAll(w.Query().Among(es[1:]), es[0])
		f.pool.RemoveAll(w.Query().Among(es[:50]))
		f.pool.AddAll(w.Query(), 4)
		if err := w.Trim(); err != nil {
			t.Fatalf("%s: Trim afterwards: %v", what, err)
		}
		w.checkInvariants()
		if n := w.Len(); !w.Delete(es[0]) || n != 200 || w.Len() != 0 {
			t.Fatalf("%s: afterwards, Delete with a cascade leaves %d of %d entities, want 0 of 200",
				what, w.Len(), n)
		}
		w.checkInvariants()
	}
	if err := w.Close(); err != nil {
		t.Fatalf("%s: Close afterwards: %v", what, err)
	}
	if used := f.limit.Used(); used != 0 {
		t.Fatalf("%s: %d bytes are charged to the closed world", what, used)
	}
}
