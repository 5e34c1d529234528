package vast

import "github.com/vastgo/vast/internal/invariants"

// Reset empties the world: every entity becomes stale, as if it had been deleted. Callbacks of
// [Column.OnRemove] run first, as they do in [World.Close]. Columns, archetypes, queries and resources stay.
// The world keeps its addresses and its memory; [World.Trim] gives back memory. Slots are handed out as in a
// new world, and the promises of [Archetype.Grow] end. Generations continue, so an [Entity] differs from all
// entities that had its slot before. If a program repeats its steps after Reset, it gets the same slots, but
// other generations, other values of [Entity.ID] and other numbers from sched.Context.Random.
//
// Complexity: one step for each 64-slot word with entities in each column, and one for each call of a hook.
func (w *World) Reset() {
	w.mustBeOpen("Reset")
	w.mustNotBeInCallback(opReset)
	if w.live == nil {
		return
	}
	w.settled()
	if len(w.watched) > 0 {
		w.tellClosing()
	}
	w.changed(opReset, max(w.Len(), 1))
	for _, c := range w.columns {
		c.empty()
	}
	for _, a := range w.archetypes {
		a.promise(0)
		for i := len(a.extents) - 1; i >= 0; i-- {
			w.vacate(a.extents[i])
		}
		if len(a.extents) > 0 {
			a.moveOn(0)
		}
	}
	if w.names != nil {
		w.names.trim()
	}
	w.live.Reset()
	if invariants.Enabled {
		w.checkInvariants()
	}
}

// vacate gives an emptied extent back. An extent with worn slots (slots whose generations are used up) stays,
// because the extent counts these slots.
func (w *World) vacate(x *extent) {
	if w.worn > 0 {
		for word := x.word; word < x.word+x.words; word++ {
			w.wornIn(x, word, w.live.Word(uint(word)))
			w.owner(word).extra = 0
		}
	}
	x.used = x.worn
	if x.used == 0 {
		w.giveBack(x)
	}
}

func (c *column) empty() {
	if c.followed || invariants.Enabled {
		for slot := c.set.Next(0); slot < uint(c.slots); slot = c.set.Next(slot/64*64 + 64) {
			word, mask := uint32(slot/64), c.set.Word(slot/64)
			if c.followed {
				c.lost(word, mask)
			}
			if invariants.Enabled {
				c.poison(word, mask)
			}
		}
	}
	if c.store != nil {
		c.store.empty()
	}
	c.set.Reset()
}
