package vast

import (
	"fmt"
	"math/bits"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/invariants"
)

// startAll prepares the walk k over a query, for a bulk operation on the column.
func (c *column) startAll(what string, q Query, k *walk) {
	if c == nil {
		panic(fmt.Sprintf("vast: %s: the column was not made with NewColumn", what))
	}
	if c.switches {
		c.set.Tighten() // for a whole block, the operation reads only the summaries, which must be exact
	}
	c.world.startAll(what, q, k)
	if invariants.Enabled {
		c.touch(true)
	}
}

// startAll prepares the walk k over a query, for a bulk operation.
func (w *World) startAll(what string, q Query, k *walk) {
	w.mustBeOpen(what)
	if q.q != nil && q.q.world != w {
		panic(fmt.Sprintf("vast: %s: the query belongs to another world", what))
	}
	k.settled = true
	k.start(q.q.unkept())
}

// removeAll implements RemoveAll for all columns except relations.
func (c *column) removeAll(what string, q Query) int {
	var k walk
	c.startAll(what, q, &k)
	k.world.mustNotBeInCallback(opRemoveAll)
	if len(c.onRemove) > 0 {
		conditions, marked := q.q, q.q.marked()
		q = q.pinForHooks()
		c.tellLossesOf(q)
		conditions.mustBeMarkedAsBefore(marked)
		k = walk{}
		k.start(q.q)
	}
	n := 0
	// Bits change only in slots that the walk has passed, so the walk may continue.
	for k.next() {
		n += c.take(uint32(k.cursor.Lo), uint32(k.cursor.Hi))
	}
	if c.store != nil {
		c.store.dropped()
	}
	k.world.changedAll(opRemoveAll, n)
	return n
}

// changedAll counts the n structural changes of a bulk operation.
func (w *World) changedAll(op operation, n int) {
	if n == 0 {
		return
	}
	w.changed(op, n)
	if invariants.Enabled {
		w.checkNowAndThen()
	}
}

// growFor makes the column usable for all entities that match the query.
func (c *column) growFor(q *query) error {
	if c.slots >= c.world.frontier*64 {
		return nil
	}
	var k walk
	k.start(q)
	end := uint(0)
	for k.next() {
		end = max(end, k.cursor.Hi) // a walk over the sources of one target is not in slot order
	}
	return c.grow(uint32(end))
}

// give sets the presence bits of the slots [lo, hi) and returns how many bits were clear. The slots must be
// usable and hold entities.
func (c *column) give(lo, hi uint32) (added int) {
	if invariants.Enabled {
		c.mustBeFree(lo, hi)
	}
	for lo < hi {
		if lo%bitset.BlockBits == 0 && hi-lo >= bitset.BlockBits {
			if any, _ := c.set.Block(uint(lo / bitset.BlockBits)); any == 0 {
				c.giveBlock(lo)
				lo += bitset.BlockBits
				added += bitset.BlockBits
				continue
			}
		}
		word, mask, end := wordOf(lo, hi)
		added += c.giveIn(word, mask)
		lo = end
	}
	return added
}

// giveBlock is like give, for one block in which all presence bits are clear. It does not read the words.
func (c *column) giveBlock(lo uint32) {
	w := c.world
	last, born := ^uint32(0), true
	for word := lo / 64; word < (lo+bitset.BlockBits)/64; word++ {
		o := w.owner(word)
		if o.extent != last {
			last, born = o.extent, w.bornWith(c, o.extent)
		}
		if !born {
			o.extra |= 1 << (c.id % 64)
		}
	}
	c.set.Fill(uint(lo), uint(lo+bitset.BlockBits))
	if c.followed {
		c.gainedRange(lo, lo+bitset.BlockBits)
	}
}

// giveIn is like give, for the slots of mask in a word.
func (c *column) giveIn(word uint32, mask uint64) int {
	before := c.set.Word(uint(word))
	gained := mask &^ before
	if gained == 0 {
		return 0
	}
	if before == 0 {
		c.world.addedTo(c, word)
	}
	c.set.Store(uint(word), before|mask)
	if c.followed {
		c.gained(word, gained)
	}
	return bits.OnesCount64(gained)
}

// take clears the presence bits of the slots [lo, hi) and returns how many bits were set.
func (c *column) take(lo, hi uint32) (removed int) {
	hi = min(hi, c.slots)
	for lo < hi {
		if lo%bitset.BlockBits == 0 && hi-lo >= bitset.BlockBits && c.store == nil && !c.followed &&
			!invariants.Enabled {
			if any, full := c.set.Block(uint(lo / bitset.BlockBits)); any&^full == 0 {
				// Each word of the block is full or empty.
				if any != 0 {
					c.set.Erase(uint(lo), uint(lo+bitset.BlockBits))
				}
				removed += bits.OnesCount64(full) * 64
				lo += bitset.BlockBits
				continue
			}
		}
		word, mask, end := wordOf(lo, hi)
		lo = end
		before := c.set.Word(uint(word))
		lost := mask & before
		if lost == 0 {
			continue
		}
		if c.store != nil {
			c.dropIn(word, lost)
		}
		if c.followed {
			c.lost(word, lost)
		}
		if invariants.Enabled {
			c.poison(word, lost)
		}
		c.set.Store(uint(word), before&^mask)
		removed += bits.OnesCount64(lost)
	}
	return removed
}

// wordOf returns the word of slot lo, and a mask of the slots of [lo, hi) in this word. end is the slot after
// the last slot of the mask.
func wordOf(lo, hi uint32) (word uint32, mask uint64, end uint32) {
	end = min(hi, lo&^63+64)
	return lo / 64, ^uint64(0) << (lo % 64) & (^uint64(0) >> (-end % 64)), end
}
