package bulk

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// SharedPool is a [Pool] that any number of goroutines insert into, remove from and read at the same time.
// An element keeps its address while it lives. A [Handle] refers to an element as in a Pool.
//
// Get, Valid, Load and Remove are lock-free. Get and Valid take nearly the time that they take in a Pool.
// Remove usually takes one or two atomic operations. A goroutine that often inserts and removes should use an
// [Inserter], which mostly needs one atomic operation for an insertion or removal.
//
// Insert takes a slot from a line of 256 slots, which one goroutine owns during the insertion. The pool tries
// to keep goroutines on different lines. Goroutines that insert wait for each other while memory is
// committed, and when only one line has holes.
//
// # Reading while other goroutines remove
//
// Get returns a pointer. Use the pointer only while no other goroutine can remove the element: after the
// removal, an Insert may write another element to the slot. The slot's memory stays usable until Close.
//
// If another goroutine can remove the element, call [SharedPool.Load]. It returns a complete copy of an
// element that was live during the call, without a data race with Insert and Remove.
//
// Insert happens before a look-up that finds the element. Remove happens before another element is written to
// the slot. Callers must synchronize writes through pointers with all reads of the element, also by Load.
//
// Insert, Remove, Get, Valid and Load are linearizable. Len and All may run while other goroutines change the
// pool, and are less exact: see their comments. Runs, Clear and Close must run alone.
//
// # Memory
//
// A word is 32 slots. Before Insert commits memory, it fills the holes of the words that are at least a
// quarter free. It fills other holes when no more memory can be committed. So up to a quarter of the slots
// may stay holes while the pool grows, in addition to the slots that inserters keep.
//
// Presence bits and generations take one byte for each slot on Go's heap. If a slot is taken again while its
// neighbours live, each slot of its chunk of 16,384 slots takes 4 bytes more. [vm.Snapshot] does not count
// these bytes.
type SharedPool[T any] struct {
	base unsafe.Pointer // the first element
	sharedSlots

	_     [bytesLine]byte
	hints [16]insertHint // for goroutines without an Inserter; indexed by stripe
}

// insertHint is the line from which the goroutines of a stripe (see the function stripe) take slots.
type insertHint struct {
	line atomic.Uint64 // the line + 1; 0 for none
	_    [bytesLine - 8]byte
}

// NewSharedPool makes an empty pool. It reserves addresses and takes no memory.
//
// It returns an error as [vm.Reserve] does, and panics when T holds Go pointers or an option is negative.
func NewSharedPool[T any](o Options) (*SharedPool[T], error) {
	plan, err := newPlan[T]("SharedPool", o, maxSlots)
	if err != nil {
		return nil, err
	}
	bytes := max(1, plan.capacity*plan.sizeElement)
	r, err := vm.Reserve(alignedSize(bytes), vm.Options{Name: plan.name, Limit: o.Limit, Pages: o.Pages})
	if err != nil {
		return nil, err
	}
	span, err := carve(r, bytes)
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	span.Label(plan.label("slot"))
	const slotsPerSummary = 64 * slotsPerChunk
	summaries := (plan.capacity + slotsPerSummary - 1) / slotsPerSummary
	p := &SharedPool[T]{base: span.Base(), sharedSlots: sharedSlots{tag: generation.NewMark(), elements: span,
		region: r, plan: plan}}
	p.summary = make([]atomic.Uint64, summaries, summaries+bytesLine) // alone on its cache lines
	p.offer.Store(offerUsually)
	if invariants.Enabled {
		p.poison = func(i uint) {
			e := p.slot(i)
			invariants.Poison(unsafe.Slice((*byte)(unsafe.Pointer(e)), unsafe.Sizeof(*e)))
		}
	}
	return p, nil
}

// slot returns the address of slot i. The pointer is sound for slots below room: their memory is committed,
// the span never moves before Close, and T holds no Go pointers.
func (p *SharedPool[T]) slot(i uint) *T {
	var v T
	return (*T)(unsafe.Add(p.base, i*uint(unsafe.Sizeof(v))))
}

// Insert puts v into a free slot and returns the element's handle and address. If there is no room, Insert
// panics with the [*vm.Error] that [SharedPool.Grow] would return, and the pool is unchanged.
//
// Complexity: constant, and sometimes a search for a line with free slots. The search takes one step for each
// 1,048,576 slots, or one step for each 32 slots when only scattered holes are left.
func (p *SharedPool[T]) Insert(v T) (Handle[T], *T) {
	first := stripe()
	for n := uint(0); ; n++ {
		if h, e := p.insert(&p.hints[(first+n)%uint(len(p.hints))], &v); e != nil {
			return h, e
		}
		if n >= uint(len(p.hints)) {
			runtime.Gosched() // the owners of the lines may have been interrupted: let them run
		}
	}
}

// insert puts *v into a slot of the hint's line. If that line is full, insert stores another line in the
// hint. If the line is busy, insert returns a nil address.
func (p *SharedPool[T]) insert(hint *insertHint, v *T) (Handle[T], *T) {
	for {
		l := hint.line.Load()
		if l != 0 {
			switch i, result := p.take(uint(l - 1)); result {
			case lineBusy:
				return Handle[T]{}, nil
			case tookSlot:
				e := p.slot(i)
				*e = *v
				c := p.chunk(i)
				g := c.publish(i, p.tag)
				c.release(i)
				return Handle[T]{uint32(i), g}, e
			}
		}
		next, err := p.search()
		if err != nil {
			panic(err)
		}
		if !hint.line.CompareAndSwap(l, uint64(next)+1) {
			// Another goroutine has stored a line in the hint, so this line is not needed.
			p.list(p.chunk(next*slotsPerLine), next)
		}
	}
}

// Remove removes the element of h and reports whether there was an element. If several goroutines try to
// remove an element, one of them succeeds. The next Insert may take the slot. Complexity: constant; Remove
// does not touch the element.
func (p *SharedPool[T]) Remove(h Handle[T]) bool {
	i := uint(h.slot)
	if uint64(i) >= p.room.Load() {
		p.mustBeOpen()
		return false
	}
	c := p.chunk(i)
	left, ok := c.remove(i, h.generation)
	if ok {
		p.removed(c, i, left)
	}
	return ok
}

// Valid reports whether the element of h is live. Complexity: constant.
func (p *SharedPool[T]) Valid(h Handle[T]) bool {
	i := uint(h.slot)
	if uint64(i) >= p.room.Load() {
		p.mustBeOpen()
		return false
	}
	return p.chunk(i).holds(i, h.generation)
}

// Get returns the address of the element of h, or nil if the element was removed or h is of another pool. Use
// the pointer only while no goroutine removes the element: see [SharedPool]. Complexity: constant.
func (p *SharedPool[T]) Get(h Handle[T]) *T {
	i := uint(h.slot)
	if uint64(i) >= p.room.Load() {
		p.mustBeOpen()
		return nil
	}
	// This repeats sharedChunk.holds, which the compiler does not inline here: a call within a call makes
	// random look-ups slower.
	c := p.chunk(i)
	w := c.word(i).Load()
	if commonOf(w) == h.generation && w>>(i%slotsPerWord)&1 != 0 && tagged(h.generation) ||
		commonOf(w) == 0 && c.holdsApart(i, h.generation) {
		return p.slot(i)
	}
	return nil
}

// Load returns a copy of the element of h. It returns false if the element was removed or h is of another
// pool; otherwise the element was live at some moment of the call. The copy is complete: it has the value
// that Insert wrote, or a later value that was written through a pointer. Complexity: constant; two atomic
// operations more than Get, and the copy.
func (p *SharedPool[T]) Load(h Handle[T]) (v T, ok bool) {
	i := uint(h.slot)
	if uint64(i) >= p.room.Load() {
		p.mustBeOpen()
		return v, false
	}
	c, cell := p.chunk(i), p.announce(i)
	if ok = c.holds(i, h.generation); ok {
		v = *p.slot(i)
	}
	cell.Store(0)
	return v, ok
}

// Len returns the number of live elements; 0 after Close. Elements that are inserted or removed meanwhile may
// be counted or not. Complexity: one step for each word of 32 slots that were ever taken. If a slot of the
// word was taken again while its neighbours lived, Len takes one step more for each taken slot of the word.
func (p *SharedPool[T]) Len() int { return p.live() }

// Clear removes all elements. If f is not nil, Clear first calls f with each element in ascending order of
// slots; f must not change the pool. If f panics, Clear removes nothing. Clear must run alone. The memory
// stays committed for the next elements: Close gives it back. Complexity: one step for each word of 32 slots,
// the additional steps of [SharedPool.Len], and one step for each element if f is not nil.
func (p *SharedPool[T]) Clear(f func(Handle[T], *T)) {
	p.mustBeOpen()
	if f != nil {
		for h, e := range p.All() {
			f(h, e)
		}
	}
	for _, c := range p.directory {
		c.clear()
	}
	for i := range p.hints {
		p.hints[i].line.Store(0)
	}
	for l := range uint(p.frontier.Load()) {
		p.list(p.chunk(l*slotsPerLine), l)
	}
	p.offer.Store(offerUsually)
	if invariants.Enabled {
		p.checkInvariants()
	}
}

// clear removes the elements of a chunk, but leaves the slots that inserters keep. It must run alone.
func (c *sharedChunk) clear() {
	for k := range c.words {
		w, i := c.words[k].Load(), uint(k*slotsPerWord)
		live := c.live(i)
		c.words[k].Store(sharedWord(commonOf(w), presenceOf(w)&^live))
		if commonOf(w) != 0 {
			continue
		}
		for m := live; m != 0; m &= m - 1 {
			own := c.own(i + uint(bits.TrailingZeros32(m)))
			own.Store(generation.Count(own.Load()))
		}
	}
	for l := range c.lines {
		line := &c.lines[l]
		line.next, line.ready = 0, [wordsPerLine]uint32{}
	}
}

// Close gives the memory and the addresses back. Close must run alone. The elements must not be used
// afterwards. The methods of the pool then panic, except Len and those that count bytes. Closing twice does
// nothing.
func (p *SharedPool[T]) Close() error {
	if p.ended != nil {
		return nil
	}
	if invariants.Enabled {
		p.checkInvariants()
	}
	if err := p.region.Close(); err != nil {
		return err
	}
	// When room is 0, no slot is below room. So Get, Valid, Load and Remove call mustBeOpen for every handle.
	p.ended, p.directory = &closedError{p.plan.name}, nil
	p.room.Store(0)
	atomic.StorePointer(&p.chunks, nil)
	return nil
}
