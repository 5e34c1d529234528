package bulk

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// written tracks which elements of a shared array are completely written: it has a bit for each element, set
// when the element is written. A goroutine that has written an element sets the element's bit, and then
// advances published up to the first bit that is not set. So a goroutine that fills a gap also publishes the
// elements behind the gap. No goroutine waits.
//
// The bits and the counter published synchronize goroutines. All of these lie on Go's heap in every build,
// because the race detector tracks atomic operations only there.
type written struct {
	published atomic.Int64 // number of elements before the first one that is not written
	_         [bytesLine]byte
	room      atomic.Int64   // number of elements that have bits
	marks     unsafe.Pointer // &directory[0], for atomic loads
	directory []*writtenChunk
}

// writtenChunk holds the bits of elementsPerChunk elements.
type writtenChunk [512]atomic.Uint64

const elementsPerChunk = len(writtenChunk{}) * wordBits

// grow makes bits for at least the first n elements. One goroutine may call it at a time.
func (w *written) grow(n int) {
	if chunks := (n + elementsPerChunk - 1) / elementsPerChunk; chunks > len(w.directory) {
		// Goroutines may continue to use the shorter directory: it points to the same chunks.
		longer := append(make([]*writtenChunk, 0, chunks), w.directory...)
		for len(longer) < chunks {
			longer = append(longer, new(writtenChunk))
		}
		w.directory = longer
		atomic.StorePointer(&w.marks, unsafe.Pointer(&longer[0]))
	}
	w.room.Store(int64(n))
}

// word returns the bits of element i and its neighbours. The caller must have loaded a value of room above i
// before: grow stores the longer directory first, and the larger room afterwards.
func (w *written) word(i int) *atomic.Uint64 {
	first := atomic.LoadPointer(&w.marks)
	chunk := *(**writtenChunk)(unsafe.Add(first, i/elementsPerChunk*int(unsafe.Sizeof(first))))
	return &chunk[i/wordBits%len(chunk)]
}

// has reports whether element i is written.
func (w *written) has(i int) bool {
	return int64(i) < w.published.Load() || int64(i) < w.room.Load() && w.word(i).Load()>>(i%wordBits)&1 != 0
}

// add marks n elements as written, from index first on; n is at least 1. When add returns, published is up to
// date.
//
// add sets bits even if the elements directly follow the published elements. So the counter published
// advances in one step over the elements of add and the written elements behind them. With two steps, a
// reader between the steps would find the gap filled, but would miss the elements behind the gap, whose
// appenders have returned.
func (w *written) add(first, n int) {
	for i, end := first, first+n; i < end; {
		next := min(end, (i/wordBits+1)*wordBits)
		w.word(i).Or(full << (i % wordBits) & (full >> (-next & (wordBits - 1))))
		i = next
	}
	w.advance()
}

// advance advances published up to the first bit that is not set. If two goroutines write neighbouring
// elements at the same time, each sets its own bit before it reads the other bit, so at least one of them
// sees both bits. Each round loads room again, because the room may have grown and new elements may be
// written.
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
