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
	worn      uint32 // of those, the ones worn out
	spare     bool   // emptied and kept: the world may have it back when it has no other words
}

func (x *extent) first() uint32 { return x.word * 64 }
func (x *extent) end() uint32   { return (x.word + x.words) * 64 }

// draw gives the archetype extents with room for at least n more entities; more when the archetype is large: a quarter of
// what it owns, where there is room for that. On failure nothing has changed.
func (w *World) draw(a *Archetype, n int) error {
	if err := w.prepare(); err != nil {
		return err
	}
	var drawn []*extent
	before := w.committed(a.columns)
	for n > 0 {
		least := uint32((n + 63) / 64)
		word, words, err := w.place(a, max(least, a.words/4))
		if err != nil && words > least {
			// A quarter was too much for a limit: what is needed may still fit.
			word, words, err = w.place(a, least)
		}
		if err != nil {
			for _, x := range drawn {
				w.giveBack(x)
			}
			w.shrink(a.columns, before)
			return err
		}
		x := w.own(a, word, words)
		n -= int(words) * 64
		if n > 0 {
			drawn = append(drawn, x)
		}
	}
	return nil
}

// own makes vacant words, whose memory is usable, an extent of the archetype.
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
	at, _ := slices.BinarySearchFunc(a.extents, word, byWord)
	a.extents = slices.Insert(a.extents, at, x)
	a.words += words
	if a.at == nil || word < a.word {
		a.goTo(x, word)
	}
	a.adviseHuge(at)
	return x
}

func byWord(x *extent, word uint32) int { return int(x.word) - int(word) }

// place finds words for an extent and makes the memory of the archetype's columns usable there. It takes the lowest hole
// between extents that is large enough; then new words, which lie right behind the archetype's last extent when no other
// was drawn meanwhile; and when those run out the largest hole, which may be smaller than asked for.
func (w *World) place(a *Archetype, words uint32) (word, got uint32, err error) {
	asked := words
	var hole, holeWords uint32
	for lo := uint32(w.vacant.Next(0)); lo < w.frontier; {
		n := min(uint32(w.vacant.NextClear(uint(lo))), w.frontier) - lo
		if n > holeWords {
			hole, holeWords = lo, n
		}
		if n >= words {
			return w.claim(a, lo, words)
		}
		lo = uint32(w.vacant.Next(uint(lo + n)))
	}
	most := uint32(w.options.MaxEntities / 64)
	start := w.frontier
	if k := len(a.extents); k == 0 || a.extents[k-1].word+a.extents[k-1].words != start {
		start = w.align(a, words)
	}
	if words > most || start > most-words {
		start = w.frontier
	}
	if left := most - start; words > left {
		if left < holeWords {
			return w.claim(a, hole, holeWords)
		}
		words = left
	}
	if words == 0 {
		if w.reclaim(a) {
			return w.place(a, asked)
		}
		return 0, 0, w.full(a)
	}
	return w.claim(a, start, words)
}

// full is the error for a world without free words.
func (w *World) full(a *Archetype) error {
	return &vm.Error{Op: "grow", Purpose: w.options.Name, Bytes: 64 * a.bytes, Err: vm.ErrCapacity,
		Detail: fmt.Sprintf("archetypes own all %d slots, %d of them with entities: set a larger Options.MaxEntities",
			w.options.MaxEntities, w.Len())}
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

// claim takes words that belong to nobody. Those between the frontier and a first word beyond it become vacant.
func (w *World) claim(a *Archetype, word, words uint32) (uint32, uint32, error) {
	end := word + words
	if err := w.commit(a, end); err != nil {
		return 0, words, err
	}
	if end > w.frontier {
		w.vacant.Fill(uint(w.frontier), uint(end))
		w.frontier = end
	}
	w.vacant.Erase(uint(word), uint(end))
	return word, words, nil
}

// giveBack returns an emptied extent to the world. Its memory stays committed for the next owner.
func (w *World) giveBack(x *extent) {
	a := x.archetype
	at, _ := slices.BinarySearchFunc(a.extents, x.word, byWord)
	a.extents = slices.Delete(a.extents, at, at+1)
	a.words -= x.words
	if a.at == x {
		a.moveOn(at)
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

// emptied gives an extent without entities back, unless it is the archetype's only one and a single word: that is kept, so
// that an entity made and deleted in turn does not draw an extent each time.
func (w *World) emptied(x *extent) {
	if len(x.archetype.extents) > 1 || x.words > 1 {
		w.giveBack(x)
		return
	}
	x.spare = true
}

// reclaim gives the words back that other archetypes than a keep without need, and reports whether there were any.
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

// moveOn sets the archetype's place to the first word of the extent at index at, or where there is none to its last word.
func (a *Archetype) moveOn(at int) {
	switch k := len(a.extents); {
	case at < k:
		a.goTo(a.extents[at], a.extents[at].word)
	case k > 0:
		last := a.extents[k-1]
		a.goTo(last, last.word+last.words-1)
	default:
		a.at, a.word, a.vacancy = nil, 0, &noVacancy
	}
}
