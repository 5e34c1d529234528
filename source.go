package vast

import "math"

// source is the place from which a query takes its runs.
type source uint8

const (
	fromFilter  source = iota // a cursor over presence bits
	fromList                  // the list of Query.Among
	fromLinks                 // the entities that link to a target, in the order of their links
	fromRelated               // a cursor over presence bits, limited to the entities with the query's targets
	fromPinned                // runs that were collected before the walk
)

func (q *query) chooseSource() source {
	switch {
	case q.pinned != nil:
		return fromPinned
	case q.list != nil:
		return fromList
	case len(q.targets) > 0 && q.ranged():
		return fromRelated
	case len(q.targets) > 0:
		return fromLinks
	}
	return fromFilter
}

// startSource positions the walk before its first run. Walks over plain queries (see query.plain) do not call
// startSource.
func (k *walk) startSource() {
	k.source = k.q.source
	if k.source == fromLinks {
		k.startLinks()
	}
	if k.q.ranged() {
		k.startBetween(0, k.cursor.End())
	}
	if k.q.joins != nil {
		k.startJoins()
	}
}

// startBetween positions the walk before its first match in the words [lo, end).
func (k *walk) startBetween(lo, end uint) {
	k.cursor.StartAt(&k.q.filter, max(lo, k.q.lo/64), min(end, k.q.hi/64+1))
	if k.source == fromList {
		k.startList(max(lo*64, k.q.lo))
	}
}

// goBySlot makes a walk visit entities in the order of slots. Call goBySlot before the walk yields a run.
func (k *walk) goBySlot() {
	if k.source == fromLinks {
		k.source = fromRelated
	}
}

// nextWhole moves the cursor to the next run of the source and reports whether there is one.
func (k *walk) nextWhole() bool {
	switch k.source {
	case fromList:
		return k.nextListed()
	case fromLinks:
		return k.nextLinked()
	case fromRelated:
		return k.nextRelated()
	case fromPinned:
		return k.nextPinned()
	}
	return k.nextBetween()
}

// nextWord returns the next word with matches, and the mask of the matches. At the end the mask is zero.
// Calls return the words in ascending order.
func (k *walk) nextWord() (word uint, mask uint64) {
	for {
		if k.source == fromList {
			word, mask = k.nextListedWord()
		} else {
			word, mask = k.cursor.NextWord()
		}
		if mask == 0 {
			k.release()
			return word, 0
		}
		if k.q.plain {
			return word, mask
		}
		if k.source != fromList {
			mask = k.keep(word, mask)
		}
		if k.q.sifts() {
			mask &^= k.leftOut(uint32(word), mask)
		}
		if mask != 0 {
			return word, mask
		}
	}
}

// keep returns mask without the slots of the word that lie outside the query's range or whose entities lack a
// target of the query.
func (k *walk) keep(word uint, mask uint64) uint64 {
	if k.q.ranged() {
		mask = k.q.inRange(word, mask)
	}
	if len(k.q.targets) == 0 {
		return mask
	}
	for m := mask; m != 0; m &= m - 1 {
		if !k.q.hasTargets(uint32(word)*64 + trailingZeros(m)) {
			mask &^= m & -m
		}
	}
	return mask
}

// linkedSources is the state of a walk over the sources of a target.
type linkedSources struct {
	of   *targetOf
	next uint32 // slot of the next source
	word uint32 // the word that mask belongs to; the constant none before the first word
	mask uint64 // slots of the word whose entities meet the query's filter
}

// startLinks begins at the first source of the target with the fewest sources.
func (k *walk) startLinks() {
	l := linkedSources{word: none, next: none}
	fewest := uint32(math.MaxUint32)
	for i := range k.q.targets {
		t := &k.q.targets[i]
		if !t.relation.targets.has(t.target) {
			l.of, l.next = t, none
			break
		}
		if f := t.relation.family(t.target.slot); l.of == nil || f.count < fewest {
			l.of, l.next, fewest = t, f.first, f.count
		}
	}
	k.linked = l
}

// nextLinked does the work of nextWhole for the sources of a target. It reads the link of a source before it
// yields the source.
func (k *walk) nextLinked() bool {
	l := &k.linked
	relation := l.of.relation
	for l.next != none {
		lo := l.next
		l.next = relation.link(lo).next
		if !k.matches(lo) {
			continue
		}
		hi := lo + 1
		for l.next == hi && (hi-lo < 64 || !k.pieces) && k.matches(hi) {
			l.next = relation.link(hi).next
			hi++
		}
		k.cursor.Lo, k.cursor.Hi = uint(lo), uint(hi)
		return true
	}
	return false
}

// matches reports whether a source meets the query's filter and has the query's other targets.
func (k *walk) matches(slot uint32) bool {
	l := &k.linked
	if word := slot / 64; word != l.word {
		l.word, l.mask = word, k.q.filter.All(uint(word))
	}
	return l.mask>>(slot%64)&1 != 0 && (len(k.q.targets) == 1 || k.q.hasTargets(slot))
}

// hasTargets reports whether an entity has the targets of the query. The caller has checked that the entity
// has a target in each relation of the query.
func (q *query) hasTargets(slot uint32) bool {
	for i := range q.targets {
		if t := &q.targets[i]; *t.relation.target(slot) != t.target {
			return false
		}
	}
	return true
}

// uncheckedSlots is the range of slots [next, end) in the cursor's run that are not yet checked for targets.
type uncheckedSlots struct{ next, end uint32 }

// nextRelated does the work of nextWhole for entities with the query's targets, in the order of slots.
func (k *walk) nextRelated() bool {
	r := &k.unchecked
	for {
		for r.next < r.end && !k.q.hasTargets(r.next) {
			r.next++
		}
		if r.next < r.end {
			lo := r.next
			for r.next < r.end && k.q.hasTargets(r.next) {
				r.next++
			}
			k.cursor.Lo, k.cursor.Hi = uint(lo), uint(r.next)
			return true
		}
		if !k.nextBetween() {
			return false
		}
		r.next, r.end = uint32(k.cursor.Lo), uint32(k.cursor.Hi)
	}
}

// nextPinned does the work of nextWhole for runs that were collected before the walk.
func (k *walk) nextPinned() bool {
	if k.pinned == len(k.q.pinned) {
		return false
	}
	run := k.q.pinned[k.pinned]
	k.pinned++
	k.cursor.Lo, k.cursor.Hi = uint(run.start), uint(run.start+run.n)
	return true
}
