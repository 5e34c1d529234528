package bench

import "github.com/vastgo/vast/heap"

// bytes300 has the size of the elements in the article "Virtual Memory Tricks" (Niklas Gray). Thirteen
// elements fit into a page of 4 KiB.
type bytes300 [300]byte

func growBuffer(m *meter, n int) {
	h := newHeap()
	b := heap.NewBuffer[bytes300](h)
	m.run(func() { fillBuffer(b, n) })
	m.weighWithGarbage()
	if b.Len() != n || n > 0 && b.At(n - 1)[0] != byte(n-1) {
		panic("bench: the buffer has the wrong contents")
	}
	mustSucceed(h.Close())
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
	m.weighWithGarbage()
	if len(s) != n || n > 0 && s[n-1][0] != byte(n-1) {
		panic("bench: the slice has the wrong contents")
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
