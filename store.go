package vast

import "reflect"

// store keeps the elements of a column that do not lie at base + slot × size.
type store interface {
	// room makes the next n puts unable to fail.
	room(n int) error
	// put makes a zero element for a slot that has gained the component.
	put(slot uint32)
	// drop ends the element of a slot that is losing the component.
	drop(slot uint32)
	// close gives all memory back.
	close() error
}

// emptyStore is a store that can drop all elements at once.
type emptyStore interface {
	empty()
}

// packedStore is a store with off-heap memory of its own.
type packedStore interface {
	trim() error
	memory() (reserved, committed int)
	resident() (int, error)
}

// valueStore is a store whose elements are values of the column's type.
type valueStore interface {
	storage() Storage
	// value returns a copy of the element of a slot that has the component.
	value(slot uint32) reflect.Value
	// set overwrites the element of a slot that has the component with a value of the column's type.
	set(slot uint32, v reflect.Value)
}

// keep makes s the place of a column's elements.
func (c *column) keep(s store) {
	c.store = s
	c.world.observe(c)
}

// makeRoom makes n births of the archetype unable to fail in the columns with stores.
func (a *Archetype) makeRoom(n int) error {
	a.world.mustBeOpen("Archetype.New")
	for _, c := range a.columns {
		if c.store != nil {
			if err := c.store.room(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// putBirths makes the elements of the entities born in the slots [lo, hi), in the columns with stores, and notes the births
// for trackers.
func (a *Archetype) putBirths(lo, hi uint32) {
	for _, c := range a.columns {
		if c.store != nil {
			for slot := lo; slot < hi; slot++ {
				c.store.put(slot)
			}
		}
		if c.tracked {
			c.gainedRange(lo, hi)
		}
	}
}

// putGains makes the elements of what a column with a store has gained.
func (c *column) putGains(gains []gain) {
	for _, g := range gains {
		for m := g.mask; m != 0; m &= m - 1 {
			c.store.put(g.word*64 + trailingZeros(m))
		}
	}
}

// dropIn ends the elements of the slots of mask in a word of a column with a store.
func (c *column) dropIn(word uint32, mask uint64) {
	for ; mask != 0; mask &= mask - 1 {
		c.store.drop(word*64 + trailingZeros(mask))
	}
}

// dropLosses ends the elements that the slots of mask in a word have, in the columns with stores, and notes the losses for
// trackers.
func (w *World) dropLosses(word uint32, mask uint64) {
	for _, c := range w.watched {
		if word >= c.slots/64 {
			continue
		}
		lost := mask & c.set.Word(uint(word))
		if c.store != nil {
			c.dropIn(word, lost)
		}
		if c.tracked {
			c.lost(word, lost)
		}
	}
}
