package vast

import (
	"math/bits"

	"github.com/vastgo/vast/internal/generation"
)

func trailingZeros(m uint64) uint32 { return uint32(bits.TrailingZeros64(m)) }

// Delete takes e out of the world, with all its components, and reports whether it was alive. Complexity: the number of
// columns that e's archetype has, and those with entities near e; it does not grow with the number of registered columns.
func (w *World) Delete(e Entity) bool {
	if !w.Alive(e) {
		return false
	}
	w.deleteIn(e.slot/64, 1<<(e.slot%64))
	w.changed(opDelete, 1)
	return true
}

// DeleteAll deletes the entities that match the query and returns how many they were. Complexity: 64 entities at a time
// for each column that they may have.
func (w *World) DeleteAll(q Query) int {
	w.mustBeOpen("DeleteAll")
	if q.q.world != w {
		panic("vast: World.DeleteAll: the query belongs to another world")
	}
	before := w.entities
	// Deleting clears only bits that the walk has passed, so it may go on.
	var k walk
	k.start(q.q)
	for k.next() {
		for lo := k.lo; lo < k.hi; {
			hi := min(k.hi, lo&^63+64)
			w.deleteIn(lo/64, ^uint64(0)<<(lo%64)&(^uint64(0)>>(-hi%64)))
			lo = hi
		}
	}
	n := before - w.entities
	w.changed(opDeleteAll, n)
	return n
}

// deleteIn deletes the entities in the slots of mask, which all hold one, in a word.
func (w *World) deleteIn(word uint32, mask uint64) {
	o := w.owner(word)
	x := w.extents[o.extent]
	for _, c := range x.archetype.columns {
		c.clearWord(uint(word), mask)
	}
	if o.extra != 0 {
		w.clearExtra(o, word, mask)
	}
	w.live.AndNot(uint(word), mask)
	n := uint32(bits.OnesCount64(mask))
	w.entities -= int(n)
	if w.worn > 0 {
		// A slot at its last generation is never used again.
		for m := mask; m != 0; m &= m - 1 {
			if generation.Exhausted(*w.generation(word*64 + trailingZeros(m))) {
				n--
			}
		}
	}
	a := x.archetype
	a.live -= bits.OnesCount64(mask)
	a.word = min(a.word, word)
	w.released(x, n)
}

// clearExtra clears the columns that the word's entities gained after birth.
func (w *World) clearExtra(o *owner, word uint32, mask uint64) {
	for m := o.extra; m != 0; m &= m - 1 {
		for id := int(trailingZeros(m)); id < len(w.columns); id += 64 {
			w.columns[id].clearWord(uint(word), mask)
		}
	}
	if w.live.Word(uint(word))&^mask == 0 {
		o.extra = 0
	}
}
