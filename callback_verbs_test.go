package vast

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/probing"
)

// callbackVerbs maps the name of a method or function to a function that calls it. A suffix of the name, such
// as "again", distinguishes several calls of one method.
var callbackVerbs = map[string]func(f *callbackWorld){
	"World.Alive":     func(f *callbackWorld) { f.Alive(f.es[0]) },
	"World.Apply":     func(f *callbackWorld) { f.commands.Delete(f.es[5]); _, _ = f.Apply(f.commands) },
	"World.Archetype": func(f *callbackWorld) { f.Archetype(f.late, f.pool) },
	"probe.NewColumn": func(f *callbackWorld) {
		probed.NewColumn(f.World, "new", reflect.TypeFor[uint16](), probing.StorageSparse)
	},
	"probe.Parts":        func(f *callbackWorld) { probed.Parts(f.World, func(AnyColumn, probing.Part) {}) },
	"probe.EntityAt":     func(f *callbackWorld) { probed.EntityAt(f.World, 0) },
	"World.Changes":      func(f *callbackWorld) { f.Changes() },
	"World.Close":        func(f *callbackWorld) { _ = f.Close() },
	"probe.Columns":      func(f *callbackWorld) { probed.Columns(f.World) },
	"probe.Archetypes":   func(f *callbackWorld) { probed.Archetypes(f.World) },
	"probe.ComponentsOf": func(f *callbackWorld) { probed.ComponentsOf(f.World, f.es[0]) },
	"World.Clone":        func(f *callbackWorld) { f.Clone(f.es[1]) },
	"World.CloneN":       func(f *callbackWorld) { f.CloneN(f.es[1], 80, func(Run) {}) },
	"World.Delete":       func(f *callbackWorld) { f.Delete(f.es[6]) },
	"World.DeleteAll":    func(f *callbackWorld) { f.DeleteAll(f.Query(f.tag)) },
	"World.Exchange": func(f *callbackWorld) {
		f.Exchange(f.Query(f.num), []AnyColumn{f.late, f.pool}, []AnyColumn{f.tag, f.child})
	},
	"Archetype.Pack": func(f *callbackWorld) { f.full.Pack(MoveOptions{}) },
	"World.OnMove":   func(f *callbackWorld) { f.OnMove(func(_, _ Entity) {}) },
	"World.Regroup":  func(f *callbackWorld) { f.Regroup(f.Query(f.num), MoveOptions{}) },
	"probe.Extents": func(f *callbackWorld) {
		probed.Extents(f.World, 0, func(_, _, _ int, _ *Archetype) bool { return true })
	},
	"World.Len": func(f *callbackWorld) { f.Len() },
	"NewCommands": func(f *callbackWorld) {
		NewCommands(f.World, CommandsOptions{}).Delete(f.es[1])
	},
	"World.Idle":           func(f *callbackWorld) { f.Idle(func() {}) },
	"probe.Occupied":       func(f *callbackWorld) { probed.Occupied(f.World, f.num, 0, 100) },
	"World.Options":        func(f *callbackWorld) { f.Options() },
	"probe.Presence":       func(f *callbackWorld) { probed.Presence(f.World, f.num, 0) },
	"World.Query":          func(f *callbackWorld) { f.Query(f.num).Count() },
	"probe.Regions":        func(f *callbackWorld) { probed.Regions(f.World) },
	"World.Require":        func(f *callbackWorld) { f.Require(NewTag(f.World, "needy"), f.late) },
	"World.Reset":          func(f *callbackWorld) { f.Reset() },
	"World.Resident":       func(f *callbackWorld) { _, _ = f.Resident() },
	"World.ResidentStats":  func(f *callbackWorld) { _, _ = f.ResidentStats() },
	"World.Slots":          func(f *callbackWorld) { f.Slots() },
	"World.Sprint":         func(f *callbackWorld) { f.Sprint(f.es[0]) },
	"World.Stats":          func(f *callbackWorld) { f.Stats() },
	"NewTracker":           func(f *callbackWorld) { NewTracker(f.World, f.late, f.tag) },
	"World.Trim":           func(f *callbackWorld) { _ = f.Trim() },
	"probe.Uses":           func(f *callbackWorld) { probed.Uses(f.World, 0) },
	"NewColumn":            func(f *callbackWorld) { NewColumn[uint16](f.World) },
	"NewSparseColumn":      func(f *callbackWorld) { NewSparseColumn[uint64](f.World).Add(f.es[0], 1) },
	"NewSparseColumn only": func(f *callbackWorld) { NewSparseColumn[uint64](f.World) },
	"NewHeapColumn":        func(f *callbackWorld) { NewHeapColumn[[]string](f.World) },
	"NewDisabled":          func(f *callbackWorld) { NewDisabled(f.World, "off", f.num) },
	"Disabled.Disable":     func(f *callbackWorld) { NewDisabled(f.World, "off").Disable(f.es[0]) },
	"Disabled.Enable":      func(f *callbackWorld) { NewDisabled(f.World, "off").Enable(f.es[0]) },
	"Disabled.DisableRun": func(f *callbackWorld) {
		for r := range f.Query(f.num).Runs() {
			NewDisabled(f.World, fmt.Sprint("off ", r.start), f.num).DisableRun(r)
		}
	},
	"probe.All": func(f *callbackWorld) { probed.All(f.Query(f.num)).Count() },
	"NewTag":    func(f *callbackWorld) { NewTag(f.World, "more") },
	"NewRelation": func(f *callbackWorld) {
		NewRelation(f.World, "more", RelationOptions{OnDelete: Cascade})
	},
	"NewEdges": func(f *callbackWorld) { NewEdges[uint64](f.World, "more", EdgesOptions{}) },
	"probe.Resource": func(f *callbackWorld) {
		probed.Resource(f.World, reflect.TypeFor[int]())
	},
	"probe.Resources": func(f *callbackWorld) { probed.Resources(f.World) },
	"probe.SetResource": func(f *callbackWorld) {
		probed.SetResource(f.World, reflect.ValueOf(uint8(1)))
		RemoveResource[uint8](f.World)
	},
	"ColumnOf":    func(f *callbackWorld) { _, _ = ColumnOf[uint32](f.World) },
	"SetResource": func(f *callbackWorld) { SetResource(f.World, 7); RemoveResource[int](f.World) },
	"probe.SetValue": func(f *callbackWorld) {
		probed.SetValue(f.num, f.es[0], reflect.ValueOf(uint64(1)))
	},
	"probe.AddValue": func(f *callbackWorld) {
		probed.AddValue(f.late, f.es[0], reflect.ValueOf(uint64(1)))
	},
	"probe.RemoveValue": func(f *callbackWorld) { probed.RemoveValue(f.tag, f.es[0]) },

	"Column.Add":             func(f *callbackWorld) { f.late.Add(f.es[0], 1) },
	"Column.Add again":       func(f *callbackWorld) { f.num.Add(f.es[0], 1) },
	"Column.AddAll":          func(f *callbackWorld) { f.late.AddAll(f.Query(), 1) },
	"Column.AddLater":        func(f *callbackWorld) { f.late.AddLater(f.commands, f.es[0], 1) },
	"Column.Edit":            func(f *callbackWorld) { f.num.Edit(f.es[0]) },
	"Column.EditOrAdd":       func(f *callbackWorld) { f.late.EditOrAdd(f.es[0]) },
	"Column.EditOrAdd again": func(f *callbackWorld) { f.num.EditOrAdd(f.es[0]) },
	"Column.EditAt":          func(f *callbackWorld) { f.num.EditAt(Slot{f.es[0].slot, f.World}) },
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

	"SparseColumn.Add": func(f *callbackWorld) { f.pool.Add(f.es[75], 1) },
	"SparseColumn.All": func(f *callbackWorld) {
		f.pool.All()(func(Entity, *uint64) bool { return true })
	},
	"SparseColumn.AddAll":      func(f *callbackWorld) { f.pool.AddAll(f.Query(), 1) },
	"SparseColumn.AddLater":    func(f *callbackWorld) { f.pool.AddLater(f.commands, f.es[0], 1) },
	"SparseColumn.Edit":        func(f *callbackWorld) { f.pool.Edit(f.es[0]) },
	"SparseColumn.EditOrAdd":   func(f *callbackWorld) { f.pool.EditOrAdd(f.es[75]) },
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
	"HeapColumn.EditOrAdd":   func(f *callbackWorld) { f.text.EditOrAdd(f.es[75]) },
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
	"Relation.Nearest":      func(f *callbackWorld) { f.child.Nearest(Slot{world: f.World}, f.Query()) },
	"Relation.OnAdd":        func(f *callbackWorld) { f.child.OnAdd(func(_, _ Entity) {}) },
	"Relation.OnRemove":     func(f *callbackWorld) { f.child.OnRemove(func(_, _ Entity) {}) },
	"Relation.Remove":       func(f *callbackWorld) { f.child.Remove(f.es[3]) },
	"Relation.RemoveAll":    func(f *callbackWorld) { f.child.RemoveAll(f.Query()) },
	"Relation.RemoveLater":  func(f *callbackWorld) { f.child.RemoveLater(f.commands, f.es[3]) },
	"Relation.Set":          func(f *callbackWorld) { f.child.Set(f.es[9], f.es[8]) },
	"Relation.Set again":    func(f *callbackWorld) { f.aims.Set(f.es[3], f.es[9]) },
	"Relation.SetAll":       func(f *callbackWorld) { f.aims.SetAll(f.Query(f.num), f.es[0]) },
	"Relation.SetLater":     func(f *callbackWorld) { f.aims.SetLater(f.commands, f.es[3], f.es[4]) },
	"Relation.SetRun": func(f *callbackWorld) {
		f.aims.SetRun(Run{start: f.es[1].slot, n: 5, world: f.World}, f.es[0])
	},
	"Relation.Pairs": func(f *callbackWorld) {
		f.child.Pairs(f.Query())(func(_, _ Slot) bool { return true })
	},
	"Relation.Sources": func(f *callbackWorld) { _ = slices.Collect(f.child.Sources(f.es[1])) },

	"Edges.Add":       func(f *callbackWorld) { f.roads.Add(f.es[9], f.es[8], 1) },
	"Edges.Add again": func(f *callbackWorld) { f.roads.Add(f.es[1], f.es[0], 2) },
	"Edges.Add more":  func(f *callbackWorld) { f.roads.Add(f.es[1], f.es[9], 2) },
	"Edges.AddLater":  func(f *callbackWorld) { f.roads.AddLater(f.commands, f.es[1], f.es[2], 3) },
	"Edges.Grow":      func(f *callbackWorld) { _ = f.roads.Grow(100) },
	"Edges.Sources": func(f *callbackWorld) {
		f.roads.Sources(f.es[0])(func(Entity, *uint64) bool { return true })
	},
	"Edges.Targets": func(f *callbackWorld) {
		f.roads.Targets(f.es[1])(func(Entity, *uint64) bool { return true })
	},
	"Edges.Remove":        func(f *callbackWorld) { f.roads.Remove(f.es[1], f.es[0]) },
	"Edges.RemoveLater":   func(f *callbackWorld) { f.roads.RemoveLater(f.commands, f.es[1], f.es[0]) },
	"Edges.RemoveTargets": func(f *callbackWorld) { f.roads.RemoveTargets(f.es[1]) },

	"Names.Find":      func(f *callbackWorld) { f.names.Find("zero") },
	"Names.Remove":    func(f *callbackWorld) { f.names.Remove(f.es[0]) },
	"Names.Set":       func(f *callbackWorld) { _, _ = f.names.Set(f.es[4], "four") },
	"Names.SetLater":  func(f *callbackWorld) { f.names.SetLater(f.commands, f.es[4], "four") },
	"Names.Set again": func(f *callbackWorld) { _, _ = f.names.Set(f.es[0], "nought") },
	"Archetype.Grow":  func(f *callbackWorld) { _ = f.full.Grow(500) },
	"Archetype.New":   func(f *callbackWorld) { f.full.New() },
	"Archetype.NewEach": func(f *callbackWorld) {
		for _, s := range f.full.NewEach(80) {
			_ = s
		}
	},
	"Archetype.NewSlot":      func(f *callbackWorld) { f.full.NewSlot() },
	"Archetype.NewN":         func(f *callbackWorld) { f.full.NewN(80, func(Run) {}) },
	"Archetype.New of plain": func(f *callbackWorld) { f.plain.New() },
	"Tracker.Added":          func(f *callbackWorld) { _ = slices.Collect(f.tracker.Added(f.num)) },
	"Tracker.Changed":        func(f *callbackWorld) { _ = slices.Collect(f.tracker.Changed(f.num)) },
	"Tracker.Close":          func(f *callbackWorld) { f.spare.Close() },
	"Tracker.Next":           func(f *callbackWorld) { f.spare.Next() },
	"Tracker.Removed":        func(f *callbackWorld) { _ = slices.Collect(f.tracker.Removed(f.num)) },
	"Commands.Close":         func(f *callbackWorld) { _ = NewCommands(f.World, CommandsOptions{}).Close() },
	"Commands.Delete":        func(f *callbackWorld) { f.commands.Delete(f.es[0]) },
	"Commands.GrowBytes":     func(f *callbackWorld) { _ = f.commands.GrowBytes(1000) },
	"Commands.New":           func(f *callbackWorld) { f.commands.New(f.full) },
	"Commands.Trim":          func(f *callbackWorld) { _ = f.commands.Trim() },
	"Query.Changed":          func(f *callbackWorld) { f.Query().Changed(f.num, f.tracker).Count() },
	"Query.To":               func(f *callbackWorld) { f.Query().To(f.child, f.es[0]).Count() },
}

func TestCallbackVerbsAreComplete(t *testing.T) {
	// These methods only read the receiver, make a value, set the position of Commands, run a callback of
	// callbackPlaces, or do for a slot, a run or a Disabled what a method of callbackVerbs does for an entity
	// or a Tag.
	others := strings.Fields(`
		World.Admit World.Visit Column.At Column.TryAt SparseColumn.At SparseColumn.EditAt SparseColumn.TryAt
		HeapColumn.At HeapColumn.EditAt HeapColumn.TryAt Relation.At Tag.HasAt
		Disabled.DisableAt Disabled.EnableAt Disabled.EnableRun Disabled.Has Disabled.HasAt Disabled.In
		Disabled.Add Disabled.AddAll Disabled.AddLater Disabled.Grow Disabled.Len Disabled.Name
		Disabled.OnAdd Disabled.OnRemove Disabled.Remove Disabled.RemoveAll Disabled.RemoveLater
		Column.In Column.Name Column.Named Column.Slice Column.TrySlice
		SparseColumn.Has SparseColumn.In SparseColumn.Len SparseColumn.Name SparseColumn.Named
		HeapColumn.Has HeapColumn.In HeapColumn.Len HeapColumn.Name HeapColumn.Named
		Tag.Has Tag.In Tag.Len Tag.Name
		Relation.CountSources Relation.Depth Relation.Has Relation.Len Relation.Name Relation.Root
		Relation.SourcesAfter Relation.Target Relation.TargetColumn Relation.Targets
		Edges.CountSources Edges.CountTargets Edges.Get Edges.Has Edges.Len
		Edges.Name Edges.TargetColumn Names.Len Names.Name Names.Of Names.Text World.Names Archetype.Len
		Commands.At Commands.Resolve
		probe.Bytes probe.ColumnsOf probe.CountSources probe.CountTargets probe.Describe probe.EdgesOf
		probe.EdgesType probe.NamesOf probe.NumberOf probe.RelationOf probe.SourceColumn probe.Sources
		probe.StatsOf probe.TargetColumn probe.Targets probe.Value`)
	for name, v := range map[string]any{"World": &World{}, "Column": Column[uint64]{},
		"SparseColumn": SparseColumn[uint64]{},
		"HeapColumn":   HeapColumn[string]{}, "Tag": Tag{}, "Disabled": Disabled{},
		"Relation": Relation{}, "Edges": Edges[uint64]{},
		"Names":     &Names{},
		"Archetype": &Archetype{}, "Tracker": &Tracker{}, "Commands": &Commands{}, "probe": probed} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumMethod() {
			method := name + "." + typ.Method(i).Name
			if callbackVerbs[method] == nil && !slices.Contains(others, method) {
				t.Errorf("callbackVerbs lacks %s", method)
			}
		}
	}
}
