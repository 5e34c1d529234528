package vast

import (
	"cmp"
	"fmt"
	"slices"
)

// hook is a callback for an entity that gains or loses a component.
type hook func(Entity)

func (c *column) hookAdd(f hook) {
	c.mustTakeHooks("OnAdd")
	c.onAdd = append(c.onAdd, f)
	c.world.observe(c)
}

func (c *column) hookRemove(f hook) {
	c.mustTakeHooks("OnRemove")
	c.onRemove = append(c.onRemove, f)
	c.world.observe(c)
}

// mustTakeHooks panics if the world is closed or the column belongs to a Disabled.
func (c *column) mustTakeHooks(method string) {
	c.world.mustBeOpen(method)
	if c.switches {
		panic(fmt.Sprintf("vast: %s: %s is a Disabled, and disabling an entity calls no hooks: use a "+
			"Tracker of the tag", method, c.name))
	}
}

// observe marks a column that has hooks, a store, trackers or groups as observed. In a world without observed
// columns, a change costs only one additional test.
func (w *World) observe(c *column) {
	if c.observed {
		return
	}
	c.observed, c.attended = true, true
	at, _ := slices.BinarySearchFunc(w.watched, c.id, func(c *column, id uint32) int {
		return cmp.Compare(c.id, id)
	})
	// A hook may register hooks while its caller walks over w.watched, so the old slice must not change.
	w.watched = slices.Insert(slices.Clone(w.watched), at, c)
	for _, a := range w.archetypes {
		if slices.Contains(a.columns, c) {
			a.observed, a.vacancy = true, &noVacancy
		}
	}
}

// unobserve undoes observe after a column has lost a tracker or a group. If the column still has hooks, a
// store, trackers or groups, unobserve does nothing.
func (w *World) unobserve(c *column) {
	if c.followed || c.store != nil || len(c.onAdd)+len(c.onRemove) > 0 {
		return
	}
	c.observed, c.attended = false, len(c.requires) > 0
	w.watched = slices.DeleteFunc(slices.Clone(w.watched), func(other *column) bool { return other == c })
	for _, a := range w.archetypes {
		if a.observed && !slices.ContainsFunc(a.columns, func(c *column) bool { return c.observed }) {
			a.observed = false
			if a.at != nil {
				a.goTo(a.at, a.word)
			}
		}
	}
}

// tell calls hooks for the entities whose slots are set in mask. Bit i of mask stands for slot word*64+i. All
// these entities must have the component.
func (c *column) tell(hooks []hook, what string, word uint32, mask uint64) {
	if len(hooks) == 0 || mask == 0 {
		return
	}
	w := c.world
	w.calling = callback{what, c}
	defer func() { w.calling = callback{} }()
	before := w.changes
	for ; mask != 0; mask &= mask - 1 {
		slot := word*64 + trailingZeros(mask)
		for _, f := range hooks {
			f(w.entityIn(slot))
			if w.changes != before {
				w.changedWhile(w.calling.String())
			}
		}
	}
}

// tellAdded calls the OnAdd hooks for the entity in a slot.
func (c *column) tellAdded(slot uint32) { c.tell(c.onAdd, "OnAdd", slot/64, 1<<(slot%64)) }

// tellLosses calls the OnRemove hooks for all components of the entities whose slots are set in mask, before
// the entities lose these components.
func (w *World) tellLosses(word uint32, mask uint64) {
	for _, c := range w.watched {
		if word < c.slots/64 {
			c.tell(c.onRemove, "OnRemove", word, mask&c.set.Word(uint(word)))
		}
	}
}

// tellLossesOf calls the OnRemove hooks for all components of the entities of a query, before the entities
// lose these components.
func (w *World) tellLossesOf(q Query) {
	for _, c := range w.watched {
		c.tellLossesOf(q)
	}
}

// tellLossesOf calls the column's OnRemove hooks for the entities of a query, before the entities lose the
// component.
func (c *column) tellLossesOf(q Query) {
	if len(c.onRemove) == 0 {
		return
	}
	for run := range q.Runs() {
		for lo, end := run.start, min(run.start+run.n, c.slots); lo < end; {
			word, mask, hi := wordOf(lo, end)
			c.tell(c.onRemove, "OnRemove", word, mask&c.set.Word(uint(word)))
			lo = hi
		}
	}
}

// wordMask is a set of slots in one word.
type wordMask struct {
	word uint32
	mask uint64
}

// tellGains calls the OnAdd hooks for the entities in the slots of gains.
func (c *column) tellGains(gains []wordMask) {
	for _, g := range gains {
		c.tell(c.onAdd, "OnAdd", g.word, g.mask)
	}
}

// tellBirths calls the OnAdd hooks for the components of the new entities in the slots [lo, hi).
func (a *Archetype) tellBirths(lo, hi uint32) {
	for _, c := range a.columns {
		if !c.observed {
			continue
		}
		for at := lo; at < hi; {
			word, mask, end := wordOf(at, hi)
			c.tell(c.onAdd, "OnAdd", word, mask)
			at = end
		}
	}
}

// tellClosing calls the OnRemove hooks for all components of all entities.
func (w *World) tellClosing() {
	for _, c := range w.watched {
		for slot := c.set.Next(0); slot < uint(c.slots); slot = c.set.Next(slot/64*64 + 64) {
			c.tell(c.onRemove, "OnRemove", uint32(slot/64), c.set.Word(slot/64))
		}
	}
}
