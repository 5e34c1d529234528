package vast

import (
	"errors"
	"testing"
)

func TestPlaceholdersResolveUntilNextRecording(t *testing.T) {
	for name, meanwhile := range map[string]func(*World, *Commands) error{
		"nothing":       func(*World, *Commands) error { return nil },
		"Grow":          func(_ *World, c *Commands) error { return c.GrowBytes(1 << 20) },
		"Trim":          func(_ *World, c *Commands) error { return c.Trim() },
		"Trim twice":    func(_ *World, c *Commands) error { return errors.Join(c.Trim(), c.Trim()) },
		"Apply again":   func(w *World, c *Commands) error { _, err := w.Apply(c); return err },
		"World.Trim":    func(w *World, _ *Commands) error { return w.Trim() },
		"Trim and Grow": func(_ *World, c *Commands) error { _ = c.Trim(); return c.GrowBytes(1 << 20) },
	} {
		w := NewWorld(Options{MaxEntities: 1 << 14})
		num, text := NewColumn[[3]uint64](w), NewHeapColumn[string](w)
		a, b := w.Archetype(), w.Archetype(num)
		c := NewCommands(w, CommandsOptions{})
		var made []Entity
		for i := range 3000 {
			e := c.New([]*Archetype{a, b}[i/7%2])
			made = append(made, e)
			if i%3 == 0 {
				num.AddLater(c, e, [3]uint64{uint64(i)})
				text.AddLater(c, e, "text")
			}
		}
		c.Delete(made[1])
		if _, err := w.Apply(c); err != nil {
			t.Fatal(err)
		}
		check := func() {
			t.Helper()
			for i, e := range made {
				got := c.Resolve(e)
				if w.Alive(got) != (i != 1) || i%3 == 0 && num.Get(got)[0] != uint64(i) {
					t.Fatalf("%s: placeholder %d resolves to %v", name, i, got)
				}
			}
			beyond := Entity{slot: 1 << 28, generation: made[0].generation}
			if c.Resolve(Entity{}) != (Entity{}) || c.Resolve(beyond) != (Entity{}) {
				t.Errorf("%s: Resolve accepts an Entity that is not a placeholder", name)
			}
		}
		check()
		if err := meanwhile(w, c); err != nil {
			t.Fatal(err)
		}
		check()
		again := c.New(a)
		if c.Resolve(made[0]) != (Entity{}) || c.Resolve(again) != (Entity{}) {
			t.Errorf("%s: Resolve accepts a placeholder of the previous batch or of an unapplied New", name)
		}
		if _, err := w.Apply(c); err != nil || !w.Alive(c.Resolve(again)) {
			t.Errorf("%s: Apply of the next batch: %v; its placeholder resolves to %v", name, err,
				c.Resolve(again))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCommandsTrimKeepsPlaceholders(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	num := NewColumn[kilobyte](w)
	c := NewCommands(w, CommandsOptions{})
	first := c.New(w.Archetype())
	for range 2500 {
		num.AddLater(c, first, kilobyte{7})
	}
	last := c.New(w.Archetype())
	if _, err := w.Apply(c); err != nil {
		t.Fatal(err)
	}
	full := c.span.Committed()
	if err := c.Trim(); err != nil {
		t.Fatal(err)
	}
	if left := c.span.Committed(); full < 2<<20 || left > 64<<10 {
		t.Errorf("Trim leaves %d of %d bytes for two entities", left, full)
	}
	if num.Get(c.Resolve(first))[0] != 7 || !w.Alive(c.Resolve(last)) || c.Resolve(first) == c.Resolve(last) {
		t.Errorf("the placeholders resolve to %v and %v", c.Resolve(first), c.Resolve(last))
	}
}
