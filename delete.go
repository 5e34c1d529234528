package vast

import (
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/invariants"
)

func trailingZeros(m uint64) uint32 { return uint32(bits.TrailingZeros64(m)) }

// Delete removes e and all its components from the world. It returns false if e is stale. If e is a target in
// a [Relation] or in [Edges], their [OnDelete] decides. With Orphan, Delete removes the links to e. With
// Cascade, Delete also deletes the sources. With Refuse, nothing changes, and Delete returns false.
// Complexity: one step for each of these:
//   - a column of e's archetype
//   - a column that entities in e's 64-slot word gained after their birth
//   - a relation, a [SparseColumn], a [HeapColumn] or a shared.Column of the world
//   - a column with hooks, trackers or groups
//   - a source that is deleted or loses its target, and each of its descendants
func (w *World) Delete(e Entity) bool {
	if !w.Alive(e) {
		return false
	}
	word, mask := e.slot/64, uint64(1)<<(e.slot%64)
	if len(w.watched) > 0 {
		w.mustNotBeInCallback(opDelete)
		if len(w.relations) > 0 && w.isTarget(e.slot) {
			return w.deleteLinked(opDelete, []wordMask{{word, mask}}, true) > 0
		}
		if w.losesWatched(word, mask) {
			w.tellLosses(word, mask)
			w.dropLosses(word, mask)
		}
	}
	w.changed(opDelete, 1)
	o := w.owner(word)
	x := w.extents[o.extent]
	a := x.archetype
	// This is deleteIn for one entity, inlined by hand: a call would take a tenth of the time of Delete.
	rare := clearIn(w.liveWords, word, ^mask)
	births := a.births
	for i := range births {
		if clearIn(births[i].words, word, ^mask) {
			rare = true
		}
	}
	x.used--
	if rare || o.extra != 0 || x.used == 0 || word < a.word || w.worn > 0 || invariants.Enabled {
		w.finishDelete(o, x, word, mask, rare)
	}
	return true
}

// DeleteAll deletes the entities that match the query and returns how many it deleted. The [OnDelete] of each
// [Relation] and of [Edges] applies. With Cascade, DeleteAll also deletes the sources of deleted targets,
// even sources that do not match. With Refuse, a target stays if one of its sources stays. An entity also
// stays if its deletion would cascade to a target that must stay. Complexity: one step for each 64-slot word
// with matches and each column that entities of this word may have. Links cost as much as in [World.Delete].
func (w *World) DeleteAll(q Query) int {
	var k walk
	w.startAll("World.DeleteAll", q, &k)
	w.mustNotBeInCallback(opDeleteAll)
	if len(w.relations) > 0 || len(w.disabled) > 0 && len(w.watched) > 0 {
		return w.deleteAllLinked(&k)
	}
	if len(w.watched) > 0 {
		marked := q.q.marked()
		w.tellLossesOf(q)
		q.q.mustBeMarkedAsBefore(marked)
	}
	n := 0
	// Deletions do not disturb the walk, because they change bits only in slots that the walk has passed.
	for {
		var word uint
		var mask uint64
		if k.q.plain { // saves the call of walk.nextWord for each word
			word, mask = k.cursor.NextWord()
		} else {
			word, mask = k.nextWord()
		}
		if mask == 0 {
			break
		}
		if len(w.watched) > 0 {
			w.dropLosses(uint32(word), mask)
		}
		count := bits.OnesCount64(mask)
		w.deleteIn(uint32(word), mask, uint32(count))
		n += count
	}
	w.changed(opDeleteAll, n)
	return n
}

// deleteIn deletes n entities of a word: one in each slot that is set in mask.
func (w *World) deleteIn(word uint32, mask uint64, n uint32) {
	o := w.owner(word)
	x := w.extents[o.extent]
	a := x.archetype
	// This is bitset.Set.AndNot, inlined by hand to save a call for each column.
	rare := clearIn(w.liveWords, word, ^mask)
	births := a.births
	for i := range births {
		if clearIn(births[i].words, word, ^mask) {
			rare = true
		}
	}
	x.used -= n
	if rare || o.extra != 0 || x.used == 0 || word < a.word || w.worn > 0 || invariants.Enabled {
		w.finishDelete(o, x, word, mask, rare)
	}
}

// clearIn clears the bits of a word that are not set in the mask keep, and reports whether the word was full
// or is empty now.
func clearIn(words unsafe.Pointer, word uint32, keep uint64) bool {
	p := (*uint64)(unsafe.Add(words, uintptr(word)*8))
	before := *p
	*p = before & keep
	return before&keep == 0 || before == ^uint64(0)
}

// losesWatched reports whether an entity in the slots of mask has a component of a watched column.
func (w *World) losesWatched(word uint32, mask uint64) bool {
	for _, c := range w.watched {
		if c.now(word)&mask != 0 {
			return true
		}
	}
	return false
}

// finishDelete does the work that most deletions do not need. rare says that summaries change: the word was
// full or is empty now, in the live bits or in a column of the archetype.
func (w *World) finishDelete(o *owner, x *extent, word uint32, mask uint64, rare bool) {
	a := x.archetype
	if rare {
		a.summarize(word)
	}
	if invariants.Enabled {
		for _, c := range a.columns {
			c.poison(word, mask)
		}
	}
	if o.extra != 0 {
		w.clearExtra(o, word, mask)
	}
	if w.worn > 0 {
		x.used += w.wornIn(x, word, mask)
	}
	if word < a.word {
		a.goTo(x, word)
	}
	if x.used == 0 {
		w.emptied(x)
	}
	if invariants.Enabled {
		w.checkNowAndThen()
	}
}

// wornIn counts the slots of mask that are at their last generation, adds the count to x.worn, and returns
// it. Such a slot is never used again. mask is a set of slots of one word of x.
func (w *World) wornIn(x *extent, word uint32, mask uint64) (n uint32) {
	for ; mask != 0; mask &= mask - 1 {
		if generation.Exhausted(*w.generation(word*64 + trailingZeros(mask))) {
			n++
		}
	}
	x.worn += n
	return n
}

// clearExtra clears the bits of mask in the columns that entities of the word gained after birth.
func (w *World) clearExtra(o *owner, word uint32, mask uint64) {
	for m := o.extra; m != 0; m &= m - 1 {
		for id := int(trailingZeros(m)); id < len(w.columns); id += 64 {
			c := w.columns[id]
			if word >= c.slots/64 {
				continue
			}
			if lost := c.set.Word(uint(word)) & mask; lost != 0 {
				if invariants.Enabled {
					c.poison(word, lost)
				}
				c.set.AndNot(uint(word), lost)
			}
		}
	}
	if w.live.Word(uint(word))&^mask == 0 {
		o.extra = 0
	}
}
