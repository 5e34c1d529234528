package vast

import (
	"testing"
	"unsafe"
)

func TestPlaceholders(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	num := NewColumn[uint64](w)
	a, b := w.Archetype(num), w.Archetype()
	c, other := NewCommands(w, CommandsOptions{}), NewCommands(w, CommandsOptions{})
	// Use placeholders of other Commands and of a later position.
	p, q := c.New(a), other.New(a)
	if p == q || p.Slot() != q.Slot() {
		t.Errorf("the placeholders are %v and %v, want different ones with the same slot", p, q)
	}
	num.SetLater(c, q, 1)
	num.SetLater(other, p, 2)
	c.At(1)
	r := c.New(b)
	c.At(0)
	num.AddLater(c, r, 3)
	c.Delete(p)
	if done, err := w.Apply(c, other); done != (Applied{Done: 4, Skipped: 3}) || err != nil {
		t.Errorf("Apply returns %+v, %v; want 4 done and 3 skipped", done, err)
	}
	if w.Len() != 2 || !w.Alive(c.Resolve(r)) || num.Has(c.Resolve(r)) || *num.Get(other.Resolve(q)) != 0 {
		t.Error("a placeholder stands for a wrong entity")
	}
	if c.Resolve(p).IsZero() || w.Alive(c.Resolve(p)) || c.Resolve(q) != (Entity{}) {
		t.Errorf("the deleted placeholder resolves to %v, want a stale entity; the foreign placeholder "+
			"resolves to %v, want the zero Entity", c.Resolve(p), c.Resolve(q))
	}
	// Use a placeholder of the earlier recording. It has the slot of a new placeholder.
	s := c.New(a)
	if s == p || s.Slot() != p.Slot() || c.Resolve(p) != (Entity{}) {
		t.Errorf("the new placeholder is %v; the earlier placeholder %v resolves to %v", s, p, c.Resolve(p))
	}
	num.SetLater(c, p, 4)
	c.Delete(r)
	num.SetLater(c, s, 5)
	if done, err := w.Apply(c); done != (Applied{Done: 2, Skipped: 2}) || err != nil ||
		*num.Get(c.Resolve(s)) != 5 {
		t.Errorf("Apply returns %+v, %v; want 2 done and 2 skipped", done, err)
	}
	// Forge placeholders with wrong slots and generations.
	num.SetLater(c, c.New(a), 6)
	good := c.New(a)
	for slot := range uint32(100) {
		for _, g := range []uint32{0, 1, good.generation, good.generation + 1, 1<<24 - 1} {
			if e := (Entity{slot, g}); e != good {
				num.SetLater(c, e, 7)
			}
		}
	}
	num.SetLater(c, Entity{1<<32 - 1, good.generation}, 7)
	before := num.Len()
	if _, err := w.Apply(c); err != nil || num.Len() != before+2 {
		t.Error(err)
	}
	if e := EntityOf(good.ID()); c.Resolve(e) != c.Resolve(good) || !w.Alive(c.Resolve(e)) {
		t.Error("the placeholder from an ID stands for another entity")
	}
	w.checkInvariants()
}

// TestPlaceholdersInsideValues: a column can resolve the placeholders in its values.
func TestPlaceholdersInsideValues(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	target := NewColumn[Entity](w)
	plain := NewColumn[Entity](w).Named("plain")
	target.c.later = func(c *Commands, kind commandKind, e Entity, v unsafe.Pointer) bool {
		return kind == commandSet && target.Add(e, c.Resolve(*(*Entity)(v))) != nil
	}
	a := w.Archetype()
	old := a.New()
	c, other := NewCommands(w, CommandsOptions{}), NewCommands(w, CommandsOptions{})
	child, parent, foreign := c.New(a), c.New(a), other.New(a)
	target.SetLater(c, child, parent)
	target.SetLater(c, parent, old)
	target.SetLater(c, old, foreign)
	plain.AddLater(c, child, parent)
	if done, err := w.Apply(other, c); done.Done != 7 || err != nil {
		t.Fatal(done, err)
	}
	if got := *target.Get(c.Resolve(child)); got != c.Resolve(parent) || !w.Alive(got) {
		t.Errorf("the child's parent is %v", got)
	}
	if got := *target.Get(c.Resolve(parent)); got != old {
		t.Errorf("the parent's parent is %v", got)
	}
	if got := *target.Get(old); got != (Entity{}) {
		t.Errorf("a placeholder of other Commands stands for %v", got)
	}
	if got := *plain.Get(c.Resolve(child)); got != parent {
		t.Errorf("a column that does not resolve placeholders holds %v, want %v", got, parent)
	}
}
