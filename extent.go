package vast

import (
	"fmt"
	"slices"

	"github.com/vastgo/vast/vm"
)

// extent is a run of words that one archetype owns, so that entities born alike lie side by side.
type extent struct {
	archetype *Archetype
	id        uint32
	word      uint32 // first
	words     uint32
	used      uint32 // slots that hold an entity, or are worn out and will never hold one again
}

func (x *extent) first() uint32 { return x.word * 64 }
func (x *extent) end() uint32   { return (x.word + x.words) * 64 }

// draw gives the archetype an extent with room for at least n more entities, more when the archetype is large: a quarter
// of what it owns. On failure nothing has changed.
func (w *World) draw(a *Archetype, n int) error {
	if err := w.prepare(); err != nil {
		return err
	}
	least := uint32((n + 63) / 64)
	words := max(least, a.words/4)
	word, err := w.place(a, words)
	if err != nil && words > least {
		words = least
		word, err = w.place(a, words)
	}
	if err != nil {
		return err
	}
	id := uint32(len(w.extents))
	if k := len(w.unusedIDs); k > 0 {
		id, w.unusedIDs = w.unusedIDs[k-1], w.unusedIDs[:k-1]
	} else {
		w.extents = append(w.extents, nil)
	}
	x := &extent{archetype: a, id: id, word: word, words: words}
	w.extents[id] = x
	for i := word; i < word+words; i++ {
		*w.owner(i) = owner{extent: id}
	}
	at, _ := slices.BinarySearchFunc(a.extents, word, byWord)
	a.extents = slices.Insert(a.extents, at, x)
	a.words += words
	a.free += int(words) * 64
	a.word = min(a.word, word)
	a.adviseHuge(at)
	return nil
}

func byWord(x *extent, word uint32) int { return int(x.word) - int(word) }

// place finds words for an extent and makes the memory of all its columns usable. Best is right behind the archetype's
// last extent, where both make one run; then the lowest hole between extents; then new words.
func (w *World) place(a *Archetype, words uint32) (uint32, error) {
	if k := len(a.extents); k > 0 {
		next := a.extents[k-1].word + a.extents[k-1].words
		if next == w.frontier {
			return w.extendFrontier(a, next, words)
		}
		if w.vacantFor(next) >= words {
			return w.claim(a, next, words)
		}
	}
	for lo := uint32(w.vacant.Next(0)); lo < w.frontier; lo = uint32(w.vacant.Next(uint(lo))) {
		n := w.vacantFor(lo)
		if n >= words {
			return w.claim(a, lo, words)
		}
		lo += n
	}
	word := w.align(a, words)
	if int(word+words)*64 > w.options.MaxEntities {
		word = w.frontier
	}
	return w.extendFrontier(a, word, words)
}

// vacantFor returns how many words from word on belong to nobody.
func (w *World) vacantFor(word uint32) uint32 {
	if word >= w.frontier || !w.vacant.Test(uint(word)) {
		return 0
	}
	return min(uint32(w.vacant.NextClear(uint(word))), w.frontier) - word
}

// align returns the first word from the frontier on at which the archetype's widest column begins a huge page, when the
// extent fills one: huge pages shared with other archetypes could not be given back with them.
func (w *World) align(a *Archetype, words uint32) uint32 {
	huge := vm.HugePageSize()
	wordBytes := 64 * a.widest
	if huge == 0 || int(words)*wordBytes < huge {
		return w.frontier
	}
	bytes := int(w.frontier) * wordBytes
	return uint32((((bytes+huge-1)&^(huge-1) + wordBytes - 1) / wordBytes))
}

// extendFrontier claims new words from word on; those that are skipped become vacant.
func (w *World) extendFrontier(a *Archetype, word, words uint32) (uint32, error) {
	if end := int(word+words) * 64; end > w.options.MaxEntities {
		return 0, &vm.Error{Op: "grow", Purpose: w.options.Name, Bytes: 0, Err: vm.ErrCapacity,
			Detail: fmt.Sprintf("%d entities live in a world made for %d slots, of which archetypes own %d: set a larger "+
				"Options.MaxEntities", w.entities, w.options.MaxEntities, int(w.frontier)*64)}
	}
	if err := w.commit(a, word+words); err != nil {
		return 0, err
	}
	w.vacant.Fill(uint(w.frontier), uint(word))
	w.frontier = word + words
	return word, nil
}

// claim takes vacant words.
func (w *World) claim(a *Archetype, word, words uint32) (uint32, error) {
	if err := w.commit(a, word+words); err != nil {
		return 0, err
	}
	w.vacant.Erase(uint(word), uint(word+words))
	return word, nil
}

// commit makes the control arrays and the archetype's columns usable below the given word.
func (w *World) commit(a *Archetype, end uint32) error {
	if err := w.reach(end * 64); err != nil {
		return err
	}
	for _, c := range a.columns {
		if err := c.grow(end * 64); err != nil {
			return err
		}
	}
	return nil
}

// giveBack returns an emptied extent to the world. Its memory stays committed for the next owner.
func (w *World) giveBack(x *extent) {
	a := x.archetype
	at, _ := slices.BinarySearchFunc(a.extents, x.word, byWord)
	a.extents = slices.Delete(a.extents, at, at+1)
	a.words -= x.words
	a.free -= int(x.words) * 64
	if a.word >= x.word && a.word < x.word+x.words {
		a.word = a.firstWordFrom(at)
	}
	w.extents[x.id] = nil
	w.unusedIDs = append(w.unusedIDs, x.id)
	w.vacant.Fill(uint(x.word), uint(x.word+x.words))
	// Vacant words at the end were never owned, as it were.
	for w.frontier > 0 && w.vacant.Test(uint(w.frontier-1)) {
		w.vacant.Clear(uint(w.frontier - 1))
		w.frontier--
	}
}

// released notes that n slots of an extent no longer hold entities.
func (w *World) released(x *extent, n uint32) {
	a := x.archetype
	x.used -= n
	a.free += int(n)
	// A single word is kept, so that an entity made and deleted in turn does not draw an extent each time.
	if x.used == 0 && (len(a.extents) > 1 || x.words > 1) {
		w.giveBack(x)
	}
}

// firstWordFrom returns the first word of the extent at index at, or where there is none the archetype's last word.
func (a *Archetype) firstWordFrom(at int) uint32 {
	switch k := len(a.extents); {
	case at < k:
		return a.extents[at].word
	case k > 0:
		return a.extents[k-1].word + a.extents[k-1].words - 1
	}
	return ^uint32(0)
}
