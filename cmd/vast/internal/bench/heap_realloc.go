package bench

import (
	"unsafe"

	"github.com/vastgo/vast/heap"
)

// reallocRoom times the growth of a resident allocation by a quarter. If moves is true, the allocation fills
// its room (the addresses reserved for it), and another allocation follows the room, so the allocation must
// move.
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
		panic("bench: an allocation that should grow in place has moved, or the reverse")
	}
	mustSucceed(h.Close())
}

//go:noinline
func growRoom(h *heap.Heap, p unsafe.Pointer, n int) unsafe.Pointer { return made(h.Realloc(p, n, 0)) }

// reallocCopying grows an allocation by copying, like an allocator that cannot move pages.
func reallocCopying(m *meter, n int) {
	h := newHeap()
	p := made(h.Alloc(n, 0))
	marked(viewOf(p, n))
	var q unsafe.Pointer
	m.run(func() { q = growByCopying(h, p, n, n+n/4) })
	mustBeMarked(viewOf(q, n))
	mustSucceed(h.Close())
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
