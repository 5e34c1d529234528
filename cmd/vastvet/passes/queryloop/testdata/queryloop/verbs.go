package queryloop

import (
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
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
