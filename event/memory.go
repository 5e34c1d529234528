package event

import "math/bits"

// bytesBlock is the default size of a block.
const bytesBlock = 16 << 10

// blockOf returns the number of events in a block of a queue. bytesEvent is the number of bytes of an event.
// If maxBytes is positive, a block takes at most a 64th of maxBytes, but it has room for at least one event.
func blockOf(bytesEvent, maxBytes int) int {
	n := bytesBlock / bytesEvent
	if maxBytes > 0 {
		n = min(n, maxBytes/bytesEvent/64)
	}
	return max(n, 1)
}

// blocks divides the memory of a queue into blocks with the same number of events.
type blocks struct {
	size     int      // number of events of a block
	count    int      // number of blocks
	free     int      // number of free blocks
	isFree   []uint64 // a bit for each block
	hint     int      // index in isFree; all words before this index are zero
	promised int      // number of blocks that Grow has promised for the events of a tick
	peak     int      // largest number of blocks in use since mayShrink last compared
	ticks    int      // number of ticks since mayShrink last compared
}

// release makes a block free.
func (b *blocks) release(n int) {
	b.isFree[n/64] |= 1 << (n % 64)
	b.hint = min(b.hint, n/64)
	b.free++
}

// take returns the free block with the least number. There must be one.
func (b *blocks) take() int {
	for b.isFree[b.hint] == 0 {
		b.hint++
	}
	n := b.hint*64 + bits.TrailingZeros64(b.isFree[b.hint])
	b.isFree[b.hint] &= b.isFree[b.hint] - 1
	b.free--
	b.peak = max(b.peak, b.count-b.free)
	return n
}

// inUse returns the number of blocks up to the last block in use, with the free blocks before it.
func (b *blocks) inUse() int {
	n := b.count
	for n > 0 && b.isFree[(n-1)/64]>>((n-1)%64)&1 != 0 {
		n--
	}
	return n
}

// addBlocks adds free blocks. The caller holds the mutex.
func (q *Queue[T]) addBlocks(n int) error {
	b := &q.blocks
	if _, err := q.memory.AppendN(n * b.size); err != nil {
		return err
	}
	for range n {
		if b.count%64 == 0 {
			b.isFree = append(b.isFree, 0)
		}
		b.count++
		b.release(b.count - 1)
	}
	q.bytes.Store(int64(q.memory.Committed()))
	return nil
}

// takeBlock takes a block for events of generation g, and returns the index of the first event of the block.
func (q *Queue[T]) takeBlock(g *generation) (lo int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.blocks.free == 0 {
		if err := q.addBlocks(1); err != nil {
			return 0, err
		}
	}
	n := q.blocks.take()
	g.blocks = append(g.blocks, n)
	return n * q.blocks.size, nil
}

// shrinkEvery is the number of ticks between two comparisons of mayShrink.
const shrinkEvery = 64

// mayShrink runs once a tick. After every shrinkEvery ticks, mayShrink adds the largest number of blocks in
// use since the last comparison to the number of promised blocks. If the sum is less than half of all blocks,
// mayShrink calls shrink.
func (q *Queue[T]) mayShrink() {
	b := &q.blocks
	if b.ticks++; b.ticks < shrinkEvery {
		return
	}
	if keep := b.peak + b.promised; keep < b.count/2 {
		q.shrink(keep)
	}
	b.ticks, b.peak = 0, b.count-b.free
}

// shrink gives back the memory of the free blocks after the last block in use. At least keep blocks remain.
// If shrink gives memory back, shrink also drops scratch and the empty lists of runs, whose memory may be
// large.
func (q *Queue[T]) shrink(keep int) {
	b := &q.blocks
	n := max(keep, b.inUse())
	if n >= b.count {
		return
	}
	q.memory.Truncate(n * b.size)
	b.free -= b.count - n
	b.count = n
	b.isFree = b.isFree[:(n+63)/64]
	if n%64 != 0 {
		b.isFree[n/64] &= 1<<(n%64) - 1
	}
	b.hint = min(b.hint, max(len(b.isFree)-1, 0))
	q.bytes.Store(int64(q.memory.Committed()))
	q.scratch = nil
	for _, w := range q.writers {
		if len(w.runs) == 0 {
			w.runs = nil
		}
	}
}
