package vast

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vastgo/vast/vm"
)

// extent is a run of words of 64 slots that one archetype owns. It keeps the entities of the archetype next
// to each other.
type extent struct {
	archetype *Archetype
	id        uint32
	word      uint32 // the first word
	words     uint32 // number of words
	used      uint32 // number of slots that hold an entity or are worn
	worn      uint32 // number of worn slots, which will never hold an entity again
	spare     bool   // see emptied
}

func (x *extent) first() uint32 { return x.word * 64 }
func (x *extent) end() uint32   { return (x.word + x.words) * 64 }

// draw gives the archetype extents with room for at least n more entities. If there is room, draw adds at
// least a quarter to the words that the archetype owns. On failure the archetype gains no words, and draw
// gives back the memory that it committed.
func (w *World) draw(a *Archetype, n int) error {
	if err := w.prepare(); err != nil {
		return err
	}
	before := w.committed(a.columns)
	defer w.forget(before)
	minWords := uint32((n + 63) / 64)
	word, words, err := w.place(a, minWords, max(minWords, a.words/4))
	if err != nil && a.words/4 > minWords {
		// A limit may refuse a quarter of the archetype's words, and allow minWords.
		word, words, err = w.place(a, minWords, minWords)
	}
	switch {
	case err == nil && words > 0:
		w.own(a, word, words)
	case err == nil:
		err = w.drawHoles(a, minWords)
	}
	if err != nil {
		w.shrink(a.columns, before)
	}
	return err
}

// hole is a run of words that no archetype owns.
type hole struct{ word, words uint32 }

// drawHoles gives the archetype words from several holes, because no single hole has enough words. It takes
// the largest holes first, so that there are few new extents. On failure the archetype gains no words, but
// memory may stay committed.
func (w *World) drawHoles(a *Archetype, words uint32) error {
	holes, total := w.holes()
	if total < words && w.reclaim(a) {
		holes, total = w.holes()
	}
	if total < words {
		return w.full(a)
	}
	slices.SortFunc(holes, func(a, b hole) int {
		return cmp.Or(cmp.Compare(b.words, a.words), cmp.Compare(a.word, b.word))
	})
	chosen := 0
	for left := words; left > 0; chosen++ {
		h := &holes[chosen]
		h.words = min(h.words, left)
		left -= h.words
	}
	holes = holes[:chosen]
	slices.SortFunc(holes, func(a, b hole) int { return cmp.Compare(a.word, b.word) })
	var drawn []*extent
	for _, h := range holes {
		if err := w.claim(a, h.word, h.words); err != nil {
			for _, x := range drawn {
				w.giveBack(x)
			}
			return err
		}
		drawn = append(drawn, w.own(a, h.word, h.words))
	}
	return nil
}

// holes returns all holes of the world, including the words from the frontier on, and the total number of
// words in the holes.
func (w *World) holes() (holes []hole, words uint32) {
	for lo := uint32(w.vacant.Next(0)); lo < w.frontier; {
		n := min(uint32(w.vacant.NextClear(uint(lo))), w.frontier) - lo
		holes = append(holes, hole{lo, n})
		words += n
		lo = uint32(w.vacant.Next(uint(lo + n)))
	}
	if maxWords := uint32(w.options.MaxEntities / 64); maxWords > w.frontier {
		holes = append(holes, hole{w.frontier, maxWords - w.frontier})
		words += maxWords - w.frontier
	}
	return holes, words
}

// own makes vacant words an extent of the archetype. The caller must have committed the memory of these
// words.
func (w *World) own(a *Archetype, word, words uint32) *extent {
	id := uint32(len(w.extents))
	if k := len(w.unusedIDs); k > 0 {
		id, w.unusedIDs = w.unusedIDs[k-1], w.unusedIDs[:k-1]
	} else {
		w.extents = append(w.extents, nil)
	}
	x := &extent{archetype: a, id: id, word: word, words: words}
	w.extents[id] = x
	for i := word; i < word+words; i++ {
		o := w.owner(i)
		o.extent, o.extra = id, 0
		if o.floor != 0 {
			w.raise(i, o.floor)
		}
	}
	index, _ := slices.BinarySearchFunc(a.extents, word, byWord)
	a.extents = slices.Insert(a.extents, index, x)
	a.words += words
	if a.at == nil || word < a.word {
		a.goTo(x, word)
	}
	a.adviseHuge(index)
	return x
}

func byWord(x *extent, word uint32) int { return int(x.word) - int(word) }

// place finds room for an extent of the given number of words, and commits the memory of the archetype's
// columns there. It takes the lowest hole between extents that has enough words. If there is none, it takes
// words behind all extents. If these are too few, place returns fewer words than wanted: either the largest
// hole or the words behind all extents, whichever has more words. If these are fewer than minWords, place
// returns 0 words and no error.
func (w *World) place(a *Archetype, minWords, words uint32) (word, got uint32, err error) {
	var largest hole
	for lo := uint32(w.vacant.Next(0)); lo < w.frontier; {
		n := min(uint32(w.vacant.NextClear(uint(lo))), w.frontier) - lo
		if n > largest.words {
			largest = hole{lo, n}
		}
		if n >= words {
			return lo, words, w.claim(a, lo, words)
		}
		lo = uint32(w.vacant.Next(uint(lo + n)))
	}
	maxWords := uint32(w.options.MaxEntities / 64)
	start := w.frontier
	if k := len(a.extents); k == 0 || a.extents[k-1].word+a.extents[k-1].words != start {
		start = w.align(a, words)
	}
	if words > maxWords || start > maxWords-words {
		start = w.frontier
	}
	if left := maxWords - start; words > left {
		words = left
		if left < largest.words {
			start, words = largest.word, largest.words
		}
	}
	if words < minWords {
		return 0, 0, nil
	}
	return start, words, w.claim(a, start, words)
}

// full returns the error for a world with too few words that no archetype owns.
func (w *World) full(a *Archetype) error {
	return &vm.Error{Op: "grow", Purpose: w.options.Name, Bytes: 64 * a.bytes, Err: vm.ErrCapacity,
		Detail: fmt.Sprintf("archetypes own too many of the %d slots, %d of them with entities: set a "+
			"larger Options.MaxEntities", w.options.MaxEntities, w.Len())}
}

// align returns the first word that begins at or behind the next border of huge pages from the frontier on,
// in the archetype's widest column. If the extent does not fill a huge page, align returns the frontier.
// Archetypes should not share a huge page, because the page can be given back only when each of these
// archetypes has given back its words.
func (w *World) align(a *Archetype, words uint32) uint32 {
	huge := w.alignment
	wordBytes := 64 * a.widest
	if huge == 0 || int(words)*wordBytes < huge {
		return w.frontier
	}
	bytes := int(w.frontier) * wordBytes
	return uint32((((bytes+huge-1)&^(huge-1) + wordBytes - 1) / wordBytes))
}

// claim takes words that no archetype owns, and commits their memory. If word is behind the frontier, the
// words from the frontier to word become vacant.
func (w *World) claim(a *Archetype, word, words uint32) error {
	end := word + words
	if err := w.commit(a, end); err != nil {
		return err
	}
	if end > w.frontier {
		w.vacant.Fill(uint(w.frontier), uint(end))
		w.frontier = end
	}
	w.vacant.Erase(uint(word), uint(end))
	return nil
}

// giveBack returns an emptied extent to the world. Its memory stays committed for the next owner.
func (w *World) giveBack(x *extent) {
	a := x.archetype
	index, _ := slices.BinarySearchFunc(a.extents, x.word, byWord)
	a.extents = slices.Delete(a.extents, index, index+1)
	a.words -= x.words
	if a.at == x {
		a.moveOn(index)
	}
	w.extents[x.id] = nil
	w.unusedIDs = append(w.unusedIDs, x.id)
	w.disown(x.word, x.word+x.words)
}

// disown marks the words [lo, hi) as vacant.
func (w *World) disown(lo, hi uint32) {
	w.vacant.Fill(uint(lo), uint(hi))
	// The frontier moves down, behind the last word that an archetype owns.
	end := w.frontier
	for w.frontier > 0 && w.vacant.Test(uint(w.frontier-1)) {
		if w.frontier%64 == 0 && w.vacant.Word(uint(w.frontier/64-1)) == ^uint64(0) {
			w.frontier -= 64
		} else {
			w.frontier--
		}
	}
	w.vacant.Erase(uint(w.frontier), uint(end))
}

// emptied gives back an extent without entities. If the archetype's only extent is a single word, emptied
// instead marks the extent as spare, and the archetype keeps it. Without spare extents, a program that makes
// and deletes one entity again and again would draw an extent each time.
func (w *World) emptied(x *extent) {
	if len(x.archetype.extents) > 1 || x.words > 1 {
		w.giveBack(x)
		return
	}
	x.spare = true
}

// reclaim returns spare extents to the world, but not that of archetype a. It reports whether there were any.
func (w *World) reclaim(a *Archetype) bool {
	found := false
	for _, other := range w.archetypes {
		if other != a && len(other.extents) == 1 && other.extents[0].spare && other.extents[0].used == 0 {
			w.giveBack(other.extents[0])
			found = true
		}
	}
	return found
}

// moveOn sets the archetype's current word to the first word of extents[index]. If index is behind the last
// extent, the current word becomes the archetype's last word.
func (a *Archetype) moveOn(index int) {
	switch k := len(a.extents); {
	case index < k:
		a.goTo(a.extents[index], a.extents[index].word)
	case k > 0:
		last := a.extents[k-1]
		a.goTo(last, last.word+last.words-1)
	default:
		a.at, a.word, a.vacancy = nil, 0, &noVacancy
	}
}
