package bench

import (
	"math/rand/v2"
	"runtime"
	"unsafe"

	"github.com/vastgo/vast/heap"
	"github.com/vastgo/vast/vm"
)

const (
	bytesRealloc = 100   // of the allocation that grows, for each element that -n asks for
	bytesHole    = 16384 // of a block of the fragmented heap: whole pages on most systems
	elementsHole = 200   // elements for each block
	churnLive    = 10    // one in so many objects is alive at a time
)

// bytes300 is the element of "Virtual Memory Tricks" (Niklas Gray): thirteen of them fit into a page of 4 KiB.
type bytes300 [300]byte

// object is a small one.
type object [8]uint64

func heapWorks() []work {
	grown := func(n int) int { return n * bytesRealloc }
	alive := func(n int) int { return max(1, n/churnLive) * int(unsafe.Sizeof(object{})) }
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
					churnHeap(m, made(heap.NewHeap(heap.Options{Name: "bench", Unshared: true})), n)
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
		{"fragmented", func(n int) int { return holes(n) * bytesHole }, func(n int) ([]side, func()) {
			return []side{
				{"vast", func(m *meter) { fragmentHeap(m, holes(n)) }},
				{"make", func(m *meter) { fragmentGo(m, holes(n)) }},
				{"free-list", func(m *meter) { fragmentFreeList(m, holes(n)) }},
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

func newHeap() *heap.Heap { return made(heap.NewHeap(heap.Options{Name: "bench"})) }

// viewOf is sound while the allocation lives, which the works see to.
func viewOf(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// marked writes the ends of what grows, so that they can be found again.
func marked(b []byte) {
	touch(b)
	b[0], b[len(b)-1] = 7, 9
}

func mustBeMarked(b []byte) {
	if b[0] != 7 || b[len(b)-1] != 9 {
		panic("bench: what has grown has other contents")
	}
}

// reallocRoom times the growth of an allocation whose memory is resident by a quarter. To move, its room must be full: it
// has been made twice as large already, and another one lies behind it.
func reallocRoom(m *meter, n int, moves bool) {
	h := newHeap()
	p := made(h.Alloc(n/2, 0))
	made(h.Alloc(n/2, 0))
	if moves {
		p = made(h.Realloc(p, n, 0))
	} else {
		p = made(h.Alloc(n, 0))
	}
	marked(viewOf(p, n))
	var q unsafe.Pointer
	m.run(func() { q = growRoom(h, p, n+n/4) })
	mustBeMarked(viewOf(q, n))
	if moved := q != p; moved != moves && n/2 > 1<<20 {
		panic("bench: an allocation took the other way to grow")
	}
	closed(h.Close())
}

//go:noinline
func growRoom(h *heap.Heap, p unsafe.Pointer, n int) unsafe.Pointer { return made(h.Realloc(p, n, 0)) }

// reallocCopying grows as an allocator does that cannot move pages.
func reallocCopying(m *meter, n int) {
	h := newHeap()
	p := made(h.Alloc(n, 0))
	marked(viewOf(p, n))
	var q unsafe.Pointer
	m.run(func() { q = growByCopying(h, p, n, n+n/4) })
	mustBeMarked(viewOf(q, n))
	closed(h.Close())
}

//go:noinline
func growByCopying(h *heap.Heap, p unsafe.Pointer, n, to int) unsafe.Pointer {
	q := made(h.Alloc(to, 0))
	copy(viewOf(q, n), viewOf(p, n))
	h.Free(p)
	return q
}

func reallocSlice(m *meter, n int) {
	b := make([]byte, n)
	marked(b)
	m.run(func() { b = appendOne(b) })
	mustBeMarked(b[:n])
}

//go:noinline
func appendOne(b []byte) []byte { return append(b, 1) }

// churnHeap replaces objects at random, n times; all along a tenth of so many are alive.
func churnHeap(m *meter, h *heap.Heap, n int) {
	live := make([]*object, max(1, n/churnLive))
	for i := range live {
		live[i] = heap.New[object](h)
	}
	m.run(func() { replaceInHeap(h, live, n) })
	m.heft()
	mustBeReplaced(live, n)
	closed(h.Close())
}

//go:noinline
func replaceInHeap(h *heap.Heap, live []*object, n int) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		k := r.IntN(len(live))
		heap.Free(h, live[k])
		p := heap.New[object](h)
		p[0] = uint64(i)
		live[k] = p
	}
}

func churnNew(m *meter, n int) {
	live := make([]*object, max(1, n/churnLive))
	for i := range live {
		live[i] = new(object)
	}
	m.run(func() { replaceByNew(live, n) })
	m.heft()
	mustBeReplaced(live, n)
}

//go:noinline
func replaceByNew(live []*object, n int) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		k := r.IntN(len(live))
		p := new(object)
		p[0] = uint64(i)
		live[k] = p
	}
}

func mustBeReplaced(live []*object, n int) {
	for _, p := range live {
		if p[0] == uint64(n-1) && p[7] == 0 {
			return
		}
	}
	panic("bench: the last object is not there")
}

// churnSize returns a size of 16 to 1,039 bytes.
func churnSize(i int) int { return 16 + i*7919&1023 }

func churnHeapSizes(m *meter, n int) {
	h := newHeap()
	live := make([][]byte, max(1, n/10/churnLive))
	m.run(func() { replaceSlicesInHeap(h, live, n/10) })
	mustHaveSizes(live)
	closed(h.Close())
}

//go:noinline
func replaceSlicesInHeap(h *heap.Heap, live [][]byte, n int) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		k := r.IntN(len(live))
		heap.FreeSlice(h, live[k])
		size := churnSize(i)
		b := heap.MakeSlice[byte](h, size, size)
		b[size-1] = byte(size)
		live[k] = b
	}
}

func churnMake(m *meter, n int) {
	live := make([][]byte, max(1, n/10/churnLive))
	m.run(func() { replaceSlicesByMake(live, n/10) })
	mustHaveSizes(live)
}

//go:noinline
func replaceSlicesByMake(live [][]byte, n int) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		k := r.IntN(len(live))
		size := churnSize(i)
		b := make([]byte, size)
		b[size-1] = byte(size)
		live[k] = b
	}
}

func mustHaveSizes(live [][]byte) {
	for _, b := range live {
		if len(b) > 0 && b[len(b)-1] != byte(len(b)) {
			panic("bench: a slice holds something else")
		}
	}
}

// holes is how many blocks the fragmented heap has.
func holes(n int) int { return max(2, n/elementsHole) }

// heft takes what is resident as it is, without asking the collector to give memory back: what the program costs then.
func (m *meter) heft() { m.used = max(0, resident()-m.before) }

// fragmentHeap allocates blocks, frees every second one, and makes one large allocation of what was freed.
func fragmentHeap(m *meter, count int) {
	h := newHeap()
	blocks := make([]unsafe.Pointer, count)
	var large unsafe.Pointer
	m.run(func() { large = punchHeap(h, blocks) })
	m.heft()
	mustBeMarked(viewOf(large, count/2*bytesHole))
	closed(h.Close())
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

// fragmentGo has the collector run before the large allocation, so that it knows what is free.
func fragmentGo(m *meter, count int) {
	blocks := make([][]byte, count)
	var large []byte
	m.run(func() { large = punchGo(blocks) })
	m.heft()
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
	r := made(vm.Reserve(2*count*bytesHole, vm.Options{Purpose: "bench"}))
	closed(r.Commit(0, r.Size()))
	l := &chunkList{memory: viewOf(r.Base(), r.Size())}
	blocks := make([]int, count)
	var large int
	m.run(func() { large = punchFreeList(l, blocks) })
	m.heft()
	mustBeMarked(l.memory[large:][:count/2*bytesHole])
	closed(r.Close())
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

func growBuffer(m *meter, n int) {
	h := newHeap()
	b := heap.NewBuffer[bytes300](h)
	m.run(func() { fillBuffer(b, n) })
	m.heft()
	if b.Len() != n || n > 0 && b.At(n - 1)[0] != byte(n-1) {
		panic("bench: the buffer holds something else")
	}
	closed(h.Close())
}

//go:noinline
func fillBuffer(b *heap.Buffer[bytes300], n int) {
	for i := range n {
		b.Append(bytes300{0: byte(i)})
	}
}

func growSlice(m *meter, n int) {
	var s []bytes300
	m.run(func() { s = fillBytes(n) })
	m.heft()
	if len(s) != n || n > 0 && s[n-1][0] != byte(n-1) {
		panic("bench: the slice holds something else")
	}
}

//go:noinline
func fillBytes(n int) []bytes300 {
	var s []bytes300
	for i := range n {
		s = append(s, bytes300{0: byte(i)})
	}
	return s
}
