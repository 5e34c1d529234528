package vast

import "strings"

// meddle is what a hook and a fill of the combined model do now and then: what they must not do is refused and changes
// nothing, so that the operation goes on as if nothing had been asked for; and what they may do works. The answers are the
// same without hooks: so no archetype gets room here, which decides where entities lie.
func (m *combinedModel) meddle() {
	m.meddled++
	if m.meddled%8 != 0 {
		return
	}
	w := m.world
	refused := func(by string, f func()) {
		changes, lens := w.changes, w.Len()
		text, _ := panicOf(f).(string)
		m.must(strings.Contains(text, by), "a callback calls %s, and it says %q", by, text)
		m.must(w.changes == changes && w.Len() == lens, "%s in a callback changed the world", by)
	}
	switch m.meddled / 8 % 10 {
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
		m.mayFail(m.values[m.meddled/80%len(m.values)].grow)
	case 9:
		if len(w.columns) < 40 && !m.options.faults {
			NewTag(w, "met").OnRemove(func(Entity) { m.must(false, "a hook of a tag that nobody has is told") })
		}
	}
}

// mayFail does what may be refused for want of memory or slots.
func (m *combinedModel) mayFail(f func() error) {
	if err := f(); err != nil && !m.failing(err) {
		m.refusals++
	}
}

// checkPlaceholders checks that placeholders of what was applied stand for their entities.
func (m *combinedModel) checkPlaceholders() {
	for _, buffer := range m.buffers {
		for _, p := range buffer.made {
			if p.buffer == buffer && !p.entity.IsZero() {
				got := buffer.Resolve(p.handle)
				m.must(got == p.entity, "the placeholder %v stands for %v, want %v", p.handle, got, p.entity)
			}
		}
	}
}
