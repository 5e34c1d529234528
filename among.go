package vast

import (
	"cmp"
	"math/bits"
	"slices"
)

// Among returns the query that matches only what is in the list: the way to do bulk operations to a list of entities, as in
//
//	w.DeleteAll(w.Query().Among(list))
//
// The list may have any order; stale entities are passed over, and one that is named twice counts once. It is copied, so
// it may be changed afterwards. Called again, entities must be in both lists. The query may be used again as any other:
// what dies meanwhile no longer matches.
//
// Complexity: Among sorts the list, or looks at it once where it is in the order of slots. Running the query takes a step
// for each entity of the list, whatever else the world holds, and bulk operations take whole 64-slot words where the list
// does.
func (q Query) Among(list []Entity) Query {
	if q.q == nil {
		panic(zeroQuery)
	}
	q.q.world.mustBeOpen("Query.Among")
	made := *q.q
	made.list = append(make([]Entity, 0, len(list)), list...) // not nil
	if !slices.IsSortedFunc(made.list, bySlot) {
		slices.SortFunc(made.list, bySlot)
	}
	made.list = slices.Compact(made.list)
	if q.q.list != nil {
		made.list = slices.DeleteFunc(made.list, func(e Entity) bool {
			_, both := slices.BinarySearchFunc(q.q.list, e, bySlot)
			return !both
		})
	}
	made.build()
	return Query{&made}
}

func bySlot(a, b Entity) int {
	return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.generation, b.generation))
}

// startList moves to the first entity of the list, if there is one, whose slot is not below lo.
func (k *walk) startList(lo uint) {
	k.at, _ = slices.BinarySearchFunc(k.q.list, lo, func(e Entity, lo uint) int { return cmp.Compare(uint(e.slot), lo) })
}

// nextListed is the cursor's Next for a query with a list.
func (k *walk) nextListed() bool {
	word, m := k.end/64, k.bits
	if m == 0 {
		if word, m = k.nextListedWord(); m == 0 {
			return false
		}
	}
	first := uint(bits.TrailingZeros64(m))
	after := m + 1<<first // as in the cursor: the run's end, or zero beyond the word
	k.cursor.Lo = word*64 + first
	if after != 0 {
		k.cursor.Hi = word*64 + uint(bits.TrailingZeros64(after))
		k.bits = m & after
		return true
	}
	k.bits = 0
	for {
		word++
		k.cursor.Hi = word * 64
		if k.at == len(k.q.list) || uint(k.q.list[k.at].slot/64) != word || word >= k.cursor.End() {
			return true
		}
		m = k.listedIn(word)
		n := uint(bits.TrailingZeros64(^m))
		if n < 64 {
			k.cursor.Hi += n
			k.bits = m &^ (1<<n - 1)
			return true
		}
	}
}

// nextListedWord is the cursor's NextWord for a query with a list.
func (k *walk) nextListedWord() (word uint, mask uint64) {
	for k.at < len(k.q.list) {
		word = uint(k.q.list[k.at].slot / 64)
		if word >= k.cursor.End() {
			break
		}
		if mask = k.listedIn(word); mask != 0 {
			return word, mask
		}
	}
	return 0, 0
}

// listedIn moves past the list's entities in a word, which must be below the cursor's end, and returns those that match.
func (k *walk) listedIn(word uint) (m uint64) {
	for ; k.at < len(k.q.list); k.at++ {
		e := k.q.list[k.at]
		if uint(e.slot/64) != word {
			break
		}
		if *k.world.generation(e.slot) == e.generation {
			m |= 1 << (e.slot % 64)
		}
	}
	m &= k.q.filter.All(word)
	if k.q.ranged {
		m = k.q.inRange(word, m)
	}
	if len(k.q.to) > 0 {
		m = k.keepRelated(word, m)
	}
	return m
}
