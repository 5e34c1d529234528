package vast

import "reflect"

// store keeps the elements of a column that do not lie at base + slot × size.
type store interface {
	// has reports whether n puts cannot fail, whatever becomes of the owed ones, which were promised to others.
	has(n, owed int) bool
	// room makes it so. On failure nothing has changed.
	room(n, owed int) error
	// mark returns what takes back all growth since, nil where there is nothing to be taken back. Nothing may be
	// put meanwhile.
	mark() (undo func())
	// put makes a zero element for a slot that has gained the component.
	put(slot uint32)
	// drop ends the element of a slot that is losing the component.
	drop(slot uint32)
	// close gives all memory back.
	close() error
	// check checks that there is an element for each entity of the column, and no other.
	check(c *column, must func(bool, string, ...any))
}

// emptyStore is a store that can drop all elements at once.
type emptyStore interface {
	empty()
}

// packedStore is a store with off-heap memory of its own.
type packedStore interface {
	// trim gives back what no element needs, but for the room of the next keep puts.
	trim(keep int) error
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

// owedBeside returns how many puts stay owed to others while n are made, of which up to promised go by a promise.
func (c *column) owedBeside(n, promised int) int { return c.owed - min(n, promised) }

// room makes n puts unable to fail, of which up to promised go by a promise. Promises to others stay kept.
func (c *column) room(n, promised int) error { return c.store.room(n, c.owedBeside(n, promised)) }

// promise notes that n additions were promised room.
func (c *column) promise(n int) {
	if more := n - c.promised; more > 0 {
		c.promised += more
		c.owed += more
	}
}

// kept notes that n additions were made.
func (c *column) kept(n int) {
	if c.promised == 0 {
		return
	}
	n = min(n, c.promised)
	c.promised -= n
	c.owed -= n
}

// growToAdd makes an addition for a slot that is not usable yet unable to fail. On failure nothing has
// changed.
func (c *column) growToAdd(slot uint32) error {
	return c.world.try([]*column{c}, func() error {
		err := c.grow(slot + 1)
		if err == nil && c.store != nil {
			err = c.room(1, c.promised)
		}
		return err
	})
}

// makeRoom makes n births of the archetype unable to fail in the columns with stores.
func (a *Archetype) makeRoom(n int) error {
	for _, c := range a.columns {
		if c.store != nil {
			if err := c.room(n, a.promised); err != nil {
				return err
			}
		}
	}
	return nil
}

// hasRoom reports whether n births of the archetype cannot fail in the columns with stores.
func (a *Archetype) hasRoom(n int) bool {
	for _, c := range a.columns {
		if c.store != nil && !c.store.has(n, c.owedBeside(n, a.promised)) {
			return false
		}
	}
	return true
}

// promise notes that n births of the archetype were promised room in the columns with stores, or fewer than
// before.
func (a *Archetype) promise(n int) {
	for _, c := range a.columns {
		if c.store != nil {
			c.owed += n - a.promised
		}
	}
	a.promised = n
}

// putBirths makes the elements of the entities born in the slots [lo, hi), in the columns with stores, and notes the births
// for trackers.
func (a *Archetype) putBirths(lo, hi uint32) {
	if a.promised > 0 {
		a.promise(max(0, a.promised-int(hi-lo)))
	}
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
			c.kept(1)
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
