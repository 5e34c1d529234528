package vast

import "testing"

func TestZeroValues(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	c := NewColumn[uint64](w)
	a := w.Archetype(c)
	e := a.New()
	cs := NewCommands(w, CommandsOptions{})
	var (
		r     Relation
		roads Edges[uint64]
		names *Names
		tr    *Tracker
		none  *Commands
		order Order[uint64, uint64]
	)
	for _, test := range []struct {
		want string // part of the panic message
		do   []func()
	}{
		{"make relations with NewRelation", []func(){
			func() { r.Set(e, e) }, func() { r.Remove(e) }, func() { r.Has(e) }, func() { r.Target(e) },
			func() { r.TargetColumn() }, func() { r.Name() }, func() { r.Len() },
			func() { r.Targets(Run{})(nil) },
			func() { r.CountSources(e) }, func() { r.Sources(e)(nil) }, func() { r.Ancestors(e)(nil) },
			func() { r.Descendants(e)(nil) }, func() { r.Root(e) }, func() { r.Depth(e) },
			func() { _ = r.GrowLevels(1) }, func() { r.OnAdd(nil) }, func() { r.OnRemove(nil) },
			func() { r.SetAll(w.Query(), e) }, func() { r.SetRun(Run{}, e) },
			func() { r.RemoveAll(w.Query()) }, func() { r.InDepthOrder(w.Query())(nil) },
			func() { r.SetLater(cs, e, e) }, func() { r.RemoveLater(cs, e) },
		}},
		{"make edges with NewEdges", []func(){
			func() { roads.Add(e, e, 1) }, func() { roads.Get(e, e) }, func() { roads.Has(e, e) },
			func() { roads.Remove(e, e) }, func() { roads.RemoveTargets(e) },
			func() { roads.CountTargets(e) }, func() { roads.CountSources(e) }, func() { roads.Len() },
			func() { roads.Name() }, func() { roads.TargetColumn() }, func() { roads.Targets(e)(nil) },
			func() { roads.Sources(e)(nil) }, func() { roads.AddLater(cs, e, e, 1) },
			func() { roads.RemoveLater(cs, e, e) },
		}},
		{"make them with World.Names", []func(){
			func() { _, _ = names.Set(e, "x") }, func() { names.Find("x") }, func() { names.Of(e) },
			func() { names.SetLater(cs, e, "x") }, func() { names.Text(e) },
			func() { names.Remove(e) }, func() { names.Len() }, func() { names.Name() },
			func() { _, _ = new(Names).Set(e, "x") }, func() { new(Names).Of(e) },
		}},
		{"make one with NewTracker", []func(){
			func() { tr.Next() }, func() { tr.Close() }, func() { tr.Added(c) },
			func() { new(Tracker).Next() }, func() { new(Tracker).Close() },
			func() { new(Tracker).Removed(c) }, func() { w.Query().Changed(c, nil) },
		}},
		{"make them with NewCommands", []func(){
			func() { none.Delete(e) }, func() { none.New(a) }, func() { none.New(nil) },
			func() { none.At(1) }, func() { none.Resolve(e) }, func() { _ = none.GrowBytes(1) },
			func() { _ = none.Trim() }, func() { _ = none.Close() }, func() { c.AddLater(none, e, 1) },
			func() { new(Commands).Delete(e) }, func() { new(Commands).New(a) },
			func() { new(Commands).New(nil) }, func() { c.SetLater(new(Commands), e, 1) },
			func() { Column[uint64]{}.AddLater(none, e, 1) },
		}},
		{"make one with NewOrder", []func(){
			func() { order.Ascending()(nil) }, func() { order.Descending()(nil) },
			func() { (*Order[uint64, uint64])(nil).Ascending()(nil) },
		}},
		{"not made with NewColumn", []func(){
			func() { w.Query(names) }, func() { w.Query(new(Names)) }, func() { w.Query(r) },
			func() { w.Archetype(roads) }, func() { w.Query().To(r, e) }, func() { probed.Describe(nil) },
			func() { probed.Describe(Column[uint64]{}) }, func() { probed.Value(nil, e) },
			func() { probed.Value(names, e) }, func() { Tag{}.AddLater(cs, e) },
			func() { HeapColumn[string]{}.SetLater(cs, e, "x") }, func() { NewTracker(w, Tag{}) },
		}},
		{"not made with World.Archetype",
			[]func(){func() { cs.New(nil) }, func() { cs.New(new(Archetype)) }}},
		{"key is nil", []func(){func() { NewOrder[uint64, uint64](w.Query(c), c, nil) }}},
	} {
		for i, do := range test.do {
			if v := panicOf(do); v == nil {
				t.Errorf("call %d does not panic, want a panic with %q", i, test.want)
			} else {
				says(t, do, test.want)
			}
		}
	}
	if a, err := w.Apply(cs); a != (Applied{}) || err != nil {
		t.Errorf("Apply returned %v, %v: a call above recorded a command", a, err)
	}
}
