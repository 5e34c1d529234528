package vast

import (
	"fmt"
	"math/bits"
	"slices"
)

// Exchange changes every entity that matches the query: it adds the components of add and removes the
// components of remove. It returns the number of matches. Gained components are zero. A component of add that
// the entity already has is unchanged. A component of remove that the entity lacks is ignored. The query sees
// the world as it was before the call.
//
// Exchange first commits all memory that it needs. If it gets no memory, it panics with a [*vm.Error] and has
// changed nothing. It also panics if the query or a column is of another world, if a column is named twice,
// if add names a relation, edges or the column of [Names], if remove names the TargetColumn of a relation or
// of edges, and if a column of add requires a column of remove. Complexity: for each column, one step for
// each 64 entities.
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
	all := w.gaining(q, gained)
	for _, g := range all {
		if slices.Contains(lost, g.column) {
			panic(fmt.Sprintf("vast: World.Exchange: column %s is in remove, and column %s of add requires "+
				"it: remove it in another call", g.name, g.by[0].name))
		}
	}
	if err := w.roomFor(q, all); err != nil {
		panic(err)
	}
	conditions, marked := q.q, q.q.marked()
	if slices.ContainsFunc(lost, func(c *column) bool { return len(c.onRemove) > 0 }) {
		q = q.pinForHooks()
	}
	for _, c := range lost {
		c.tellLossesOf(q)
	}
	conditions.mustBeMarkedAsBefore(marked)
	if len(w.relations) > 0 {
		q = pinForLosses(q, lost)
	}
	if q.q != conditions {
		k = walk{}
		k.start(q.q)
	}
	n, changes := 0, 0
	// The walk stays valid, because the loop changes only the bits of slots that the walk has passed.
	for k.next() {
		lo, hi := uint32(k.cursor.Lo), uint32(k.cursor.Hi)
		changes += giveRequired(all, lo, hi)
		for _, c := range gained {
			added := c.giveZero(lo, hi)
			if c.store == nil {
				c.endPromises(added)
			}
			changes += added
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
	for _, g := range all {
		if g.store != nil && g.by == nil {
			for _, gain := range g.gains {
				g.putIn(gain.word, gain.mask)
			}
		}
	}
	w.changedAll(opExchange, changes)
	tellAllGains(all)
	return n
}

// giveZero is like give, and also clears the gained elements.
func (c *column) giveZero(lo, hi uint32) (added int) {
	for lo < hi {
		word, mask, end := wordOf(lo, hi)
		lo = end
		added += c.giveZeroIn(word, mask)
	}
	return added
}

func (c *column) giveZeroIn(word uint32, mask uint64) int {
	// Each step clears a range of elements, because most gained slots of a word are contiguous.
	for gained := mask &^ c.set.Word(uint(word)); gained != 0; {
		first := uint(bits.TrailingZeros64(gained))
		n := uint(bits.TrailingZeros64(^(gained >> first)))
		clear(c.elements(word*64+uint32(first), word*64+uint32(first+n)))
		gained &^= (1<<n - 1) << first
	}
	return c.giveIn(word, mask)
}
