package vast

import (
	"errors"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// Trim gives back memory that no entity needs, in whole pages. In a column, this is the memory of slots whose
// entity lacks the component, and of slots without an entity. Trim also gives back control data of slots that
// no archetype owns. Memory after the last slot that an archetype owns no longer counts against
// [Options.Limit]. Trim ends all promises of room for components and links, except the promises of
// [Archetype.Grow]. Trackers lose nothing that they have noted.
//
// Call Trim after many entities were deleted. Trim is not a structural change, but must run alone, as
// structural changes do. If a system call fails, Trim returns an error that wraps a [*vm.Error], and
// the world still works.
//
// Complexity: one step for each slot that no archetype owns, one step for each gap between entities in each
// column, and at most a few system calls for each gap of at least a page.
func (w *World) Trim() error {
	w.mustBeOpen("Trim")
	w.mustRunAlone("World.Trim")
	if w.live == nil {
		return nil
	}
	w.settled()
	var errs []error
	for lo := uint32(w.vacant.Next(0)); lo < w.frontier; {
		hi := min(uint32(w.vacant.NextClear(uint(lo))), w.frontier)
		errs = append(errs, w.trimWords(lo, hi))
		lo = uint32(w.vacant.Next(uint(hi)))
	}
	if w.names != nil {
		w.names.trim()
	}
	w.deletion = nil
	w.joined.drop()
	errs = append(errs, w.trimEnd(), w.live.Trim(), w.vacant.Trim())
	for _, k := range w.relations {
		errs = append(errs, k.trimEnd(int(w.frontier)*64))
	}
	// endPromises changes owed, also of other columns. trim reads owed, so all calls of endPromises come
	// first.
	for _, c := range w.columns {
		c.endPromises(c.promised)
	}
	for _, c := range w.columns {
		errs = append(errs, c.trim())
	}
	return errors.Join(errs...)
}

// trimWords gives back the generations of the words [lo, hi), which no archetype owns. Each word keeps its
// largest generation as its floor. Old entities stay stale: no entity has generation zero, and no slot of the
// words is live. When an archetype owns the word again, the word's generations continue above the floor. See
// docs/decisions/0008-generation-floors.md.
func (w *World) trimWords(lo, hi uint32) error {
	w.noteFloors(lo, hi)
	return w.control.Discard(int(lo)*bytesGenerations, int(hi-lo)*bytesGenerations)
}

// noteFloors raises the floor of each of the words [lo, hi) to the word's largest generation.
func (w *World) noteFloors(lo, hi uint32) {
	for word := lo; word < hi; word++ {
		largest := uint32(0)
		for _, g := range w.generationsOf(word) {
			largest = max(largest, g)
		}
		// A word that was never used needs no floor. Writing to the owner of this word would only bring the
		// owner's page into memory.
		if o := w.owner(word); largest > o.floor {
			o.floor = largest
			w.floored = max(w.floored, word+1)
		}
	}
}

// raise raises the generations of a word to at least its floor, so that the word does not repeat generations
// that Trim discarded.
func (w *World) raise(word, floor uint32) {
	gens := w.generationsOf(word)
	for i, g := range gens {
		gens[i] = max(g, floor)
	}
}

// generationsOf returns the generations of a word's slots. word must be less than w.size/64: see the
// method generation.
func (w *World) generationsOf(word uint32) *[64]uint32 {
	return (*[64]uint32)(unsafe.Pointer(w.generation(word * 64)))
}

// extremes returns the least and the greatest generation of a word.
func (w *World) extremes(word uint32) (least, most uint32) {
	if int(word) < len(w.restored) {
		return w.restored[word][0], w.restored[word][1]
	}
	gens := w.generationsOf(word)
	least, most = gens[0], gens[0]
	b := (*[bytesGenerations]byte)(unsafe.Pointer(gens))
	if string(b[4:]) == string(b[:len(b)-4]) {
		return least, most // usually all generations are equal
	}
	for _, g := range gens {
		least, most = min(least, g), max(most, g)
	}
	return least, most
}

// trimEnd decommits the memory after the last owned word. It keeps the floors of the words there, because
// later owners of these words need the floors.
func (w *World) trimEnd() error {
	w.noteFloors(w.frontier, w.size/64)
	for _, c := range w.columns {
		c.flushDirty()
	}
	slots := int(w.frontier) * 64
	err := w.control.DecommitTo(w.control.Below(), 4*slots)
	w.live.Shrink(slots)
	w.vacant.Shrink(slots / 64)
	w.measure()
	errs := []error{err}
	for _, c := range w.columns {
		if c.base != nil {
			errs = append(errs, c.span.DecommitTo(c.bytesFor(slots)))
		}
		c.set.Shrink(slots)
		c.measure()
	}
	return errors.Join(errs...)
}

// trim gives back the elements of slots without the component. It may drop the contents of these elements,
// because an element is written or cleared when an entity gains the component.
func (c *column) trim() error {
	errs := []error{c.set.Trim()}
	if c.bytes > 0 {
		for lo, hi := range c.set.Gaps(uint(c.slots)) {
			if n := int(hi-lo) * c.bytes; n >= vm.PageSize() {
				errs = append(errs, c.span.Discard(c.skew+int(lo)*c.bytes, n))
			}
		}
	}
	if c.store != nil {
		errs = append(errs, c.store.trim(c.owed))
	}
	return errors.Join(errs...)
}
