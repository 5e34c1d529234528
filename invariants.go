package vast

import (
	"fmt"
	"math/bits"

	"github.com/vastgo/vast/internal/generation"
)

// checkNowAndThen calls checkInvariants after enough structural changes, so that the checks cost constant
// time for each change. Only builds that check invariants call checkNowAndThen.
func (w *World) checkNowAndThen() {
	if w.live == nil || w.closed || w.changes-w.checked < uint64(w.size/64)*uint64(len(w.columns)+64) {
		return
	}
	w.checked = w.changes
	w.checkInvariants()
}

// checkInvariants panics if the world's data contradict each other. Complexity: one step for each word of
// each column.
func (w *World) checkInvariants() {
	if w.live == nil || w.closed {
		return
	}
	must := func(ok bool, format string, a ...any) {
		if !ok {
			panic(fmt.Sprintf("vast: world %q: ", w.options.Name) + fmt.Sprintf(format, a...))
		}
	}
	w.live.CheckInvariants()
	w.vacant.CheckInvariants()
	must(w.size%64 == 0 && w.frontier*64 <= w.size, "the frontier is at word %d: the world's %d "+
		"slots end below it or are not whole words", w.frontier, w.size)
	must(w.frontier == 0 || !w.vacant.Test(uint(w.frontier-1)), "the word below the frontier is vacant")
	beyond := w.vacant.Next(uint(w.frontier))
	must(beyond == uint(w.vacant.Len()), "word %d is vacant beyond the frontier at word %d", beyond,
		w.frontier)

	owned, worn := uint32(0), 0
	for _, a := range w.archetypes {
		n := uint32(0)
		for i, x := range a.extents {
			must(x.archetype == a && w.extents[x.id] == x && x.words > 0,
				"extent %d is registered wrongly or has no words", x.id)
			must(i == 0 || a.extents[i-1].word+a.extents[i-1].words <= x.word, "extents overlap at word %d",
				x.word)
			must(x.word+x.words <= w.frontier, "an extent reaches beyond the frontier, to word %d",
				x.word+x.words)
			n += x.words
			worn += w.checkExtent(x, must)
		}
		must(a.words == n, "an archetype counts %d words and owns %d", a.words, n)
		owned += n
		w.checkPlace(a, must)
	}
	// No word is counted twice, because checkExtent found that each word names its extent.
	must(int(owned)+w.vacant.Count() == int(w.frontier), "%d owned and %d vacant words do not add up to "+
		"the %d words below the frontier", owned, w.vacant.Count(), w.frontier)
	must(w.worn == worn, "the world counts %d slots at their last generation, its extents have %d", w.worn,
		worn)
	unused := 0
	for _, x := range w.extents {
		if x == nil {
			unused++
		}
	}
	must(unused == len(w.unusedIDs), "%d extent numbers are unused, %d are listed", unused, len(w.unusedIDs))
	for i := range uint(w.live.Len() / 64) {
		vacant := i >= uint(w.frontier) || w.vacant.Test(i)
		if vacant && w.live.Word(i) != 0 {
			must(false, "word %d has no owner and holds entities", i)
		}
		if i < uint(w.size/64) {
			f := w.owner(uint32(i)).floor
			if f != 0 && (f&^generation.MaxCount != uint32(w.mark) || generation.Exhausted(f)) {
				must(false, "word %d has the floor %#x, which lacks the world's mark or is the last "+
					"generation", i, f)
			}
		}
	}
	for _, c := range w.columns {
		w.checkColumn(c, must)
	}
	for _, l := range w.relations {
		l.check(must)
	}
	w.checkPromises(must)
}

// checkPromises checks the number of elements that each column with a store owes. These are the elements that
// were promised to the column's archetypes, to columns that require the column, and to the column itself.
// checkPromises also checks the stores.
func (w *World) checkPromises(must func(bool, string, ...any)) {
	owed := make(map[*column]int)
	for _, a := range w.archetypes {
		for _, c := range a.columns {
			owed[c] += a.promised
		}
	}
	for _, c := range w.columns {
		for _, r := range c.requires {
			owed[r] += c.promised
		}
	}
	for _, c := range w.columns {
		if c.store != nil {
			must(c.owed == owed[c]+c.promised,
				"column %s owes %d elements: %d were promised to its archetypes and to columns that "+
					"require it, %d to the column itself", c.name, c.owed, owed[c], c.promised)
			c.store.check(c, must)
		}
	}
}

// checkExtent checks the words of an extent, the generations of its slots and its counts. It returns how many
// of the slots are at their last generation.
func (w *World) checkExtent(x *extent, must func(bool, string, ...any)) (last int) {
	var used, worn uint32
	for i := x.word; i < x.word+x.words; i++ {
		if w.owner(i).extent != x.id || w.vacant.Test(uint(i)) {
			must(false, "word %d does not belong to extent %d", i, x.id)
		}
		live, floor := w.live.Word(uint(i)), w.owner(i).floor
		used += uint32(bits.OnesCount64(live))
		gens := w.generationsOf(i)
		if least, most := w.extremes(i); live == ^uint64(0) && least >= floor && least > uint32(w.mark) &&
			most < uint32(w.mark)|generation.MaxCount {
			continue // fast path: no slot of the word needs a check
		}
		for bit, g := range gens {
			alive := live>>bit&1 != 0
			if g < floor {
				must(false, "slot %d has generation %#x, below the floor %#x of its word", int(i)*64+bit, g,
					floor)
			}
			if alive && (g&^generation.MaxCount != uint32(w.mark) || generation.Count(g) == 0) {
				must(false, "the entity in slot %d has generation %#x, which lacks the world's mark or "+
					"has the count 0", int(i)*64+bit, g)
			}
			if generation.Exhausted(g) {
				last++
				if !alive {
					worn++
				}
			}
		}
	}
	must(x.used == used+worn && x.worn == worn,
		"extent %d counts %d used and %d worn slots: %d hold entities, %d are worn", x.id, x.used, x.worn,
		used, worn)
	return last
}

// checkPlace checks the current word of an archetype: the word in which the search for a free slot begins. It
// also checks that the archetype's columns are usable for all slots of the archetype.
func (w *World) checkPlace(a *Archetype, must func(bool, string, ...any)) {
	if a.at == nil {
		must(len(a.extents) == 0 && a.vacancy == &noVacancy,
			"an archetype without a current word has extents or a vacancy")
		return
	}
	x := a.at
	must(w.extents[x.id] == x && x.archetype == a && x.word <= a.word && a.word < x.word+x.words,
		"an archetype's current word %d is not in its extent", a.word)
	vacancy := w.liveWord(a.word)
	if a.observed {
		vacancy = &noVacancy
	}
	must(a.vacancy == vacancy, "an archetype's vacancy does not point to its current word %d", a.word)
	for _, x := range a.extents {
		for i := x.word; i < min(x.word+x.words, a.word); i++ {
			for free := ^w.live.Word(uint(i)); free != 0; free &= free - 1 {
				if slot := i*64 + trailingZeros(free); !generation.Exhausted(*w.generation(slot)) {
					must(false, "slot %d is free and below the archetype's current word", slot)
				}
			}
		}
	}
	for _, c := range a.columns {
		end := a.extents[len(a.extents)-1].end()
		must(c.slots >= end, "an archetype owns slots below %d, and its column %s is usable below %d", end,
			c.name, c.slots)
	}
}

// checkColumn checks that only entities have components, that the components lie in usable slots, and that
// the owner of each word records the column, so that deletions find all components.
func (w *World) checkColumn(c *column, must func(bool, string, ...any)) {
	c.set.CheckInvariants()
	w.checkMarks(c, must)
	must(c.slots%64 == 0 && c.slots <= w.size && int(c.slots) <= c.set.Len() &&
		(c.slots == 0 || c.bytes == 0 || c.bytesFor(int(c.slots)) <= c.span.Committed()),
		"column %s counts %d usable slots: they are not whole words, or exceed the world, the column's %d "+
			"presence bits or its %d bytes of elements", c.name, c.slots, c.set.Len(),
		c.span.Committed())
	must(!c.switches || c.slots == w.size, "the tag %s of a Disabled is usable for %d slots, "+
		"the world has %d",
		c.name, c.slots, w.size)
	for i := range uint(c.set.Len() / 64) {
		word := c.set.Word(i)
		if word == 0 {
			continue
		}
		if i >= uint(c.slots/64) || i >= uint(w.frontier) {
			must(false, "column %s has components in word %d, which is not usable or has no owner", c.name, i)
		}
		if word&^w.live.Word(i) != 0 {
			must(false, "column %s holds components without an entity in word %d", c.name, i)
		}
		o := w.owner(uint32(i))
		recorded := o.extra>>(c.id%64)&1 != 0
		for _, b := range w.extents[o.extent].archetype.columns {
			recorded = recorded || b == c
		}
		if !recorded {
			must(false, "word %d holds entities with %s, and its owner does not record the column", i, c.name)
		}
	}
}
