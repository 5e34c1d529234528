package bulk

import (
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/state"
)

// The methods of roomOf in this file implement state.Container.

func (p *Pool[T]) keep() (any, error) {
	p.mustBeOpen()
	if p.outside != nil {
		return nil, fmt.Errorf("%s is the pool of a guard.SampledPool, which also has elements outside "+
			"of the pool: use a pool of NewPool", p.plan.name)
	}
	return roomOf[T]{p}, nil
}

func (r roomOf[T]) Of() []any { return []any{r.p} }

func (r roomOf[T]) Describe() state.Contents {
	// The file has all slots that were ever taken, also those whose memory Trim has given back.
	words := (uint(r.p.generations.room()) + wordBits - 1) / wordBits
	for words > 0 && r.p.generations.common(words-1).generation == 0 {
		words--
	}
	slots := uint(0)
	if words > 0 {
		slots = (words-1)*wordBits + uint(r.p.generations.common(words-1).fresh)
	}
	return state.Contents{Kind: kindPool, Slots: int(slots), Mark: uint32(r.p.generations.tag)}
}

func (r roomOf[T]) Arrays(c state.Contents, column int) []state.Array {
	words := (c.Slots + wordBits - 1) / wordBits
	g := &r.p.generations
	room := min(c.Slots, int(r.p.room))
	arrays := []state.Array{
		state.BitsOf(state.PoolLive, column, 0, (room+wordBits-1)/wordBits, r.p.live),
		{Kind: state.PoolWords, Column: column, Type: reflect.TypeFor[common](), Len: words, Base: g.commons},
		{Kind: state.PoolGenerations, Column: column, Type: reflect.TypeFor[uint32](),
			Len: c.Slots, Base: g.slots,
			Kept: func(word int) uint64 { return g.common(uint(word)).apart }},
	}
	t := r.p.plan.element
	if t == nil {
		t = reflect.TypeFor[T]()
	}
	if t.Size() == 0 {
		return arrays
	}
	return append(arrays, state.Array{Kind: state.PoolElements, Column: column, Type: t, Len: room,
		Base: r.p.base}.In(r.p.live))
}

func (r roomOf[T]) Reserve(c state.Contents) error {
	if r.p.generations.room() > 0 && r.p.generations.common(0).generation != 0 {
		return r.p.plan.wasUsed()
	}
	if err := r.p.plan.mustHold(c.Slots); err != nil {
		return err
	}
	if err := mustBeMark(c.Mark); err != nil {
		return err
	}
	if err := r.p.commit(c.Slots); err != nil {
		return err
	}
	r.p.generations.tag = generation.Mark(c.Mark)
	return nil
}

func mustBeMark(mark uint32) error {
	if mark == 0 || mark&generation.MaxCount != 0 {
		return fmt.Errorf("the mark of a container is %#x, want 1 to 255 in the high 8 bits", mark)
	}
	return nil
}

// Settle stores the presence bits of the file in the pool only after it has checked all of them.
func (r roomOf[T]) Settle(s state.Contents, arrays []state.Array) error {
	p, g := r.p, &r.p.generations
	live := unsafe.Slice((*uint64)(arrays[0].Base), arrays[0].Len)
	for i, mask := range live {
		w := uint(i)
		c := g.common(w)
		taken := ^uint64(0) >> (wordBits - min(c.fresh, wordBits))
		if c.fresh == 0 {
			taken = 0
		}
		last := uint(s.Slots) - w*wordBits
		if last < wordBits && taken>>last != 0 || c.fresh > wordBits || (mask|c.apart)&^taken != 0 {
			return fmt.Errorf("word %d of a pool has elements in the slots %#x, but only %d slots were taken",
				i, mask, c.fresh)
		}
		if (c.fresh == 0) != (c.generation == 0) ||
			c.fresh > 0 && c.generation&^generation.MaxCount != uint32(g.tag) {
			return fmt.Errorf("word %d of a pool has the wrong generation %#x", i, c.generation)
		}
		for m := c.apart; m != 0; m &= m - 1 {
			slot := w*wordBits + uint(bits.TrailingZeros64(m))
			if own := *g.slot(slot); own&^generation.MaxCount != uint32(g.tag) {
				return fmt.Errorf("slot %d of a pool has the wrong generation %#x", slot, own)
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
	if len(arrays) > 3 {
		arrays[3].ClearRest(func(word int) uint64 { return live[word] })
	}
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
	return sound(p.checkInvariants)
}

// Abandon may also be called after Reserve has refused c.
func (r roomOf[T]) Abandon(c state.Contents) {
	p := r.p
	for w := range (uint(min(max(c.Slots, 0), p.generations.room())) + wordBits - 1) / wordBits {
		*p.generations.common(w), *p.generations.ofWord(w) = common{}, 0
	}
	p.retired, p.len = nil, 0
	p.live.Reset()
	// If shrinkTo fails, the memory stays committed.
	p.elements.shrinkTo(0)
	p.measure()
	p.lower(0)
}
