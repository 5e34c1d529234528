package vast

import (
	"fmt"
	"strings"
)

// useFromCallback calls an operation from every eighth call of a hook, of a fill function or of the callback
// of OnMove. A forbidden operation must panic and change nothing. Archetype.Grow is not among the operations,
// because Grow changes the slots of later entities, and TestCombinedModelAlike compares worlds with hooks to
// worlds without hooks.
func (m *combinedModel) useFromCallback() {
	m.callbacks++
	if m.callbacks%8 != 0 {
		return
	}
	w := m.world
	refused := func(by string, f func()) {
		changes, lens := w.changes, w.Len()
		text, _ := panicOf(f).(string)
		m.must(strings.Contains(text, by), "%s in a callback: the panic is %q", by, text)
		m.must(w.changes == changes && w.Len() == lens, "%s in a callback changed the world", by)
	}
	switch m.callbacks / 8 % 10 {
	case 0:
		refused("World.Trim", func() { _ = w.Trim() })
	case 1:
		refused("World.Reset", w.Reset)
	case 2:
		refused("World.Close", func() { _ = w.Close() })
	case 3:
		refused("World.DeleteAll", func() { w.DeleteAll(w.Query()) })
	case 4:
		refused("Archetype.NewN", func() { m.archetypes[0].NewN(1, nil) })
	case 5:
		refused("World.Apply", func() { _, _ = w.Apply() })
	case 6:
		if e, ok := w.Query().First(); ok {
			refused("World.Delete", func() { w.Delete(e) })
		}
	case 7:
		w.Query().Count()
	case 8:
		m.mayFail(m.values[m.callbacks/80%len(m.values)].grow)
	case 9:
		if len(w.columns) < 40 && !m.options.faults {
			NewTag(w, fmt.Sprint("made in a callback ", len(w.columns))).OnRemove(func(Entity) {
				m.must(false, "OnRemove of a tag without entities is called")
			})
		}
	}
}

// mayFail runs an operation that may run out of memory or slots.
func (m *combinedModel) mayFail(f func() error) {
	if err := f(); err != nil && !m.failing(err) {
		m.refusals++
	}
}

func (m *combinedModel) checkPlaceholders() {
	for _, buffer := range m.buffers {
		for _, p := range buffer.made {
			if p.buffer == buffer && !p.entity.IsZero() {
				got := buffer.Resolve(p.handle)
				m.must(got == p.entity, "placeholder %v resolves to %v, want %v", p.handle, got, p.entity)
			}
		}
	}
}
