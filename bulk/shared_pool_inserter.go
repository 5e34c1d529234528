package bulk

import (
	"math/bits"
	"runtime"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/invariants"
)

// Inserter inserts into a [SharedPool], and removes from it, for one goroutine. Make an inserter for each
// goroutine, and Close it when the goroutine ends. Any goroutine may remove an element that the inserter has
// inserted, and the inserter may remove any element.
//
// An inserter may keep the slots of the elements that it removes, and fills these slots again. If it needs
// more slots, it takes all free slots of a word of 32 slots together. Therefore it competes for a line of 256
// slots only once in many operations. It writes to cache lines of its own as long as goroutines remove only
// elements that they have inserted.
//
// An inserter keeps fewer than 128 free slots. Other goroutines cannot take these slots, and
// [SharedPool.Grow] does not count them. Close gives the slots back.
type Inserter[T any] struct {
	pool *SharedPool[T]

	// The inserter parks slots of words without a common generation: see shared_pool_words.go. The presence
	// bit of a parked slot is set, so that no other goroutine takes the slot. The slot's own generation has
	// no tag, so that no look-up finds an element. Removing an element parks its slot, and filling the slot
	// unparks it; each takes one atomic operation.
	ready   uint                       // number of slots in parked
	waiting uint                       // number of slots in removed
	parked  [2 * maxRemoved]parkedSlot // slots to fill
	removed [maxRemoved]parkedSlot     // slots of removed elements, which readers may still announce

	// The inserter reserves slots of a word with a common generation.
	chunk    *sharedChunk // the chunk of the word
	first    uint         // the first slot of the word
	left     uint32       // the reserved slots that are not filled yet
	reserved uint32       // all reserved slots, filled or not
	hint     uint         // 1 + the line from which the inserter takes slots; 0 for none

	_ [2 * bytesLine]byte // keeps the next inserter on other cache lines
}

// parkedSlot is a slot and the count of its generation.
type parkedSlot struct{ slot, count uint32 }

const (
	maxRemoved = 32
	// An inserter with fewer than enoughRemoved removed slots takes slots from the pool first, so that it
	// rarely looks for announcements.
	enoughRemoved = maxRemoved / 2
	// An inserter that finds a line busy maxBusy times in a row searches for another line: the owner was
	// probably interrupted.
	maxBusy = 100
)

// Inserter returns a new inserter, which has no slots yet.
func (p *SharedPool[T]) Inserter() *Inserter[T] {
	p.mustBeOpen()
	return &Inserter[T]{pool: p}
}

// Insert is [SharedPool.Insert]. Complexity: constant; mostly one atomic operation.
func (in *Inserter[T]) Insert(v T) (Handle[T], *T) { return in.insert(&v) }

// insert is the body of Insert, which the compiler inlines. insert has a pointer parameter, because the
// fields of a value would arrive in registers. Storing them in the slot would take as long as an atomic
// operation.
func (in *Inserter[T]) insert(v *T) (Handle[T], *T) {
	p := in.pool
	if in.ready == 0 && in.left == 0 || p.ended != nil {
		in.refill()
	}
	if n := in.ready - 1; n < uint(len(in.parked)) {
		in.ready = n
		i, g := uint(in.parked[n].slot), generation.Next(in.parked[n].count, p.tag)
		e, c := p.slot(i), p.chunk(i)
		*e = *v
		if generation.Exhausted(g) {
			c.retire(i)
		}
		c.apart.Load()[i%slotsPerChunk].Store(g)
		return Handle[T]{uint32(i), g}, e
	}
	i := in.first + uint(bits.TrailingZeros32(in.left))
	in.left &= in.left - 1
	e := p.slot(i)
	*e = *v
	return Handle[T]{uint32(i), in.chunk.publish(i, p.tag)}, e
}

// Remove is [SharedPool.Remove]. Complexity: constant; mostly one atomic operation.
func (in *Inserter[T]) Remove(h Handle[T]) bool {
	p, i, g := in.pool, uint(h.slot), h.generation
	if uint64(i) >= p.room.Load() {
		p.mustBeOpen()
		return false
	}
	c := p.chunk(i)
	if commonOf(c.word(i).Load()) == 0 && in.waiting < maxRemoved && tagged(g) && !generation.Exhausted(g) {
		// A word with a live element or a parked slot stays without a common generation.
		own := c.apart.Load()
		if own == nil || !own[i%slotsPerChunk].CompareAndSwap(g, generation.Count(g)) {
			return false
		}
		in.removed[in.waiting] = parkedSlot{uint32(i), generation.Count(g)}
		in.waiting++
		return true
	}
	return in.removeForAll(c, i, g)
}

// removeForAll removes an element and frees its slot for all goroutines. But if the removal leaves
// offerUsually elements in the slot's word, the inserter tries to park the word's free slots for itself. So
// goroutines that replace their elements work in different words.
//
//go:noinline
func (in *Inserter[T]) removeForAll(c *sharedChunk, i uint, g uint32) bool {
	left, ok := c.remove(i, g)
	if !ok {
		return false
	}
	p := in.pool
	if bits.OnesCount32(left) == offerUsually && in.ready+in.waiting < maxRemoved {
		if slots := p.park(c, i/slotsPerWord*slotsPerWord); slots != 0 {
			in.keep(c, i/slotsPerWord*slotsPerWord, slots)
			return true
		}
	}
	p.sharedSlots.removed(c, i, left)
	return true
}

// keep adds slots to parked. They are slots of the word that begins with slot i.
func (in *Inserter[T]) keep(c *sharedChunk, i uint, slots uint32) {
	for ; slots != 0; slots &= slots - 1 {
		slot := i + uint(bits.TrailingZeros32(slots))
		in.parked[in.ready] = parkedSlot{uint32(slot), c.own(slot).Load()}
		in.ready++
	}
}

// refill parks or reserves at least one slot. If there is no room, refill panics, and the inserter has no
// slots.
//
//go:noinline
func (in *Inserter[T]) refill() {
	p := in.pool
	p.mustBeOpen()
	if in.waiting >= enoughRemoved && in.settle() {
		return
	}
	in.unreserve()
	for busy := 0; ; {
		interrupted := uint(0) // 1 + the line whose owner seems to be interrupted; 0 for none
		if in.hint != 0 {
			i, slots, parked, result := p.reserve(in.hint - 1)
			switch {
			case result == lineBusy && busy < maxBusy:
				runtime.Gosched() // another goroutine is taking slots of this line
				busy++
				continue
			case result == lineBusy:
				interrupted, busy = in.hint, 0
			case result == tookSlot && parked:
				in.keep(p.chunk(i), i, slots)
				return
			case result == tookSlot:
				in.chunk, in.first, in.left, in.reserved = p.chunk(i), i, slots, slots
				return
			}
		}
		in.hint = 0
		l, err := p.search()
		if interrupted != 0 { // listed after search, so that search finds another line
			p.list(p.chunk((interrupted-1)*slotsPerLine), interrupted-1)
		}
		switch {
		case err == nil:
			in.hint = l + 1
		case in.waiting == 0:
			panic(err)
		case in.settle():
			return
		default:
			runtime.Gosched() // readers are copying elements from the last free slots
		}
	}
}

// settle moves the slots that no reader announces from removed to parked, and reports whether there are any.
// parked must be empty before.
func (in *Inserter[T]) settle() bool {
	p, kept := in.pool, uint(0)
	quiet := p.announcements() == 0
	for _, s := range in.removed[:in.waiting] {
		i := uint(s.slot)
		if !quiet && p.announced(i/slotsPerWord*slotsPerWord)>>(i%slotsPerWord)&1 != 0 {
			in.removed[kept] = s
			kept++
			continue
		}
		if invariants.Enabled {
			p.poison(i)
		}
		in.parked[in.ready] = s
		in.ready++
	}
	in.waiting = kept
	return in.ready != 0
}

// unreserve gives back the reserved slots that were not filled.
func (in *Inserter[T]) unreserve() {
	if in.reserved != 0 {
		in.chunk.unreserve(in.first, in.reserved)
		in.left, in.reserved = 0, 0
	}
}

// Close gives the inserter's free slots to other goroutines. A later Insert takes new slots.
func (in *Inserter[T]) Close() {
	in.unreserve()
	if in.pool.ended == nil {
		in.unpark(in.parked[:in.ready])
		in.unpark(in.removed[:in.waiting])
		if in.hint != 0 {
			l := in.hint - 1
			in.pool.list(in.pool.chunk(l*slotsPerLine), l)
		}
	}
	in.ready, in.waiting, in.hint = 0, 0, 0
}

// unpark frees parked slots for all goroutines.
func (in *Inserter[T]) unpark(slots []parkedSlot) {
	for _, s := range slots {
		i := uint(s.slot)
		c := in.pool.chunk(i)
		w := c.word(i)
		w.And(^(uint64(1) << (i % slotsPerWord)))
		in.pool.sharedSlots.removed(c, i, presenceOf(w.Load()))
	}
}
