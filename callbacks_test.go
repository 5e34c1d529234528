package vast

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/vm"
)

// Every verb of the package is called from every place where the package calls a user's function. The call works or
// panics with a remedy; afterwards the world's books agree, and it can be used.

// callbackWorld is a small world in which everything is.
type callbackWorld struct {
	*World
	limit    *vm.Limit
	num      Column[uint64]
	late     Column[uint64]
	pool     SparseColumn[uint64]
	text     HeapColumn[string]
	tag      Tag
	child    Relation // a hierarchy that cascades
	aims     Relation // with circles, and orphans
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
	// Holes, so that births come in several runs.
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

// callbackVerbs are all methods of a world's parts, by their names.
var callbackVerbs = map[string]func(f *callbackWorld){
	"World.Alive":        func(f *callbackWorld) { f.Alive(f.es[0]) },
	"World.Apply":        func(f *callbackWorld) { f.commands.Delete(f.es[5]); _, _ = f.Apply(f.commands) },
	"World.Archetype":    func(f *callbackWorld) { f.Archetype(f.late, f.pool) },
	"probe.Parts":        func(f *callbackWorld) { probed.Parts(f.World, func(AnyColumn, probing.Part) {}) },
	"probe.EntityAt":     func(f *callbackWorld) { probed.EntityAt(f.World, 0) },
	"World.Changes":      func(f *callbackWorld) { f.Changes() },
	"World.Close":        func(f *callbackWorld) { _ = f.Close() },
	"probe.Columns":      func(f *callbackWorld) { probed.Columns(f.World) },
	"probe.ComponentsOf": func(f *callbackWorld) { probed.ComponentsOf(f.World, f.es[0]) },
	"World.Delete":       func(f *callbackWorld) { f.Delete(f.es[6]) },
	"World.DeleteAll":    func(f *callbackWorld) { f.DeleteAll(f.Query(f.tag)) },
	"World.Exchange": func(f *callbackWorld) {
		f.Exchange(f.Query(f.num), []AnyColumn{f.late, f.pool}, []AnyColumn{f.tag, f.child})
	},
	"probe.Extents": func(f *callbackWorld) {
		probed.Extents(f.World, 0, func(_, _, _ int, _ *Archetype) bool { return true })
	},
	"World.Len":            func(f *callbackWorld) { f.Len() },
	"NewCommands":          func(f *callbackWorld) { NewCommands(f.World, CommandsOptions{}).Delete(f.es[1]) },
	"World.NotifyVisits":   func(f *callbackWorld) { f.NotifyVisits(make(chan struct{}, 1))() },
	"probe.Occupied":       func(f *callbackWorld) { probed.Occupied(f.World, f.num, 0, 100) },
	"World.Options":        func(f *callbackWorld) { f.Options() },
	"probe.Presence":       func(f *callbackWorld) { probed.Presence(f.World, f.num, 0) },
	"World.Query":          func(f *callbackWorld) { f.Query(f.num).Count() },
	"probe.Regions":        func(f *callbackWorld) { probed.Regions(f.World) },
	"World.Reset":          func(f *callbackWorld) { f.Reset() },
	"World.Resident":       func(f *callbackWorld) { _, _ = f.Resident() },
	"World.ResidentStats":  func(f *callbackWorld) { _, _ = f.ResidentStats() },
	"World.Slots":          func(f *callbackWorld) { f.Slots() },
	"World.Sprint":         func(f *callbackWorld) { f.Sprint(f.es[0]) },
	"World.Stats":          func(f *callbackWorld) { f.Stats() },
	"NewTracker":           func(f *callbackWorld) { NewTracker(f.World, f.late, f.tag) },
	"World.Trim":           func(f *callbackWorld) { _ = f.Trim() },
	"probe.Uses":           func(f *callbackWorld) { probed.Uses(f.World, 0) },
	"NewColumn":            func(f *callbackWorld) { NewColumn[int32](f.World) },
	"NewSparseColumn":      func(f *callbackWorld) { NewSparseColumn[int32](f.World).Add(f.es[0], 1) },
	"NewSparseColumn only": func(f *callbackWorld) { NewSparseColumn[int32](f.World) },
	"NewHeapColumn":        func(f *callbackWorld) { NewHeapColumn[[]int](f.World) },
	"NewTag":               func(f *callbackWorld) { NewTag(f.World, "more") },
	"NewRelation":          func(f *callbackWorld) { NewRelation(f.World, "more", RelationOptions{OnDelete: Cascade}) },
	"NewEdges":             func(f *callbackWorld) { NewEdges[int](f.World, "more", EdgesOptions{}) },
	"SetResource":          func(f *callbackWorld) { SetResource(f.World, 7); RemoveResource[int](f.World) },
	"probe.SetValue":       func(f *callbackWorld) { probed.SetValue(f.num, f.es[0], reflect.ValueOf(uint64(1))) },
	"probe.AddValue":       func(f *callbackWorld) { probed.AddValue(f.late, f.es[0], reflect.ValueOf(uint64(1))) },
	"probe.RemoveValue":    func(f *callbackWorld) { probed.RemoveValue(f.tag, f.es[0]) },

	"Column.Add":       func(f *callbackWorld) { f.late.Add(f.es[0], 1) },
	"Column.Add again": func(f *callbackWorld) { f.num.Add(f.es[0], 1) },
	"Column.AddAll":    func(f *callbackWorld) { f.late.AddAll(f.Query(), 1) },
	"Column.AddLater":  func(f *callbackWorld) { f.late.AddLater(f.commands, f.es[0], 1) },
	"Column.Edit":      func(f *callbackWorld) { f.num.Edit(f.es[0]) },
	"Column.EditRun": func(f *callbackWorld) {
		for r := range f.Query(f.num).Runs() {
			f.num.EditRun(r)
		}
	},
	"Column.Get":         func(f *callbackWorld) { f.num.Get(f.es[0]) },
	"Column.Grow":        func(f *callbackWorld) { _ = f.late.Grow(1) },
	"Column.Has":         func(f *callbackWorld) { f.num.Has(f.es[0]) },
	"Column.Len":         func(f *callbackWorld) { f.num.Len() },
	"Column.OnAdd":       func(f *callbackWorld) { f.late.OnAdd(func(Entity, *uint64) {}) },
	"Column.OnRemove":    func(f *callbackWorld) { f.num.OnRemove(func(Entity, *uint64) {}) },
	"Column.Remove":      func(f *callbackWorld) { f.num.Remove(f.es[1]) },
	"Column.RemoveAll":   func(f *callbackWorld) { f.num.RemoveAll(f.Query()) },
	"Column.RemoveLater": func(f *callbackWorld) { f.num.RemoveLater(f.commands, f.es[0]) },
	"Column.Set":         func(f *callbackWorld) { f.num.Set(f.es[0], 1) },
	"Column.SetAll":      func(f *callbackWorld) { f.num.SetAll(f.Query(), 1) },
	"Column.SetLater":    func(f *callbackWorld) { f.num.SetLater(f.commands, f.es[0], 1) },

	"SparseColumn.Add":         func(f *callbackWorld) { f.pool.Add(f.es[75], 1) },
	"SparseColumn.AddAll":      func(f *callbackWorld) { f.pool.AddAll(f.Query(), 1) },
	"SparseColumn.AddLater":    func(f *callbackWorld) { f.pool.AddLater(f.commands, f.es[0], 1) },
	"SparseColumn.Edit":        func(f *callbackWorld) { f.pool.Edit(f.es[0]) },
	"SparseColumn.Get":         func(f *callbackWorld) { f.pool.Get(f.es[0]) },
	"SparseColumn.Grow":        func(f *callbackWorld) { _ = f.pool.Grow(1000) },
	"SparseColumn.OnAdd":       func(f *callbackWorld) { f.pool.OnAdd(func(Entity, *uint64) {}) },
	"SparseColumn.OnRemove":    func(f *callbackWorld) { f.pool.OnRemove(func(Entity, *uint64) {}) },
	"SparseColumn.Remove":      func(f *callbackWorld) { f.pool.Remove(f.es[1]) },
	"SparseColumn.RemoveAll":   func(f *callbackWorld) { f.pool.RemoveAll(f.Query()) },
	"SparseColumn.RemoveLater": func(f *callbackWorld) { f.pool.RemoveLater(f.commands, f.es[0]) },
	"SparseColumn.Set":         func(f *callbackWorld) { f.pool.Set(f.es[0], 1) },
	"SparseColumn.SetAll":      func(f *callbackWorld) { f.pool.SetAll(f.Query(), 1) },
	"SparseColumn.SetLater":    func(f *callbackWorld) { f.pool.SetLater(f.commands, f.es[0], 1) },

	"HeapColumn.Add":         func(f *callbackWorld) { f.text.Add(f.es[75], "x") },
	"HeapColumn.AddAll":      func(f *callbackWorld) { f.text.AddAll(f.Query(), "x") },
	"HeapColumn.AddLater":    func(f *callbackWorld) { f.text.AddLater(f.commands, f.es[0], "x") },
	"HeapColumn.Edit":        func(f *callbackWorld) { f.text.Edit(f.es[0]) },
	"HeapColumn.Get":         func(f *callbackWorld) { f.text.Get(f.es[0]) },
	"HeapColumn.Grow":        func(f *callbackWorld) { _ = f.text.Grow(1) },
	"HeapColumn.OnAdd":       func(f *callbackWorld) { f.text.OnAdd(func(Entity, *string) {}) },
	"HeapColumn.OnRemove":    func(f *callbackWorld) { f.text.OnRemove(func(Entity, *string) {}) },
	"HeapColumn.Remove":      func(f *callbackWorld) { f.text.Remove(f.es[1]) },
	"HeapColumn.RemoveAll":   func(f *callbackWorld) { f.text.RemoveAll(f.Query()) },
	"HeapColumn.RemoveLater": func(f *callbackWorld) { f.text.RemoveLater(f.commands, f.es[0]) },
	"HeapColumn.Set":         func(f *callbackWorld) { f.text.Set(f.es[0], "x") },
	"HeapColumn.SetAll":      func(f *callbackWorld) { f.text.SetAll(f.Query(), "x") },
	"HeapColumn.SetLater":    func(f *callbackWorld) { f.text.SetLater(f.commands, f.es[0], "x") },

	"Tag.Add":         func(f *callbackWorld) { f.tag.Add(f.es[75]) },
	"Tag.AddAll":      func(f *callbackWorld) { f.tag.AddAll(f.Query()) },
	"Tag.AddLater":    func(f *callbackWorld) { f.tag.AddLater(f.commands, f.es[0]) },
	"Tag.Grow":        func(f *callbackWorld) { _ = f.tag.Grow(1) },
	"Tag.OnAdd":       func(f *callbackWorld) { f.tag.OnAdd(func(Entity) {}) },
	"Tag.OnRemove":    func(f *callbackWorld) { f.tag.OnRemove(func(Entity) {}) },
	"Tag.Remove":      func(f *callbackWorld) { f.tag.Remove(f.es[1]) },
	"Tag.RemoveAll":   func(f *callbackWorld) { f.tag.RemoveAll(f.Query()) },
	"Tag.RemoveLater": func(f *callbackWorld) { f.tag.RemoveLater(f.commands, f.es[0]) },

	"Relation.Ancestors":    func(f *callbackWorld) { _ = slices.Collect(f.child.Ancestors(f.es[7])) },
	"Relation.Descendants":  func(f *callbackWorld) { _ = slices.Collect(f.child.Descendants(f.es[0])) },
	"Relation.GrowLevels":   func(f *callbackWorld) { _ = f.child.GrowLevels(5) },
	"Relation.InDepthOrder": func(f *callbackWorld) { _ = slices.Collect(f.child.InDepthOrder(f.Query())) },
	"Relation.OnAdd":        func(f *callbackWorld) { f.child.OnAdd(func(_, _ Entity) {}) },
	"Relation.OnRemove":     func(f *callbackWorld) { f.child.OnRemove(func(_, _ Entity) {}) },
	"Relation.Remove":       func(f *callbackWorld) { f.child.Remove(f.es[3]) },
	"Relation.RemoveAll":    func(f *callbackWorld) { f.child.RemoveAll(f.Query()) },
	"Relation.RemoveLater":  func(f *callbackWorld) { f.child.RemoveLater(f.commands, f.es[3]) },
	"Relation.Set":          func(f *callbackWorld) { f.child.Set(f.es[9], f.es[8]) },
	"Relation.Set anew":     func(f *callbackWorld) { f.aims.Set(f.es[3], f.es[9]) },
	"Relation.SetAll":       func(f *callbackWorld) { f.aims.SetAll(f.Query(f.num), f.es[0]) },
	"Relation.SetLater":     func(f *callbackWorld) { f.aims.SetLater(f.commands, f.es[3], f.es[4]) },
	"Relation.SetRun":       func(f *callbackWorld) { f.aims.SetRun(Run{start: f.es[1].slot, n: 5, gens: f.gens}, f.es[0]) },
	"Relation.Sources":      func(f *callbackWorld) { _ = slices.Collect(f.child.Sources(f.es[1])) },

	"Edges.Add":           func(f *callbackWorld) { f.roads.Add(f.es[9], f.es[8], 1) },
	"Edges.Add again":     func(f *callbackWorld) { f.roads.Add(f.es[1], f.es[0], 2) },
	"Edges.Add further":   func(f *callbackWorld) { f.roads.Add(f.es[1], f.es[9], 2) },
	"Edges.AddLater":      func(f *callbackWorld) { f.roads.AddLater(f.commands, f.es[1], f.es[2], 3) },
	"Edges.Grow":          func(f *callbackWorld) { _ = f.roads.Grow(100) },
	"Edges.Sources":       func(f *callbackWorld) { f.roads.Sources(f.es[0])(func(Entity, *uint64) bool { return true }) },
	"Edges.Targets":       func(f *callbackWorld) { f.roads.Targets(f.es[1])(func(Entity, *uint64) bool { return true }) },
	"Edges.Remove":        func(f *callbackWorld) { f.roads.Remove(f.es[1], f.es[0]) },
	"Edges.RemoveLater":   func(f *callbackWorld) { f.roads.RemoveLater(f.commands, f.es[1], f.es[0]) },
	"Edges.RemoveTargets": func(f *callbackWorld) { f.roads.RemoveTargets(f.es[1]) },

	"Names.Find":         func(f *callbackWorld) { f.names.Find("zero") },
	"Names.Remove":       func(f *callbackWorld) { f.names.Remove(f.es[0]) },
	"Names.Set":          func(f *callbackWorld) { _, _ = f.names.Set(f.es[4], "four") },
	"Names.Set anew":     func(f *callbackWorld) { _, _ = f.names.Set(f.es[0], "nought") },
	"Archetype.Grow":     func(f *callbackWorld) { _ = f.full.Grow(500) },
	"Archetype.New":      func(f *callbackWorld) { f.full.New() },
	"Archetype.NewN":     func(f *callbackWorld) { f.full.NewN(80, func(Run) {}) },
	"Archetype.New 2":    func(f *callbackWorld) { f.plain.New() },
	"Tracker.Added":      func(f *callbackWorld) { _ = slices.Collect(f.tracker.Added(f.num)) },
	"Tracker.Changed":    func(f *callbackWorld) { _ = slices.Collect(f.tracker.Changed(f.num)) },
	"Tracker.Close":      func(f *callbackWorld) { f.spare.Close() },
	"Tracker.Next":       func(f *callbackWorld) { f.spare.Next() },
	"Tracker.Removed":    func(f *callbackWorld) { _ = slices.Collect(f.tracker.Removed(f.num)) },
	"Commands.Close":     func(f *callbackWorld) { _ = NewCommands(f.World, CommandsOptions{}).Close() },
	"Commands.Delete":    func(f *callbackWorld) { f.commands.Delete(f.es[0]) },
	"Commands.GrowBytes": func(f *callbackWorld) { _ = f.commands.GrowBytes(1000) },
	"Commands.New":       func(f *callbackWorld) { f.commands.New(f.full) },
	"Commands.Trim":      func(f *callbackWorld) { _ = f.commands.Trim() },
	"Query.Changed":      func(f *callbackWorld) { f.Query().Changed(f.num, f.tracker).Count() },
	"Query.To":           func(f *callbackWorld) { f.Query().To(f.child, f.es[0]).Count() },
}

// callbackPlaces are where the package calls a user's function: each has call called there once.
var callbackPlaces = map[string]func(f *callbackWorld, call func()){
	"fill": func(f *callbackWorld, call func()) { f.full.NewN(100, func(Run) { call() }) },
	"look": func(f *callbackWorld, call func()) {
		done := make(chan error, 1)
		bell := make(chan struct{}, 1)
		defer f.NotifyVisits(bell)()
		go func() {
			defer func() {
				if v := recover(); v != nil {
					done <- fmt.Errorf("%v", v)
				}
			}()
			done <- f.Visit(context.Background(), func() bool { call(); return true })
		}()
		<-bell
		f.Admit(0)
		if err := <-done; err != nil && !errors.Is(err, ErrClosed) {
			panic(err.Error())
		}
	},
	"Query.Runs": func(f *callbackWorld, call func()) { f.Query(f.num).Runs()(func(Run) bool { call(); return true }) },
	"Query.All":  func(f *callbackWorld, call func()) { f.Query(f.num).All()(func(Entity) bool { call(); return true }) },
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
	"Order.All": func(f *callbackWorld, call func()) {
		NewOrder(f.Query(f.num), f.num, func(v *uint64) uint64 { return *v }).All()(
			func(Entity, *uint64) bool { call(); return true })
	},
	"NewOrder's key": func(f *callbackWorld, call func()) {
		o := NewOrder(f.Query(f.pool), f.pool, func(v *uint64) uint64 { defer call(); return *v })
		o.Descending()(func(Entity, *uint64) bool { return true })
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
	"Tracker.Added": func(f *callbackWorld, call func()) { f.tracker.Added(f.num)(func(Entity) bool { call(); return true }) },
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

// callbackHooks register call as a hook: the operations that tell it follow.
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

// callbackGains and callbackLosses are operations that tell hooks of all columns, or of some.
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

var callbackLosses = map[string]func(f *callbackWorld){
	"Delete":       func(f *callbackWorld) { f.Delete(f.es[7]) },
	"Delete below": func(f *callbackWorld) { f.Delete(f.es[0]) },
	"DeleteAll":    func(f *callbackWorld) { f.DeleteAll(f.Query()) },
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

// TestCallbacks tries every verb in every place: some of the pairs in each run, other ones each time.
func TestCallbacks(t *testing.T) {
	places := map[string]func(f *callbackWorld, call func()){}
	for name, place := range callbackPlaces {
		places[name] = place
	}
	for name, hook := range callbackHooks {
		for op, do := range callbackGains {
			places["OnAdd of "+name+" in "+op] = func(f *callbackWorld, call func()) { hook.add(f, call); do(f) }
		}
		for op, do := range callbackLosses {
			places["OnRemove of "+name+" in "+op] = func(f *callbackWorld, call func()) { hook.remove(f, call); do(f) }
		}
	}
	share := longtest.Pick(12, 4)
	if testing.Short() || raceEnabled {
		share = 48
	}
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
	t.Logf("%d places, %d verbs: %d calls worked, %d were refused", len(places), len(callbackVerbs), worked, refused)
	if refused == 0 || worked == 0 {
		t.Error("the test does not reach what it should")
	}
}

// tryCallback calls a verb in a place, and reports whether it was refused.
func tryCallback(t *testing.T, place string, run func(*callbackWorld, func()), verb string, do func(*callbackWorld)) bool {
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
		t.Fatalf("%s was not reached: %v", what, v)
	}
	if _, ok := v.(runtime.Error); ok {
		t.Fatalf("%s: %v", what, v)
	}
	if v != nil {
		text := fmt.Sprint(v)
		remedy := strings.Contains(text, "after the loop") || strings.Contains(text, ": call it after ") ||
			strings.Contains(text, "do not use a world after Close") || strings.Contains(text, ": write after the operation")
		if !remedy {
			t.Fatalf("%s panics without a remedy: %s", what, text)
		}
	} else if inside != 0 && place != "look" {
		t.Fatalf("%s changed the structure, and nothing told of it", what)
	}
	f.World.checkInvariants()
	f.mustBeUsable(t, what)
	return v != nil
}

// mustBeUsable uses the world in all ways and closes it.
func (f *callbackWorld) mustBeUsable(t *testing.T, what string) {
	w := f.World
	if !w.closed {
		w.Reset()
		f.full.NewN(200, nil)
		es := slices.Collect(w.Query().All())
		if len(es) != 200 || f.pool.Len() != 200 || f.text.Len() != 200 {
			t.Fatalf("%s: of 200 entities there are %d, %d and %d afterwards", what, len(es), f.pool.Len(), f.text.Len())
		}
		f.child.SetAll(w.Query().Among(es[1:]), es[0])
		f.pool.RemoveAll(w.Query().Among(es[:50]))
		f.pool.AddAll(w.Query(), 4)
		if err := w.Trim(); err != nil {
			t.Fatalf("%s: Trim afterwards: %v", what, err)
		}
		w.checkInvariants()
		if n := w.Len(); !w.Delete(es[0]) || n != 200 || w.Len() != 0 {
			t.Fatalf("%s: afterwards %d entities are left of %d by a cascade", what, w.Len(), n)
		}
		w.checkInvariants()
	}
	if err := w.Close(); err != nil {
		t.Fatalf("%s: Close afterwards: %v", what, err)
	}
	if used := f.limit.Used(); used != 0 {
		t.Fatalf("%s: %d bytes are in use after Close", what, used)
	}
}

// TestCallbackVerbsAreAll: no method of what holds or changes entities is left out of callbackVerbs.
func TestCallbackVerbsAreAll(t *testing.T) {
	// What only says something about its receiver, or makes a value, or is a place where a function is called.
	others := strings.Fields(`World.Admit World.Visit Column.In Column.Name Column.Named Column.Slice Column.TrySlice
		SparseColumn.Has SparseColumn.In SparseColumn.Len SparseColumn.Name SparseColumn.Named HeapColumn.Has HeapColumn.In HeapColumn.Len HeapColumn.Name HeapColumn.Named
		Tag.Has Tag.In Tag.Len Tag.Name Relation.CountSources Relation.Depth Relation.Has Relation.Len Relation.Name Relation.Root
		Relation.Slice Relation.SourcesAfter Relation.Target Relation.TargetColumn Edges.CountSources Edges.CountTargets Edges.Get Edges.Has Edges.Len
		Edges.Name Edges.TargetColumn Names.Len Names.Name Names.Of World.Names Archetype.Len Commands.At
		Commands.Resolve
		probe.Bytes probe.ColumnsOf probe.CountSources probe.CountTargets probe.Describe probe.EdgesOf probe.EdgesType probe.NamesOf
		probe.NumberOf probe.RelationOf probe.SourceColumn probe.Sources probe.StatsOf probe.TargetColumn probe.Targets probe.Value`)
	for name, v := range map[string]any{"World": &World{}, "Column": Column[uint64]{}, "SparseColumn": SparseColumn[uint64]{},
		"HeapColumn": HeapColumn[string]{}, "Tag": Tag{}, "Relation": Relation{}, "Edges": Edges[uint64]{}, "Names": &Names{},
		"Archetype": &Archetype{}, "Tracker": &Tracker{}, "Commands": &Commands{}, "probe": probed} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumMethod() {
			method := name + "." + typ.Method(i).Name
			if callbackVerbs[method] == nil && !slices.Contains(others, method) {
				t.Errorf("%s is not tried in callbacks", method)
			}
		}
	}
}
