package bulk

import (
	"math/bits"
	"runtime"
)

// Inserter inserts into a [SharedPool] for one goroutine. It takes the free slots of a word together, so that it meets
// others once for up to 32 insertions, writes to cache lines of its own, and its elements lie together.
//
// At most 31 free slots are kept from others, until they are filled or the inserter is closed; [SharedPool.Grow] does not
// count them. Make an inserter for each goroutine, and Close it when the goroutine ends.
type Inserter[T any] struct {
	pool     *SharedPool[T]
	chunk    *sharedChunk // of the reserved slots
	first    uint         // of their word
	left     uint32       // the reserved slots that are to be filled yet
	reserved uint32       // all of them
	hint     uint         // the line from which slots are reserved + 1; 0 is none
}

// Inserter returns a new inserter, which has no slots yet.
func (p *SharedPool[T]) Inserter() *Inserter[T] {
	p.mustBeOpen()
	return &Inserter[T]{pool: p}
}

// Insert is [SharedPool.Insert].
func (in *Inserter[T]) Insert(v T) (Handle[T], *T) {
	if in.left == 0 || in.pool.ended != nil {
		in.reserve()
	}
	i := in.first + uint(bits.TrailingZeros32(in.left))
	in.left &= in.left - 1
	e := in.pool.slot(i)
	*e = v
	return Handle[T]{uint32(i), in.chunk.publish(i, in.pool.tag)}, e
}

// reserve takes slots, or panics where there is no room; then the inserter has none.
//
//go:noinline
func (in *Inserter[T]) reserve() {
	p := in.pool
	p.mustBeOpen()
	in.unreserve()
	for {
		if in.hint != 0 {
			i, slots, came := p.sharedSlots.reserve(in.hint - 1)
			if came == tookSlot {
				in.chunk, in.first, in.left, in.reserved = p.chunk(i), i, slots, slots
				return
			}
			if came == lineBusy {
				runtime.Gosched() // another goroutine takes a slot of this line because there are no others
				continue
			}
		}
		in.hint = 0
		in.hint = p.search() + 1
	}
}

// unreserve gives the slots back that were not filled.
func (in *Inserter[T]) unreserve() {
	if in.reserved != 0 {
		in.chunk.unreserve(in.first, in.reserved)
		in.left, in.reserved = 0, 0
	}
}

// Close gives the free slots that the inserter keeps to others. Inserting takes new ones then.
func (in *Inserter[T]) Close() {
	in.unreserve()
	if in.hint != 0 && in.pool.ended == nil {
		l := in.hint - 1
		in.pool.list(in.pool.chunk(l*slotsPerLine), l)
	}
	in.hint = 0
}
