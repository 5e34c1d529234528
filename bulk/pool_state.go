package bulk

import (
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/state"
)

// The methods of this file, together with those of pool_rooms.go, implement state.Container for package vast.

func (r roomOf[T]) Describe() state.Pool {
	words := (r.p.room + wordBits - 1) / wordBits
	for words > 0 && r.p.generations.common(words-1).generation == 0 {
		words--
	}
	slots := uint(0)
	if words > 0 {
		slots = (words-1)*wordBits + uint(r.p.generations.common(words-1).fresh)
	}
	return state.Pool{Slots: int(slots), Mark: uint32(r.p.generations.tag)}
}

func (r roomOf[T]) Arrays(p state.Pool, column int) []state.Array {
	words := (p.Slots + wordBits - 1) / wordBits
	g := &r.p.generations
	return []state.Array{
		state.BitsOf(state.PoolLive, column, 0, words, r.p.live),
		{Kind: state.PoolWords, Column: column, Type: reflect.TypeFor[common](), Len: words, Base: g.commons},
		{Kind: state.PoolGenerations, Column: column, Type: reflect.TypeFor[uint32](), Len: p.Slots,
			Base: g.slots, Kept: func(word int) uint64 { return g.common(uint(word)).apart }},
		{Kind: state.PoolElements, Column: column, Type: reflect.TypeFor[T](), Len: p.Slots, Base: r.p.base,
			Kept: func(word int) uint64 { return r.p.live.Word(uint(word)) }},
	}
}

func (r roomOf[T]) Reserve(p state.Pool) error {
	if p.Slots < 0 || p.Slots > r.p.plan.capacity {
		return r.p.plan.full(opGrow, p.Slots, 0)
	}
	if p.Mark == 0 || p.Mark&generation.MaxCount != 0 {
		return fmt.Errorf("the mark of a pool is %#x", p.Mark)
	}
	if err := r.p.commit(p.Slots); err != nil {
		return err
	}
	r.p.generations.tag = generation.Mark(p.Mark)
	return nil
}

// Settle reads the presence bits from the array of them, which the caller has put elsewhere: the pool holds
// no element before all bits are known to be sound.
func (r roomOf[T]) Settle(arrays []state.Array) (err error) {
	p, g := r.p, &r.p.generations
	live := unsafe.Slice((*uint64)(arrays[0].Base), arrays[0].Len)
	for i, mask := range live {
		w := uint(i)
		c := g.common(w)
		taken := ^uint64(0) >> (wordBits - min(c.fresh, wordBits))
		if c.fresh == 0 {
			taken = 0
		}
		last := uint(arrays[3].Len) - w*wordBits
		if last < wordBits && taken>>last != 0 || c.fresh > wordBits || (mask|c.apart)&^taken != 0 {
			return fmt.Errorf("word %d of a pool has elements in the slots %#x, of %d that were taken", i,
				mask, c.fresh)
		}
		if (c.fresh == 0) != (c.generation == 0) ||
			c.fresh > 0 && c.generation&^generation.MaxCount != uint32(g.tag) {
			return fmt.Errorf("word %d of a pool has the generation %#x", i, c.generation)
		}
		for m := c.apart; m != 0; m &= m - 1 {
			slot := w*wordBits + uint(bits.TrailingZeros64(m))
			if own := *g.slot(slot); own&^generation.MaxCount != uint32(g.tag) {
				return fmt.Errorf("slot %d of a pool has the generation %#x", slot, own)
			}
		}
		if c.apart == 0 {
			*g.ofWord(w) = c.generation
		}
		if m := g.exhausted(w); m != 0 {
			if p.retired == nil {
				p.retired = make(map[uint]uint64)
			}
			p.retired[w] = m
		}
	}
	arrays[3].ClearRest(func(word int) uint64 { return live[word] })
	for i, mask := range live {
		if mask != 0 {
			p.live.Store(uint(i), mask)
			p.len += bits.OnesCount64(mask)
		}
	}
	p.lower(0)
	if p.room > 0 {
		p.lowest()
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	p.checkInvariants()
	return nil
}

func (r roomOf[T]) Abandon(s state.Pool) {
	p := r.p
	for w := range (min(uint(max(s.Slots, 0)), p.room) + wordBits - 1) / wordBits {
		*p.generations.common(w), *p.generations.ofWord(w) = common{}, 0
	}
	p.retired, p.len = nil, 0
	p.live.Reset()
	p.lower(0)
}
