package bench

import (
	"unsafe"

	"github.com/vastgo/vast/heap"
)

const (
	bytesRealloc     = 100   // bytes of the growing allocation for each element of -n
	bytesHole        = 16384 // bytes of a block in the work fragmented: whole pages on most systems
	elementsPerBlock = 200   // number of elements of -n for each block in the work fragmented
	churnLive        = 10    // replacements for each live object; in churn, churn-unshared and churn-sizes
)

func heapWorks() []work {
	grown := func(n int) int { return n * bytesRealloc }
	alive := func(n int) int { return max(1, n/churnLive) * int(unsafe.Sizeof(object{})) }
	fragmented := func(n int) int { return numberOfBlocks(n) * bytesHole }
	return []work{
		{"realloc-move", grown, func(n int) ([]side, func()) {
			return []side{
				{"vast", func(m *meter) { reallocRoom(m, grown(n), true) }},
				{"heap-copy", func(m *meter) { reallocCopying(m, grown(n)) }},
				{"slice-append", func(m *meter) { reallocSlice(m, grown(n)) }},
			}, nil
		}},
		{"realloc-in-place", grown, func(n int) ([]side, func()) {
			return []side{
				{"vast", func(m *meter) { reallocRoom(m, grown(n), false) }},
				{"slice-append", func(m *meter) { reallocSlice(m, grown(n)) }},
			}, nil
		}},
		{"churn", alive, func(n int) ([]side, func()) {
			return []side{
				{"vast", func(m *meter) { churnHeap(m, newHeap(), n) }},
				{"new", func(m *meter) { churnNew(m, n) }},
			}, nil
		}},
		{"churn-unshared", alive, func(n int) ([]side, func()) {
			return []side{
				{"vast", func(m *meter) {
					churnHeap(m, made(heap.New(heap.Options{Name: "bench", Unshared: true})), n)
				}},
				{"new", func(m *meter) { churnNew(m, n) }},
			}, nil
		}},
		{"churn-sizes", nil, func(n int) ([]side, func()) {
			return []side{
				{"vast", func(m *meter) { churnHeapSizes(m, n) }},
				{"make", func(m *meter) { churnMake(m, n) }},
			}, nil
		}},
		{"fragmented", fragmented, func(n int) ([]side, func()) {
			return []side{
				{"vast", func(m *meter) { fragmentHeap(m, numberOfBlocks(n)) }},
				{"make", func(m *meter) { fragmentGo(m, numberOfBlocks(n)) }},
				{"free-list", func(m *meter) { fragmentFreeList(m, numberOfBlocks(n)) }},
			}, nil
		}},
		{"grow-buffer", func(n int) int { return n / 10 * len(bytes300{}) }, func(n int) ([]side, func()) {
			return []side{
				{"vast", func(m *meter) { growBuffer(m, n/10) }},
				{"slice-append", func(m *meter) { growSlice(m, n/10) }},
			}, nil
		}},
	}
}

func newHeap() *heap.Heap { return made(heap.New(heap.Options{Name: "bench"})) }

// viewOf returns the n bytes at p. The slice is valid until the allocation is freed.
func viewOf(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// marked touches all pages of an allocation, and writes the first and the last byte for mustBeMarked.
func marked(b []byte) {
	touch(b)
	b[0], b[len(b)-1] = 7, 9
}

func mustBeMarked(b []byte) {
	if b[0] != 7 || b[len(b)-1] != 9 {
		panic("bench: an allocation has lost its contents")
	}
}
