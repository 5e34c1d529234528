package vast

import (
	"fmt"
	"slices"
)

// hook is a function that is told of an entity that gains or loses a component.
type hook func(Entity)

// OnAdd registers f to be told of each entity that gains the component, after it has: by [Column.Add] once the value is
// written, by [Archetype.New] with the component still zero, by [Archetype.NewN] after fill. Overwriting a component that
// is there already is no gain. Functions run in the order of their registration; entities in the order of their slots.
//
// Entities that have the component when f is registered are not told of.
//
// f may read and write values and run queries. It must not change the structure of the world: that panics.
func (c Column[T]) OnAdd(f func(e Entity, v *T)) {
	c.c.hookAdd(func(e Entity) { f(e, c.at(e.slot)) })
}

// OnRemove registers f to be told of each entity that loses the component, while it still has it: before [Column.Remove],
// [World.Delete], [World.DeleteAll] and [World.Close] take it. Of several entities all are told of before the first loses
// anything: column by column in the order of their making, in each by slot. It is told once of each loss, and only of
// entities that have the component. It is the place to release what the component refers to.
//
// The rules of [Column.OnAdd] hold. When f panics nothing has been removed.
func (c Column[T]) OnRemove(f func(e Entity, v *T)) {
	c.c.hookRemove(func(e Entity) { f(e, c.at(e.slot)) })
}

func (c *column) hookAdd(f hook) {
	c.world.mustBeOpen("OnAdd")
	c.onAdd = append(c.onAdd, f)
	c.world.observe(c)
}

func (c *column) hookRemove(f hook) {
	c.world.mustBeOpen("OnRemove")
	c.onRemove = append(c.onRemove, f)
	c.world.observe(c)
}

// observe notes that a column has hooks or a store. Worlds without any pay one test for it.
func (w *World) observe(c *column) {
	if c.observed {
		return
	}
	c.observed, w.observed = true, true
	for _, a := range w.archetypes {
		if slices.Contains(a.columns, c) {
			a.observed, a.vacancy = true, &noVacancy
		}
	}
}

// tell calls hooks for the slots of mask in a word, which all have the component.
func (c *column) tell(hooks []hook, what string, word uint32, mask uint64) {
	if len(hooks) == 0 || mask == 0 {
		return
	}
	w := c.world
	if w.telling {
		w.last = opHook
		w.changedWhile("a hook was running")
	}
	w.telling = true
	defer func() { w.telling = false }()
	before := w.changes
	for ; mask != 0; mask &= mask - 1 {
		slot := word*64 + trailingZeros(mask)
		for _, f := range hooks {
			f(Entity{slot: slot, generation: *w.generation(slot)})
			if w.changes != before {
				w.changedWhile(fmt.Sprintf("%s of column %s was running", what, c.name))
			}
		}
	}
}

// tellLosses tells of the components that the slots of mask in a word have and will lose.
func (w *World) tellLosses(word uint32, mask uint64) {
	for _, c := range w.columns {
		if c.observed && word < c.slots/64 {
			c.tell(c.onRemove, "OnRemove", word, mask&c.set.Word(uint(word)))
		}
	}
}

// tellLossesOf tells of all that the entities of a query will lose.
func (w *World) tellLossesOf(q Query) {
	for _, c := range w.columns {
		if !c.observed {
			continue
		}
		for run := range q.Runs() {
			for lo, end := run.start, min(run.start+run.n, c.slots); lo < end; {
				hi := min(end, lo&^63+64)
				c.tell(c.onRemove, "OnRemove", lo/64, wordMask(lo, hi)&c.set.Word(uint(lo/64)))
				lo = hi
			}
		}
	}
}

// tellBirths tells of the components that the entities in the slots [lo, hi) were born with.
func (a *Archetype) tellBirths(lo, hi uint32) {
	for _, c := range a.columns {
		if !c.observed {
			continue
		}
		for at := lo; at < hi; {
			end := min(hi, at&^63+64)
			c.tell(c.onAdd, "OnAdd", at/64, wordMask(at, end))
			at = end
		}
	}
}

// tellClosing tells of all components that the world's end takes.
func (w *World) tellClosing() {
	for _, c := range w.columns {
		if !c.observed {
			continue
		}
		for slot := c.set.Next(0); slot < uint(c.slots); slot = c.set.Next(slot/64*64 + 64) {
			c.tell(c.onRemove, "OnRemove", uint32(slot/64), c.set.Word(slot/64))
		}
	}
}

// wordMask returns the bits of the slots [lo, hi) in their word. They are at least one, and all in one word.
func wordMask(lo, hi uint32) uint64 { return ^uint64(0) << (lo % 64) & (^uint64(0) >> (-hi % 64)) }
