package queryloop

import (
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/group"
	"github.com/vastgo/vast/observe"
	"github.com/vastgo/vast/prefab"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/shared"
)

func wrongVerbs(w *vast.World, q vast.Query, p, also vast.Column[hp], tag vast.Tag, another vast.Entity) {
	for e := range q.Without(tag).All() {
		tag.Add(e) // want `Add changes the structure`
	}
	for e := range w.Query(p).Without(tag, also).All() {
		tag.AddAll(w.Query(p))                         // want `AddAll changes the structure`
		p.RemoveAll(w.Query())                         // want `RemoveAll changes the structure`
		p.Remove(another)                              // want `Remove changes the structure`
		probe.AddValue(also, e, reflect.ValueOf(hp{})) // want `AddValue changes the structure`
		probe.RemoveValue(p, e)                        // want `RemoveValue changes the structure`
	}
}

func rightVerbs(w *vast.World, q vast.Query, p vast.Column[hp], mana vast.Column[int], tag vast.Tag) {
	for e := range w.Query(p).All() {
		p.AddAll(w.Query(p), hp{}) // overwrites
		tag.AddAll(q)              // may match no entity without the tag
		probe.AddValue(p, e, reflect.ValueOf(hp{}))
		if mana.Has(e) {
			mana.Add(e, 3)
		}
		probe.SetValue(p, e, reflect.ValueOf(hp{}))
	}
}

// disabling is not a change of the structure.
func disabling(q vast.Query, off vast.Disabled, another vast.Entity) {
	for s := range q.Slots() {
		off.DisableAt(s)
		off.Enable(another)
		off.Disable(s.Entity())
		off.EnableAt(s)
	}
	for r := range q.Runs() {
		off.DisableRun(r)
		off.EnableRun(r)
	}
}

func bySlots(w *vast.World, p vast.Column[hp], cs *vast.Commands, a *vast.Archetype) {
	q := w.Query(p)
	for s := range q.Slots() {
		w.Delete(s.Entity()) // want `Delete changes the structure`
	}
	for b := range q.Batches(100) {
		for s := range b.Slots() {
			p.Add(s.Entity(), *p.At(s)) // the component is there
			w.Archetype(p).NewSlot()    // want `NewSlot changes the structure`
		}
	}
	for range a.NewEach(3) {
		_ = w.Len()
	}
}

func byValues(w *vast.World, sick vast.SparseColumn[hp], tag vast.Tag, another vast.Entity) {
	for e, v := range sick.All() {
		*v = hp{}
		sick.Add(e, hp{})    // the component is there
		tag.Add(e)           // want `Add changes the structure`
		sick.Remove(another) // want `Remove changes the structure`
	}
	for e := range sick.All() {
		w.Delete(e) // want `Delete changes the structure during the loop over sick.All,`
	}
}

func wrongTemplates(w *vast.World, p vast.Column[hp], another vast.Entity) {
	prefabs := prefab.New(w)
	ship := prefabs.Mark(another)
	for e := range w.Query(p).All() {
		ship.Instantiate()        // want `Instantiate changes the structure during the loop over w.Query\(p\).All,`
		ship.InstantiateN(2, nil) // want `InstantiateN changes the structure`
		ship.Override("hp", 1)    // want `Override changes the structure`
		prefabs.Mark(e)           // want `Mark changes the structure`
	}
}

// rightTemplates: changes of fields do not change the structure.
func rightTemplates(w *vast.World, other *vast.World, p vast.Column[hp], another vast.Entity) {
	prefabs, elsewhere := prefab.New(w), prefab.New(other)
	ship := prefabs.Mark(another)
	for e := range w.Query(p).All() {
		ship.Apply()
		prefabs.Revert(e, "hp.Points")
		elsewhere.Mark(another).Instantiate()
	}
}

func wrongGroups(w *vast.World, p vast.Column[hp], tag vast.Tag) {
	g := group.New(w.Query(p).Without(tag))
	for e := range g.Query().All() {
		w.Delete(e)             // want `Delete changes the structure during the loop over g.Query\(\).All,`
		p.Add(e, hp{})          // the component is there
		tag.Add(e)              // want `Add changes the structure`
		group.New(w.Query(tag)) // want `New changes the structure`
		g.Close()               // want `Close changes the structure`
	}
}

// rightMonitor: a monitor does not change the world.
func rightMonitor(w *vast.World, p vast.Column[hp]) (monitors []*observe.Monitor) {
	for range w.Query(p).All() {
		monitors = append(monitors, observe.NewMonitor(w.Query(p)))
	}
	return monitors
}

func byJoins(w *vast.World, p vast.Column[hp], at vast.Relation, tag vast.Tag) {
	for e := range w.Query(p).Where(at, w.Query(tag)).All() {
		p.Add(e, hp{}) // the component is there
		w.Delete(e)    // want `Delete changes the structure`
	}
	for e := range w.Query(p).Up(at, tag).All() {
		tag.Add(e) // want `Add changes the structure`
	}
}

func bySharedValues(w *vast.World, tag vast.Tag, at vast.Relation, another vast.Entity) {
	kind := shared.New[hp](w)
	for e := range kind.Where(w.Query(), hp{}).All() {
		kind.Add(e, hp{}) // the component is there
		kind.Remove(e)    // want `Remove changes the structure`
	}
	for _, r := range kind.GroupBy(w.Query(tag)) {
		kind.SetRun(r, hp{})
		w.Delete(another) // want `Delete changes the structure during the loop over kind.GroupBy,`
	}
	for range shared.GroupByTarget(w.Query(tag), at) {
		w.Delete(another) // want `Delete changes the structure during the loop over shared.GroupByTarget,`
	}
}

func byCopies(w *vast.World, p vast.Column[hp], another vast.Entity) {
	for e := range w.Query(p).All() {
		w.Clone(e)          // want `Clone changes the structure`
		w.CloneN(e, 2, nil) // want `CloneN changes the structure`
	}
	for range probe.Extents(w, 0) {
		w.Delete(another) // want `Delete changes the structure during the loop over probe.Extents,`
	}
}
