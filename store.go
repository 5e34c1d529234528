package vast

import (
	"slices"
	"unsafe"

	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
)

// store keeps data that belongs to a column's elements but lies outside of the column's own memory, such as
// the values of a SparseColumn and the links of a relation. A store embeds [inPlace] for the methods that it
// does not need.
type store interface {
	// storage returns where the elements lie.
	storage() probing.Storage
	// at returns the address of the element of a slot that has the component, or nil if the element lies in
	// the column.
	at(slot uint32) unsafe.Pointer
	// put makes a zero element for an entity that gains the component.
	put(e Entity)
	// assign overwrites the element of a slot by the value at v, which has the column's type. Only stores of
	// elements outside of the column do this.
	assign(slot uint32, v unsafe.Pointer)
	// drop removes the element of a slot that loses the component. An operation calls dropped after its last
	// drop.
	drop(slot uint32)
	dropped()
	// move moves the element of an entity to its new slot, which has no element. The caller has already moved
	// the bytes in the column.
	move(old, new Entity)
	// empty removes all elements.
	empty()
	// has reports whether there is room for n puts and for `owed` more puts, for which room was promised.
	has(n, owed int) bool
	// room makes room for n puts and for `owed` more puts. On failure nothing has changed.
	room(n, owed int) error
	// mark returns a function that undoes all growth since the call of mark, or nil if the store undoes no
	// growth. The caller makes no put between mark and undo.
	mark() (undo func())
	// trim gives back the memory that no element needs, except room for the next n puts.
	trim(n int) error
	// memory returns the bytes of the store's own memory: addresses, committed memory, and memory on the Go
	// heap.
	memory() (reserved, committed, heap int)
	// resident returns how many of the committed bytes are in memory.
	resident() (int, error)
	// state returns the state of the pool that holds the elements, or nil if no pool holds them.
	state() state.Container
	// close gives all memory back.
	close() error
	// check checks that there is one element for each entity of the column, and no other element.
	check(c *column, must func(bool, string, ...any))
}

// inPlace is a store of elements that lie in the column. Its methods do nothing.
type inPlace struct{}

func (inPlace) storage() probing.Storage                  { return probing.StorageDense }
func (inPlace) at(uint32) unsafe.Pointer                  { return nil }
func (inPlace) put(Entity)                                {}
func (inPlace) assign(uint32, unsafe.Pointer)             {}
func (inPlace) drop(uint32)                               {}
func (inPlace) dropped()                                  {}
func (inPlace) move(_, _ Entity)                          {}
func (inPlace) empty()                                    {}
func (inPlace) has(_, _ int) bool                         { return true }
func (inPlace) room(_, _ int) error                       { return nil }
func (inPlace) mark() (undo func())                       { return nil }
func (inPlace) trim(int) error                            { return nil }
func (inPlace) memory() (reserved, committed, heap int)   { return 0, 0, 0 }
func (inPlace) resident() (int, error)                    { return 0, nil }
func (inPlace) state() state.Container                    { return nil }
func (inPlace) close() error                              { return nil }
func (inPlace) check(*column, func(bool, string, ...any)) {}

// keep makes s the store of a column's elements.
func (c *column) keep(s store) {
	c.store = s
	c.world.observe(c)
}

func (c *column) elsewhere() bool { return c.store != nil && c.store.storage() != probing.StorageDense }

// owedBeside returns how many puts the column still owes after n puts of a caller to whom `promised` puts are
// promised. The n puts redeem these promises first.
func (c *column) owedBeside(n, promised int) int { return c.owed - min(n, promised) }

// room makes room for n puts, which redeem promises as in owedBeside. The column keeps promises to others.
func (c *column) room(n, promised int) error { return c.store.room(n, c.owedBeside(n, promised)) }

// promise raises the number of promised additions to n, if the number is smaller.
func (c *column) promise(n int) {
	if more := n - c.promised; more > 0 {
		c.promised += more
		c.owe(more)
	}
}

// endPromises ends the promises of n additions: the additions were made, or the promises are withdrawn.
func (c *column) endPromises(n int) {
	if c.promised == 0 {
		return
	}
	n = min(n, c.promised)
	c.promised -= n
	c.owe(-n)
}

// owe adds n to the number of owed elements, in the column and in the columns that it requires.
func (c *column) owe(n int) {
	c.owed += n
	for _, r := range c.requires {
		r.owed += n
	}
}

// growToAdd makes a slot usable, and makes room so that adding its component cannot fail. On failure nothing
// has changed.
func (c *column) growToAdd(slot uint32) error { return c.makeRoom(slot+1, 1) }

// makeRoom makes room for n additions below slot end, and for the components that they require. The additions
// redeem promises of c. On failure nothing has changed.
func (c *column) makeRoom(end uint32, n int) error {
	if c.hasRoom(end, n, c.promised) && !slices.ContainsFunc(c.requires, func(r *column) bool {
		return !r.hasRoom(end, n, c.promised)
	}) {
		return nil
	}
	columns := slices.Concat(c.requires, []*column{c})
	return c.world.try(columns, func() error {
		for _, r := range columns {
			err := r.grow(end)
			if err == nil && r.store != nil {
				err = r.room(n, c.promised)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// hasRoom reports whether there is room for n additions below slot end, which redeem promises as in
// owedBeside.
func (c *column) hasRoom(end uint32, n, promised int) bool {
	return end <= c.slots && (c.store == nil || c.store.has(n, c.owedBeside(n, promised)))
}

// makeRoom makes room for n births of the archetype in the columns with stores.
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

// hasRoom reports whether the columns with stores have room for n births of the archetype.
func (a *Archetype) hasRoom(n int) bool {
	for _, c := range a.columns {
		if c.store != nil && !c.store.has(n, c.owedBeside(n, a.promised)) {
			return false
		}
	}
	return true
}

// promise notes that the columns with stores owe room for n births of the archetype. n may be smaller than in
// the previous call.
func (a *Archetype) promise(n int) {
	for _, c := range a.columns {
		if c.store != nil {
			c.owed += n - a.promised
		}
	}
	a.promised = n
}

// putBirths makes the elements of the entities born in the slots [lo, hi), in the columns with stores, and
// notes the births for trackers and groups.
func (a *Archetype) putBirths(lo, hi uint32) {
	if a.promised > 0 {
		a.promise(max(0, a.promised-int(hi-lo)))
	}
	for _, c := range a.columns {
		if c.store != nil {
			for slot := lo; slot < hi; slot++ {
				c.store.put(a.world.entityIn(slot))
			}
		}
		if c.followed {
			c.gainedRange(lo, hi)
		}
	}
}

// putIn makes elements in the column's store. Bit i of mask stands for slot word*64+i.
func (c *column) putIn(word uint32, mask uint64) {
	for ; mask != 0; mask &= mask - 1 {
		c.store.put(c.world.entityIn(word*64 + trailingZeros(mask)))
		c.endPromises(1)
	}
}

// dropIn removes elements from the column's store. Bit i of mask stands for slot word*64+i.
func (c *column) dropIn(word uint32, mask uint64) {
	for ; mask != 0; mask &= mask - 1 {
		c.store.drop(word*64 + trailingZeros(mask))
	}
}

// dropLosses removes elements from all stores, and notes the losses for trackers and groups. Bit i of mask
// stands for slot word*64+i.
func (w *World) dropLosses(word uint32, mask uint64) {
	for _, c := range w.watched {
		if word >= c.slots/64 {
			continue
		}
		lost := mask & c.set.Word(uint(word))
		if c.store != nil {
			c.dropIn(word, lost)
		}
		if c.followed {
			c.lost(word, lost)
		}
	}
}
