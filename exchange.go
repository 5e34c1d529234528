package vast

import (
	"fmt"
	"math/bits"
	"slices"
)

// Exchange adds the components of add to every entity that matches the query and removes the components of
// remove, in one walk, and returns how many entities match. Gained components are zero. A component of add
// that the entity has stays as it is. A component of remove that the entity lacks is ignored. The query sees
// the world as it was before. Exchange makes room first: if that fails, it panics with a [*vm.Error] and has
// changed nothing. It panics if the query or a column is of another world, or if a column is named twice.
// Complexity: 64 entities at a time for each column.
func (w *World) Exchange(q Query, add, remove []AnyColumn) int {
	var k walk
	w.startAll("World.Exchange", q, &k)
	w.mustNotBeInCallback(opExchange)
	gained, lost := w.columnsOf("World.Exchange", add), w.columnsOf("World.Exchange", remove)
	mustStandAlone("World.Exchange", gained)
	mustNotSeverTargets(lost)
	for _, c := range gained {
		if slices.Contains(lost, c) {
			panic(fmt.Sprintf("vast: World.Exchange: column %s is in add and in remove: name it in one of "+
				"them", c.name))
		}
	}
	gains := make([][]wordMask, len(gained))
	if err := w.try(gained, func() error {
		for i, c := range gained {
			var missing int
			gains[i], missing = c.gainsOf(q)
			err := c.growFor(q.q)
			if err == nil && c.store != nil {
				err = c.room(missing, c.promised)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		panic(err)
	}
	marked := q.q.marked()
	for _, c := range lost {
		c.tellLossesOf(q)
	}
	q.q.mustBeMarkedAsBefore(marked)
	if len(w.relations) > 0 {
		q = pinForLosses(q, lost)
		k = walk{}
		k.start(q.q)
	}
	n, changes := 0, 0
	// Bits change only in slots that the walk has passed, so the walk may go on.
	for k.next() {
		lo, hi := uint32(k.cursor.Lo), uint32(k.cursor.Hi)
		for _, c := range gained {
			changes += c.giveZero(lo, hi)
		}
		for _, c := range lost {
			changes += c.take(lo, hi)
		}
		n += int(hi - lo)
	}
	for _, c := range lost {
		if c.store != nil {
			c.store.dropped()
		}
	}
	for i, c := range gained {
		if c.store != nil {
			for _, g := range gains[i] {
				c.putIn(g.word, g.mask)
			}
		}
	}
	w.changedAll(opExchange, changes)
	for i, c := range gained {
		c.tellGains(gains[i])
	}
	return n
}

// giveZero is like give, and also clears the gained elements.
func (c *column) giveZero(lo, hi uint32) (added int) {
	for lo < hi {
		word, mask, end := wordOf(lo, hi)
		lo = end
		// The gained slots of a word are mostly one stretch, so clear stretches and not single elements.
		for gained := mask &^ c.set.Word(uint(word)); gained != 0; {
			first := uint(bits.TrailingZeros64(gained))
			n := uint(bits.TrailingZeros64(^(gained >> first)))
			clear(c.elements(word*64+uint32(first), word*64+uint32(first+n)))
			gained &^= (1<<n - 1) << first
		}
		added += c.giveIn(word, mask)
	}
	return added
}
