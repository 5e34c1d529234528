package vast

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/invariants"
)

// MoveOptions say how [Archetype.Pack] and [World.Regroup] move entities. The zero value works.
type MoveOptions struct {
	// Most is the largest number of entities that the call moves. Default: no limit.
	Most int

	// By is a shared.Column or a [Relation]. World.Regroup then brings together, in each archetype, the
	// entities with equal values or with the same target. Archetype.Pack ignores By. Default: nil.
	By AnyColumn
}

func (o MoveOptions) most(method string) int {
	switch {
	case o.Most < 0:
		panic(fmt.Sprintf("vast: %s: MoveOptions.Most is %d: use 1 or more, or 0 for all", method, o.Most))
	case o.Most == 0:
		return math.MaxInt
	}
	return o.Most
}

// Pack moves entities of the archetype into the holes that deleted entities left. After Pack, runs are long,
// and queries are as fast as over new entities. To move as few entities as possible, Pack fills the first
// holes with the last entities. The moved entities keep their order. The slots after the last entity go back
// to the world, and [World.Trim] gives back their memory.
//
// A moved entity has a new reference, and its old reference is stale. Pack renews the references that the
// world sees: in components (fields and arrays; in a [HeapColumn] also slices, maps and pointers), in
// resources, relations, edges, [Names] and recorded [Commands]. The program must renew all other references,
// with [World.OnMove] or the returned [Moves]: references in variables, in indices, and in queries with
// [Query.To] or [Query.Among]. The sources of a target keep their order. A [Tracker] notes a removal of the
// old reference and an addition of the new reference, and notes components with renewed references as
// written. Pack does not call callbacks of OnAdd and OnRemove. It panics if a moved entity has a component
// with these callbacks and World.OnMove has no callback.
//
// Pack is a structural change. It releases room that [Archetype.Grow] made. With [MoveOptions.Most], a
// program can move some entities each tick. [ArchetypeStats.PackPays] reports whether packing saves time.
//
// Pack cannot fail, because it allocates only on the Go heap: 16 bytes for each moved entity, 16 bytes for
// each 64 slots between the first and the last moved entity, and 8 bytes for each entity or each free slot of
// the archetype, whichever are fewer.
//
// Complexity: a copy of the components of each moved entity, a look-up for each reference that the world
// sees, and one step for each 64 slots of the archetype.
func (a *Archetype) Pack(o MoveOptions) Moves {
	w := a.world
	w.mustBeOpen("Archetype.Pack")
	w.mustNotBeInCallback(opPack)
	from, to := a.packing(o.most("Archetype.Pack"))
	w.mustRenewKept(opPack, from)
	m := w.newMoves(from, to)
	w.move(opPack, &m)
	if k := len(to); k > 0 { // no slot below the last filled hole can take an entity
		word := to[k-1] / 64
		a.goTo(w.extents[w.owner(word).extent], word)
	}
	a.cut()
	if invariants.Enabled {
		w.checkNowAndThen()
	}
	w.tellMoves(m)
	return m
}

// packing returns the slots of the archetype's last entities and of its first holes, at most limit of each,
// in ascending order. The entity in slot from[i] should move to slot to[i].
func (a *Archetype) packing(limit int) (from, to []uint32) {
	if len(a.extents) == 0 {
		return nil, nil
	}
	w := a.world
	last := len(a.extents) - 1
	x, word := a.extents[last], a.extents[last].end()/64
	live := uint64(0) // entities of the word that were not taken
	n := min(limit, a.Len(), a.free())
	from, to = make([]uint32, 0, n), make([]uint32, 0, n)
	for hole := range a.vacancies() {
		for live == 0 && word > hole/64 {
			if word == x.word {
				last--
				x = a.extents[last]
				word = x.word + x.words
			}
			word--
			live = w.live.Word(uint(word))
		}
		top := uint32(bits.Len64(live)) - 1
		if live == 0 || word*64+top < hole || len(to) == limit {
			break
		}
		live &^= 1 << top
		from, to = append(from, word*64+top), append(to, hole)
	}
	slices.Reverse(from)
	return from, to
}

// vacancies yields the slots of the archetype in which an entity can be made.
func (a *Archetype) vacancies() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		w := a.world
		for _, x := range a.extents {
			if x.used == x.words*64 {
				continue
			}
			for word := max(x.word, a.word); word < x.word+x.words; word++ {
				for free := ^w.live.Word(uint(word)); free != 0; free &= free - 1 {
					slot := word*64 + trailingZeros(free)
					if w.worn > 0 && generation.Exhausted(*w.generation(slot)) {
						continue
					}
					if !yield(slot) {
						return
					}
				}
			}
		}
	}
}

// cut gives the words after the archetype's last entity or worn slot back to the world. A worn slot is at its
// last generation and will never hold an entity again.
func (a *Archetype) cut() {
	k := len(a.extents) - 1
	if k < 0 || a.extents[k].used == 0 { // World.emptied keeps one extent without entities
		return
	}
	w, x := a.world, a.extents[k]
	end := x.word + x.words
	for w.unused(x.word + x.words - 1) {
		x.words--
	}
	a.words -= end - x.word - x.words
	if a.word >= x.word+x.words {
		a.goTo(x, x.word+x.words-1)
	}
	w.disown(x.word+x.words, end)
}

// unused reports whether a word has neither an entity nor a worn slot.
func (w *World) unused(word uint32) bool {
	if w.worn > 0 && slices.ContainsFunc(w.generationsOf(word)[:], generation.Exhausted) {
		return false
	}
	return w.live.Word(uint(word)) == 0
}
