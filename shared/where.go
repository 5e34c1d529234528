package shared

import (
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast"
)

// Where returns a copy of q with one more condition: the entity has the component with the value v.
//
//	for s := range materials.Where(w.Query(position), steel).Slots() {
//
// The column gives each value a number. The query compares the numbers of 64 entities at a time, after it has
// tested their presence bits. Where panics if q is of another world or names the column in Query.Without. If
// no entity has the value, nothing matches.
//
// Make the query once and run it many times, like any [vast.Query]. Each loop sees the values that the
// entities have when the loop reaches their 64-slot word. Bulk methods accept the query. An OnRemove hook
// that DeleteAll, RemoveAll or Exchange calls must not change values of this column.
func (c Column[T]) Where(q vast.Query, v T) vast.Query {
	c.mustBeMade("Where")
	m := &match[T]{kept: c.kept, value: v}
	m.known.Store(uint64(c.table.Version()-1) << 32)
	return engine.Where("shared.Column.Where", q, c.anyColumn, m)
}

// match is the condition of Where.
type match[T comparable] struct {
	*kept[T]
	value T
	// known holds the version of the table in its high half, and the number that the value had then, or none.
	known atomic.Uint64
}

// none is the number of a value that the column does not have. No entity has this number.
const none = math.MaxUint32

// number returns the number of the value, or none.
func (m *match[T]) number() uint32 {
	known, version := m.known.Load(), m.table.Version()
	if uint32(known>>32) == version {
		return uint32(known)
	}
	number, ok := m.find(m.value)
	if !ok {
		number = none
	}
	m.known.Store(uint64(version)<<32 | uint64(number))
	return number
}

// fewSlots is the largest number of slots of a word that Match compares one by one.
const fewSlots = 12

// Match implements sharing.Matcher. It is sound because each slot of mask has the component, so the column
// has committed the numbers of the whole word.
func (m *match[T]) Match(word uint32, mask uint64) uint64 {
	if mask == 0 {
		return 0
	}
	number := m.number()
	numbers := (*[64]uint32)(unsafe.Add(m.cells.Base, uintptr(word)*64*4))
	if bits.OnesCount64(mask) > fewSlots {
		return mask & equal(numbers, number)
	}
	met := uint64(0)
	for rest := mask; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros64(rest); numbers[i] == number {
			met |= 1 << i
		}
	}
	return met
}

// equal returns a mask of the elements that are equal to number. It has no branch that depends on elements.
func equal(numbers *[64]uint32, number uint32) (mask uint64) {
	for i := 0; i < 64; i += 8 {
		n := (*[8]uint32)(numbers[i:])
		mask |= (bit(n[0] == number) | bit(n[1] == number)<<1 | bit(n[2] == number)<<2 |
			bit(n[3] == number)<<3 | bit(n[4] == number)<<4 | bit(n[5] == number)<<5 |
			bit(n[6] == number)<<6 | bit(n[7] == number)<<7) << i
	}
	return mask
}

func bit(b bool) (bit uint64) {
	if b {
		bit = 1
	}
	return bit
}
