package vast

import (
	"testing"
)

func TestCommands(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 12})
	defer w.Close()
	pos, name, big := NewColumn[position](w), NewHeapColumn[string](w), NewSparseColumn[[3]uint64](w)
	small, tag := NewColumn[[3]byte](w), NewTag(w, "tag")
	a := w.Archetype(pos, name)
	old, doomed := a.New(), a.New()
	tag.Add(old)
	c := NewCommands(w, CommandsOptions{})
	e := c.New(a)
	if w.Alive(e) || pos.Has(e) || w.Delete(e) || e.IsZero() || c.Resolve(e) != (Entity{}) {
		t.Errorf("placeholder %v is alive, zero or resolved before Apply", e)
	}
	pos.AddLater(c, e, position{1, 2})
	name.AddLater(c, e, "new")
	name.SetLater(c, old, "old")
	big.AddLater(c, old, [3]uint64{2: 7})
	big.AddLater(c, e, [3]uint64{0: 5})
	big.SetLater(c, e, [3]uint64{0: 6})
	small.AddLater(c, e, [3]byte{1, 2, 3})
	tag.AddLater(c, e)
	tag.RemoveLater(c, old)
	pos.RemoveLater(c, old)
	c.Delete(doomed)
	// Apply skips the following commands:
	pos.SetLater(c, old, position{})
	tag.AddLater(c, doomed)
	name.RemoveLater(c, doomed)
	c.Delete(Entity{})
	if w.Len() != 2 || !tag.Has(old) {
		t.Fatal("recording changed the world")
	}
	done, err := w.Apply(c)
	if err != nil || done != (Applied{Done: 12, Skipped: 4}) {
		t.Errorf("%+v, %v; want 12 done and 4 skipped", done, err)
	}
	got := c.Resolve(e)
	if w.Len() != 2 || !w.Alive(got) || w.Alive(doomed) || *pos.Get(got) != (position{1, 2}) ||
		*name.Get(got) != "new" ||
		big.Get(got)[0] != 6 || *small.Get(got) != [3]byte{1, 2, 3} || !tag.Has(got) {
		t.Errorf("the new entity %v, alive %v, has wrong components", got, w.Alive(got))
	}
	if *name.Get(old) != "old" || big.Get(old)[2] != 7 || tag.Has(old) || pos.Has(old) {
		t.Error("the old entity has wrong components")
	}
	if done, err := w.Apply(c); done != (Applied{}) || err != nil {
		t.Errorf("a second Apply: %+v, %v", done, err)
	}
	w.checkInvariants()
}
