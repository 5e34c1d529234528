package bulk

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// written tracks which elements of a shared array are completely written: a bit for each element, and the
// number of elements from the first on that are written without a gap. A goroutine that has written an
// element sets its bit and moves the number over all set bits that follow without a gap. If there is a gap,
// the goroutine goes on with its work; the one that fills the gap moves the number. No goroutine waits.
//
// The bits and the number lie on Go's heap in every build, because they synchronize goroutines and the race
// detector knows only of atomic operations there.
type written struct {
	published atomic.Int64 // the elements below it are written
	_         [bytesLine]byte
	room      atomic.Int64   // elements that have bits
	marks     unsafe.Pointer // the first entry of directory; goroutines load it atomically
	directory []*writtenChunk
}

// writtenChunk holds the bits of elementsPerChunk elements.
type writtenChunk [512]atomic.Uint64

const elementsPerChunk = len(writtenChunk{}) * wordBits

// grow makes bits for at least the first n elements. One goroutine may call it at a time.
func (w *written) grow(n int) {
	if chunks := (n + elementsPerChunk - 1) / elementsPerChunk; chunks > len(w.directory) {
		// Goroutines that hold the shorter array may go on using it: both arrays point to the same chunks.
		longer := append(make([]*writtenChunk, 0, chunks), w.directory...)
		for len(longer) < chunks {
			longer = append(longer, new(writtenChunk))
		}
		w.directory = longer
		atomic.StorePointer(&w.marks, unsafe.Pointer(&longer[0]))
	}
	w.room.Store(int64(n))
}

// word returns the bits of element i and its neighbours. It is sound for elements below a room that was
// loaded before: the pointer to a larger array is stored before the larger room is.
func (w *written) word(i int) *atomic.Uint64 {
	first := atomic.LoadPointer(&w.marks)
	chunk := *(**writtenChunk)(unsafe.Add(first, i/elementsPerChunk*int(unsafe.Sizeof(first))))
	return &chunk[i/wordBits%len(chunk)]
}

// has reports whether element i is written.
func (w *written) has(i int) bool {
	return int64(i) < w.published.Load() || int64(i) < w.room.Load() && w.word(i).Load()>>(i%wordBits)&1 != 0
}

// add marks the n elements from first on, at least one, as written. When add returns, the number counts the
// elements up to the first one that is not written.
//
// Each element gets its bit, even if the number could move over it at once. If add moved only the number, a
// reader could load the number before it has passed the set bits behind, and miss elements whose appenders
// returned long ago.
func (w *written) add(first, n int) {
	for i, end := first, first+n; i < end; {
		next := min(end, (i/wordBits+1)*wordBits)
		w.word(i).Or(full << (i % wordBits) & (full >> (-next & (wordBits - 1))))
		i = next
	}
	w.advance()
}

// advance moves the number over the bits behind it. When two goroutines write neighbours at once, each sets
// its own bit first and then reads the other bit, so one of them sees both. Each round loads the room again:
// elements behind an earlier room may have been written since.
func (w *written) advance() {
	for {
		from := int(w.published.Load())
		to, room := from, int(w.room.Load())
		for to < room {
			run := bits.TrailingZeros64(^(w.word(to).Load() >> (to % wordBits)))
			to += run
			if run == 0 || to%wordBits != 0 {
				break
			}
		}
		if to == from {
			return
		}
		w.published.CompareAndSwap(int64(from), int64(to))
	}
}
