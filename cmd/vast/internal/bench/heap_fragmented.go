package bench

import (
	"runtime"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/heap"
	"github.com/vastgo/vast/vm"
)

func numberOfBlocks(n int) int { return max(2, n/elementsPerBlock) }

// fragmentHeap allocates blocks, frees every second block, and makes one allocation of the freed size.
func fragmentHeap(m *meter, count int) {
	h := newHeap()
	blocks := make([]unsafe.Pointer, count)
	var large unsafe.Pointer
	m.run(func() { large = punchHeap(h, blocks) })
	m.weighWithGarbage()
	mustBeMarked(viewOf(large, count/2*bytesHole))
	mustSucceed(h.Close())
}

//go:noinline
func punchHeap(h *heap.Heap, blocks []unsafe.Pointer) unsafe.Pointer {
	for i := range blocks {
		blocks[i] = made(h.Alloc(bytesHole, 0))
		touch(viewOf(blocks[i], bytesHole))
	}
	for i := 0; i < len(blocks); i += 2 {
		h.Free(blocks[i])
	}
	large := made(h.Alloc(len(blocks)/2*bytesHole, 0))
	marked(viewOf(large, len(blocks)/2*bytesHole))
	return large
}

// fragmentGo runs the collector before the large allocation, so that Go's heap can reuse the freed blocks.
func fragmentGo(m *meter, count int) {
	blocks := make([][]byte, count)
	var large []byte
	m.run(func() { large = punchGo(blocks) })
	m.weighWithGarbage()
	mustBeMarked(large)
	runtime.KeepAlive(blocks)
}

//go:noinline
func punchGo(blocks [][]byte) []byte {
	for i := range blocks {
		blocks[i] = make([]byte, bytesHole)
		touch(blocks[i])
	}
	for i := 0; i < len(blocks); i += 2 {
		blocks[i] = nil
	}
	runtime.GC()
	large := make([]byte, len(blocks)/2*bytesHole)
	marked(large)
	return large
}

func fragmentFreeList(m *meter, count int) {
	r := made(vm.Reserve(2*count*bytesHole, vm.Options{Name: "bench"}))
	mustSucceed(r.Commit(0, r.Size()))
	l := &chunkList{memory: viewOf(r.Base(), r.Size())}
	blocks := make([]int, count)
	var large int
	m.run(func() { large = punchFreeList(l, blocks) })
	m.weighWithGarbage()
	mustBeMarked(l.memory[large:][:count/2*bytesHole])
	mustSucceed(r.Close())
}

//go:noinline
func punchFreeList(l *chunkList, blocks []int) int {
	for i := range blocks {
		blocks[i] = l.alloc(bytesHole)
		touch(l.memory[blocks[i]:][:bytesHole])
	}
	for i := 0; i < len(blocks); i += 2 {
		l.release(blocks[i], bytesHole)
	}
	large := l.alloc(len(blocks) / 2 * bytesHole)
	marked(l.memory[large:][:len(blocks)/2*bytesHole])
	return large
}

// chunkList is an allocator with a sorted free list, which joins adjacent free chunks. It uses the first free
// chunk that is long enough. If there is none, it uses the memory after the part in use. It cannot move or
// map pages.
type chunkList struct {
	memory []byte
	end    int // offset of the end of the part in use
	free   []chunk
}

type chunk struct{ at, n int }

func (l *chunkList) alloc(n int) int {
	for i := range l.free {
		if c := &l.free[i]; c.n >= n {
			at := c.at
			if c.at, c.n = c.at+n, c.n-n; c.n == 0 {
				l.free = slices.Delete(l.free, i, i+1)
			}
			return at
		}
	}
	at := l.end
	l.end += n
	return at
}

func (l *chunkList) release(at, n int) {
	i, _ := slices.BinarySearchFunc(l.free, at, func(c chunk, at int) int { return c.at - at })
	if i < len(l.free) && at+n == l.free[i].at {
		n += l.free[i].n
		l.free = slices.Delete(l.free, i, i+1)
	}
	if i > 0 && l.free[i-1].at+l.free[i-1].n == at {
		l.free[i-1].n += n
		return
	}
	l.free = slices.Insert(l.free, i, chunk{at, n})
}
