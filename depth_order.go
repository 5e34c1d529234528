package vast

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/invariants"
)

// InDepthOrder yields runs of the entities that match the query and have a target. All entities of a run have
// the same depth. Runs ascend by depth, and by slot within a depth. Each entity comes after its target, so
// one pass can compute values that depend on the target's value, such as absolute positions from relative
// ones. [Relation.Targets] yields the targets of a run. The rules of [Query.Runs] hold. InDepthOrder panics
// if the query is of another world, or if the relation has RelationOptions.Cyclic.
//
// Complexity: one step for each run, and, for each depth, one step for each 64-slot word with entities of
// that depth. InDepthOrder sorts nothing at depths up to 63. It finds deeper entities by their links, sorts
// the slots of each of these depths, and allocates memory for the slots. If the query has [Query.Optional],
// [Query.Exactly], [Query.To], [Query.Among], [Query.Between], [Query.Where], [Query.Up] or a condition on a
// shared value (see package shared), InDepthOrder first runs the query, and allocates one bit for each slot
// to note the matches.
func (r Relation) InDepthOrder(q Query) iter.Seq[Run] {
	return func(yield func(Run) bool) {
		var d depthWalk
		d.start(r.made(), q)
		for d.nextRun() {
			if !yield(d.run()) {
				return
			}
			d.check()
		}
	}
}

// Targets yields, for each entity of a run, its index in the run and its target's slot. [Column.At] finds a
// target's component by the slot; use [Column.TryAt] if a target may lack the component. Take the run from
// InDepthOrder or from another query whose entities have targets: Targets panics if an entity of the run has
// no target. Complexity: one step for each 64-slot word, and a few instructions for each entity.
func (r Relation) Targets(run Run) iter.Seq2[int, Slot] {
	return func(yield func(int, Slot) bool) {
		targets := r.made().targetsOf(run)
		for i := range targets {
			if !yield(i, Slot{targets[i].slot, run.world}) {
				return
			}
		}
	}
}

// targetsOf returns the targets of a run's entities. It panics if an entity of the run has no target.
func (k *relation) targetsOf(run Run) []Entity {
	c, end := k.sources, run.start+run.n
	if run.n == 0 {
		return nil
	}
	if end > c.slots || run.world != c.world {
		panic(k.strange(run))
	}
	for at := run.start; at < end; {
		word, mask, next := wordOf(at, end)
		if mask&^c.set.Word(uint(word)) != 0 {
			panic(k.strange(run))
		}
		at = next
	}
	if invariants.Enabled {
		c.touch(false)
	}
	return unsafe.Slice(k.target(run.start), run.n)
}

// strange returns the message for a run that [Relation.Targets] rejects.
//
//go:noinline
func (k *relation) strange(run Run) string {
	switch w := k.world; {
	case w.closed:
		return closedMessage("Relation.Targets", w)
	case run.world != k.world:
		return fmt.Sprintf("vast: Relation.Targets: the run belongs to another world than %q: take runs "+
			"from a walk of this world", w.options.Name)
	}
	return fmt.Sprintf("vast: Relation.Targets: an entity in the slots [%d, %d) has no target in %s: take "+
		"runs from InDepthOrder, or from a query that has the relation", run.start, run.start+run.n,
		k.sources.name)
}

// depthWalk is the state of one walk in the order of depth.
type depthWalk struct {
	relation *relation
	q        *query
	changes  uint64   // the world's count of changes when the walk began
	chosen   []uint64 // the query's matches by word; nil for a plain query, see query.plain
	lo, hi   uint32   // the current run, or its current part if the query has optional components
	end      uint32   // end of the whole current run

	// level is the depth of the current level minus 1. Below deep-1 it is also the index of the level's set
	// in relation.levels.
	level int
	set   *bitset.Set // the set of the current level; nil if the level has no set
	rest  uint64      // the current block's words that are still to visit, one bit for each word
	block uint        // index of the next block to visit
	slots []uint32    // slots of a level without a set, ascending
	next  uint        // index of the next slot in slots
	above []uint32    // slots of the previous level without a set
	word  uint        // the current word
	mask  uint64      // matches of the current word that are still to yield
}

// start positions the walk before the first run.
func (d *depthWalk) start(k *relation, q Query) {
	k.mustBeHierarchy("InDepthOrder")
	w := k.world
	var of walk
	w.startAll("Relation.InDepthOrder", q, &of)
	d.relation, d.q, d.changes = k, of.q, of.changes
	if !d.q.plain {
		d.chosen = make([]uint64, w.frontier)
		for word, mask := of.nextWord(); mask != 0; word, mask = of.nextWord() {
			d.chosen[word] = mask
		}
	}
	if len(k.levels) > 0 {
		d.set = k.levels[0]
	}
}

func (d *depthWalk) run() Run { return Run{start: d.lo, n: d.hi - d.lo, world: d.relation.world} }

// check panics if the structure changed since the walk began.
func (d *depthWalk) check() {
	d.relation.world.unchanged(d.changes, "entities were walked over in the order of their depth")
}

// nextRun moves to the next run and reports whether there is one.
func (d *depthWalk) nextRun() bool {
	if d.hi < d.end {
		d.cut()
		return true
	}
	for d.mask == 0 {
		if !d.nextWord() && !d.nextLevel() {
			return false
		}
	}
	first := uint(bits.TrailingZeros64(d.mask))
	// The addition carries through the run: the lowest set bit of sum is the end of the run. sum is 0 if the
	// run reaches the end of the word.
	sum := d.mask + 1<<first
	d.lo = uint32(d.word*64 + first)
	d.end = uint32(d.word*64 + uint(bits.TrailingZeros64(sum)))
	d.mask &= sum
	if sum == 0 {
		d.extend()
	}
	d.hi = d.end
	if len(d.q.optional) > 0 {
		d.hi = d.lo
		d.cut()
	}
	return true
}

// cut moves to the next part of the current run. All entities of a part have the same optional components.
func (d *depthWalk) cut() {
	d.lo = d.hi
	d.hi = uint32(d.q.alike(uint(d.lo), uint(d.end)))
}

// extend extends the current run into the following words.
func (d *depthWalk) extend() {
	for d.nextWord() && d.word*64 == uint(d.end) && d.mask&1 != 0 {
		n := bits.TrailingZeros64(^d.mask)
		d.end += uint32(n)
		d.mask &^= 1<<n - 1
		if d.mask != 0 || n < 64 {
			return
		}
	}
}

// nextWord moves to the next word of the current depth in which the query has matches, and reports whether
// there is one.
func (d *depthWalk) nextWord() bool {
	for {
		if d.set != nil {
			if d.rest == 0 && !d.nextBlock() {
				return false
			}
			d.word = d.word&^63 | uint(bits.TrailingZeros64(d.rest))
			d.rest &= d.rest - 1
			d.mask = d.set.Word(d.word)
		} else {
			if d.next >= uint(len(d.slots)) {
				return false
			}
			d.word, d.mask = uint(d.slots[d.next]/64), 0
			for ; d.next < uint(len(d.slots)) && uint(d.slots[d.next]/64) == d.word; d.next++ {
				d.mask |= 1 << (d.slots[d.next] % 64)
			}
		}
		if d.chosen != nil {
			d.mask &= d.chosen[d.word]
		} else {
			d.mask &= d.q.filter.All(d.word)
		}
		if d.mask != 0 {
			return true
		}
	}
}

// nextBlock moves to the next block of the current level's set and reports whether there is one.
func (d *depthWalk) nextBlock() bool {
	at := d.set.Next(d.block * bitset.BlockBits)
	if at >= uint(d.set.Len()) {
		return false
	}
	b := at / bitset.BlockBits
	d.rest, _ = d.set.Block(b)
	d.word, d.block = b*64, b+1
	return true
}

// nextLevel moves to the next depth and reports whether there is one.
func (d *depthWalk) nextLevel() bool {
	k := d.relation
	d.level++
	d.set, d.block, d.rest, d.next = nil, 0, 0, 0
	if d.level < deep-1 || len(k.levels) < deep {
		if d.level < len(k.levels) {
			d.set = k.levels[d.level]
		}
		return d.set != nil
	}
	d.above, d.slots = d.slots, d.above[:0]
	if d.level == deep-1 { // the previous level has a set
		set := k.levels[deep-2]
		for slot := set.Next(0); slot < uint(set.Len()); slot = set.Next(slot + 1) {
			d.slots = k.appendSources(d.slots, uint32(slot))
		}
	}
	for _, slot := range d.above {
		d.slots = k.appendSources(d.slots, slot)
	}
	slices.Sort(d.slots)
	return len(d.slots) > 0
}

// appendSources appends the slots of all sources whose target is in the given slot.
func (k *relation) appendSources(to []uint32, slot uint32) []uint32 {
	for s := k.first(slot); s != none; s = k.link(s).next {
		to = append(to, s)
	}
	return to
}
