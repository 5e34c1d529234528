package vast

import (
	"cmp"
	"math/bits"
	"slices"
	"unsafe"
)

// listed is the state of a walk over a list of entities.
type listed struct {
	next  int    // index of the next entity of the list
	ahead int    // number of entities, from index next on, that lookUp has compared
	alive uint64 // bit i is set if the entity at index next+i has its slot's generation; i < ahead
	word  uint   // the current word
	bits  uint64 // matches of the current word that were not yielded yet
}

// lookAhead is the number of generations that a walk loads in one loop. The loop does nothing else, so that
// the processor loads several generations at the same time.
const lookAhead = 32

// bySlot compares entities by slot, and entities in the same slot by generation.
func bySlot(a, b Entity) int {
	return cmp.Compare(uint64(a.slot)<<32|uint64(a.generation), uint64(b.slot)<<32|uint64(b.generation))
}

// inOrder returns a copy of a list, sorted by slot and generation, without duplicates. Complexity: linear. A
// list that names several generations of a slot may need a sort by comparison.
func inOrder(list []Entity) []Entity {
	ordered := append(make([]Entity, 0, len(list)), list...) // not nil, even if list is nil
	if ascends(ordered) {
		return ordered
	}
	if !slices.IsSortedFunc(ordered, bySlot) {
		sortSlots(ordered)
		if !ascends(ordered) && !slices.IsSortedFunc(ordered, bySlot) {
			slices.SortFunc(ordered, bySlot)
		}
	}
	return slices.Compact(ordered)
}

// ascends reports whether each slot of a list is greater than the slot before it.
func ascends(list []Entity) bool {
	for i := 1; i < len(list); i++ {
		if list[i-1].slot >= list[i].slot {
			return false
		}
	}
	return true
}

// fewListed is the smallest number of entities for which a radix sort is faster than an insertion sort.
const fewListed = 24

// sortSlots sorts a list by slot. A list of fewer than fewListed entities gets an insertion sort. A longer
// list gets a radix sort that begins with the least significant digit, like [sortRanked]. The radix sort
// ignores the high bits and the low bits that are equal in all slots, and divides the remaining bits into
// digits of at most 8 bits.
func sortSlots(list []Entity) {
	if len(list) < fewListed {
		for i, e := range list {
			for ; i > 0 && list[i-1].slot > e.slot; i-- {
				list[i] = list[i-1]
			}
			list[i] = e
		}
		return
	}
	differ := uint32(0)
	for _, e := range list {
		differ |= e.slot ^ list[0].slot
	}
	var few [256]Entity
	other := few[:]
	if len(list) > len(few) {
		other = make([]Entity, len(list))
	}
	in, out := list, other[:len(list)]
	shift, end := bits.TrailingZeros32(differ), bits.Len32(differ)
	for shift < end {
		digits := (end - shift + 7) / 8
		width := (end - shift + digits - 1) / digits
		mask := uint32(1)<<width - 1
		var counts [256]uint32
		for _, e := range in {
			counts[byte(e.slot>>shift&mask)]++
		}
		next := uint32(0)
		for i, n := range counts[:mask+1] {
			counts[i] = next
			next += n
		}
		for _, e := range in {
			p := &counts[byte(e.slot>>shift&mask)]
			out[*p] = e
			*p++
		}
		in, out = out, in
		shift += width
	}
	copy(list, in)
}

// startList moves to the first entity of the list whose slot is at least lo.
func (k *walk) startList(lo uint) {
	k.listed.next, _ = slices.BinarySearchFunc(k.q.list, lo, func(e Entity, lo uint) int {
		return cmp.Compare(uint(e.slot), lo)
	})
}

// nextListed does the work of nextWhole for a list.
func (k *walk) nextListed() bool {
	l := &k.listed
	if l.bits == 0 {
		if l.word, l.bits = k.nextListedWord(); l.bits == 0 {
			return false
		}
	}
	first := uint(bits.TrailingZeros64(l.bits))
	after := l.bits + 1<<first // its lowest set bit is the end of the run; 0 if the run ends with the word
	k.cursor.Lo = l.word*64 + first
	if after != 0 {
		k.cursor.Hi = l.word*64 + uint(bits.TrailingZeros64(after))
		l.bits &= after
		return true
	}
	for {
		l.word++
		l.bits = 0
		k.cursor.Hi = l.word * 64
		if l.next == len(k.q.list) || uint(k.q.list[l.next].slot/64) != l.word || l.word >= k.cursor.End() {
			return true
		}
		m := k.listedIn(l.word)
		n := uint(bits.TrailingZeros64(^m))
		if n < 64 {
			k.cursor.Hi += n
			l.bits = m &^ (1<<n - 1)
			return true
		}
	}
}

// nextListedWord does the work of nextWord for a list.
func (k *walk) nextListedWord() (word uint, mask uint64) {
	for k.listed.next < len(k.q.list) {
		word = uint(k.q.list[k.listed.next].slot / 64)
		if word >= k.cursor.End() {
			break
		}
		if mask = k.listedIn(word); mask != 0 {
			return word, mask
		}
	}
	return 0, 0
}

// listedIn moves past the list's entities in a word. It returns a mask of the entities that match the query.
// The word must be below the cursor's end.
func (k *walk) listedIn(word uint) (m uint64) {
	l, list := &k.listed, k.q.list
	next, ahead, alive := l.next, l.ahead, l.alive
	for ; next < len(list); next++ {
		slot := list[next].slot
		if uint(slot/64) != word {
			break
		}
		if ahead == 0 {
			ahead, alive = k.lookUp(next)
		}
		m |= (alive & 1) << (slot % 64)
		alive >>= 1
		ahead--
	}
	l.next, l.ahead, l.alive = next, ahead, alive
	if m == 0 {
		return 0
	}
	return k.keep(word, m&k.q.filter.All(word))
}

// lookUp compares n entities of the list, beginning at the index start, with the generations of their slots.
// It sets bit i of alive if entity start+i has the generation of its slot and lies below the cursor's end. n
// is at most lookAhead.
func (k *walk) lookUp(start int) (n int, alive uint64) {
	entities := k.q.list[start:]
	entities = entities[:min(len(entities), lookAhead)]
	gens, end := k.world.gens, k.cursor.End()
	for i, e := range entities {
		if uint(e.slot/64) >= end {
			break // the walk ends before this entity
		}
		// This line does the work of World.generation. All generations below the cursor's end are committed.
		if *(*uint32)(unsafe.Add(gens, uintptr(e.slot)*4)) == e.generation {
			alive |= 1 << (i % 64)
		}
	}
	return len(entities), alive
}
