package bulk

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/outside"
)

// Pool is bulk data with holes: an element keeps its address while it lives, and new elements fill the lowest
// holes first. A pointer to an element is valid until the element is removed; a [Handle] also detects that
// the element was removed.
//
// Each slot has a presence bit, which is set while the slot has an element. Summaries of the bits shorten
// searches. There is no free list. Remove clears a bit and does not touch the element. Insert takes the slot
// of the lowest clear bit, so elements gather at low addresses. Iteration skips holes 64 at a time, and in
// long gaps 4,096 or 262,144 at a time.
//
// One goroutine may change a pool at a time, while no other goroutine reads it. While no goroutine changes
// the pool, any number of goroutines may call Get, Valid, Len, All and Runs. The caller must synchronize
// access to the contents of elements.
type Pool[T any] struct {
	base        unsafe.Pointer // the first element
	generations generations
	slots
	elements denseSpan
	outside  outside.Store[Handle[T], T] // elements in other memory: see package outside; nil: none
}

// maxSlots is the number of slots that a Handle can distinguish.
const maxSlots = min(1<<32, math.MaxInt)

// NewPool makes an empty pool. It reserves addresses and takes no memory.
//
// It returns an error as [vm.Reserve] does, and panics when T holds Go pointers or an option is negative.
func NewPool[T any](o Options) (*Pool[T], error) {
	plan, err := newPlan[T]("Pool", o, maxSlots)
	if err != nil {
		return nil, err
	}
	return poolOf[T](plan, o)
}

func poolOf[T any](plan plan, o Options) (*Pool[T], error) {
	sizes := sizesGenerations(plan.capacity)
	s, err := newSlots(plan, o, sizes[:])
	if err != nil {
		return nil, err
	}
	p := &Pool[T]{slots: s}
	if err := p.carve(); err != nil {
		_ = p.region.Close()
		return nil, err
	}
	return p, nil
}

func (p *Pool[T]) carve() (err error) {
	if p.generations, err = newGenerations(p.region, p.plan.capacity); err != nil {
		return err
	}
	if p.elements, err = carve(p.region, max(1, p.plan.capacity*p.plan.sizeElement)); err != nil {
		return err
	}
	p.elements.Label(p.plan.label("slot"))
	p.base = p.elements.Base()
	return nil
}

// slot returns the address of slot i. The pointer is sound for slots below room: their memory is committed,
// the span never moves before Close, and T holds no Go pointers.
func (p *Pool[T]) slot(i uint) *T {
	var v T
	return (*T)(unsafe.Add(p.base, i*uint(unsafe.Sizeof(v))))
}

// Insert puts v into the lowest free slot and returns the element's handle and address. If there is no room,
// Insert panics with the [*vm.Error] that [Pool.Grow] would return, and the pool is unchanged.
//
// Complexity: constant, except that the search for a free slot takes one step for each 262,144 live elements.
func (p *Pool[T]) Insert(v T) (Handle[T], *T) {
	h, e := p.take()
	*e = v
	return h, e
}

// InsertZero inserts a zero element as [Pool.Insert] does; the caller then sets its fields. If the element
// has more than four fields or words, InsertZero takes half the time of Insert, which copies such an element
// twice.
func (p *Pool[T]) InsertZero() (h Handle[T], e *T) {
	h, e = p.take()
	// A struct with one field has the layout of the field. If T is an array, Go clears the struct inline, but
	// would clear the array by a function call.
	*(*struct{ element T })(unsafe.Pointer(e)) = struct{ element T }{}
	return
}

// take takes the lowest free slot. The caller must overwrite all bytes of the slot. take is not a part of
// Insert, so that the compiler can inline Insert: otherwise, Insert would copy the element once more.
func (p *Pool[T]) take() (Handle[T], *T) {
	// In the usual case a fresh slot is taken, and no summary changes. This path calls no function.
	word := p.word(p.hint)
	before := *word
	beyond := before + 1 // the lowest set bit is the lowest hole of the word; 0 if the word is full
	after := before | beyond
	if beyond > 1 && after != full && p.skip == 0 && !invariants.Enabled {
		bit := uint(bits.TrailingZeros64(beyond))
		i, c := p.hint*wordBits+bit, p.generations.common(p.hint)
		if i < p.room {
			if uint32(bit) < c.fresh {
				return p.takeHole(i)
			}
			if g := c.generation; !generation.Exhausted(g) {
				*word = after
				c.fresh = uint32(bit) + 1
				p.len++
				return Handle[T]{uint32(i), g}, p.slot(i)
			}
		}
	}
	return p.takeUnusual()
}

// takeHole takes slot i, which was taken before. The caller has checked that no summary changes.
//
//go:noinline
func (p *Pool[T]) takeHole(i uint) (Handle[T], *T) {
	*p.word(i / wordBits) |= 1 << (i % wordBits)
	g := p.generations.again(i)
	if generation.Exhausted(g) {
		p.retire(i)
	}
	p.len++
	return Handle[T]{uint32(i), g}, p.slot(i)
}

// takeUnusual is take for the cases that take itself does not handle.
//
//go:noinline
func (p *Pool[T]) takeUnusual() (Handle[T], *T) {
	free := ^*p.word(p.hint) &^ p.skip
	i := p.hint*wordBits + uint(bits.TrailingZeros64(free))
	if free == 0 || i >= p.room {
		i = p.search(p)
	}
	if invariants.Enabled {
		p.mustBeFree(i)
	}
	before := *p.word(i / wordBits)
	p.live.Store(i/wordBits, before|1<<(i%wordBits))
	g := p.generations.take(i, before == 0)
	if generation.Exhausted(g) {
		p.retire(i)
	}
	p.len++
	if invariants.Enabled {
		p.changed(p)
	}
	return Handle[T]{uint32(i), g}, p.slot(i)
}

// Remove removes the element of h and reports whether there was an element. The next Insert may take the slot
// again. Complexity: constant; Remove clears one bit and does not touch the element.
func (p *Pool[T]) Remove(h Handle[T]) bool {
	if i := uint(h.slot); i < p.room {
		w := p.word(i / wordBits)
		before := *w
		after := before &^ (1 << (i % wordBits))
		// In the usual case only the bit changes. This path calls no function, so that the processor can work
		// on many removals at the same time. The hint need not change: all holes before the hint are retired.
		// If the word of slot i is before the hint, it has a retired hole (before != full). The condition
		// below also means that all slots of the word have the same generation, so slot i is retired, too.
		if after != before && *p.generations.ofWord(i / wordBits) == h.generation && h.generation != 0 &&
			after != 0 && before != full && !invariants.Enabled {
			*w = after
			p.len--
			return true
		}
	}
	return p.remove(h)
}

// remove is Remove for the cases that Remove itself does not handle.
//
//go:noinline
func (p *Pool[T]) remove(h Handle[T]) bool {
	i := uint(h.slot)
	if i >= p.room {
		return p.removeOutside(h)
	}
	if !p.Valid(h) {
		return false
	}
	p.len--
	p.free(i/wordBits, *p.word(i / wordBits)&^(1<<(i%wordBits)))
	if invariants.Enabled {
		p.poison(i)
		p.changed(p)
	}
	return true
}

// Valid reports whether the element of h is live. Complexity: constant.
func (p *Pool[T]) Valid(h Handle[T]) bool {
	i := uint(h.slot)
	if i >= p.room {
		return p.getOutside(h) != nil
	}
	return *p.word(i / wordBits)>>(i%wordBits)&1 != 0 && p.generations.of(i) == h.generation
}

// Get returns the address of the element of h, or nil if the element was removed. A handle of another pool
// usually gives nil, too: see [Handle]. Complexity: constant.
func (p *Pool[T]) Get(h Handle[T]) *T {
	i := uint(h.slot)
	if i >= p.room {
		return p.getOutside(h)
	}
	// This repeats Valid, which the compiler does not inline here: a call within a call makes random look-ups
	// a third slower.
	if *p.word(i / wordBits)>>(i%wordBits)&1 == 0 || p.generations.of(i) != h.generation {
		return nil
	}
	return p.slot(i)
}

// Len returns the number of live elements; 0 after Close.
func (p *Pool[T]) Len() int { return p.len }

// Clear removes all elements. If f is not nil, Clear first calls f with each element in ascending order of
// slots; f must not change the pool. If f panics, Clear removes nothing. The memory stays committed for
// the next elements: Trim and Close give it back. Complexity: one step for each 64 slots, and one for each
// element if f is not nil.
func (p *Pool[T]) Clear(f func(Handle[T], *T)) {
	p.mustBeOpen()
	if f != nil {
		for h, e := range p.All() {
			f(h, e)
		}
	}
	if invariants.Enabled {
		for first, run := range p.Runs() {
			for i := range run {
				p.poison(uint(first + i))
			}
		}
	}
	p.slots.clear()
	if invariants.Enabled {
		p.checkInvariants()
	}
}

// Close gives the memory and the addresses back. The elements must not be used afterwards. The methods of the
// pool then panic, except Len and those that count bytes. Closing twice does nothing.
func (p *Pool[T]) Close() error {
	if p.ended != nil {
		return nil
	}
	if invariants.Enabled {
		p.checkInvariants()
	}
	return p.slots.close()
}
