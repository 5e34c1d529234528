package heap

import (
	"testing"
)

// BenchmarkNewFree measures one allocation and one free.
func BenchmarkNewFree(b *testing.B) {
	for name, o := range map[string]Options{"shared": {}, "unshared": {Unshared: true}} {
		b.Run(name, func(b *testing.B) {
			h, err := New(o)
			if err != nil {
				b.Fatal(err)
			}
			defer h.Close()
			var all [4096]*ship
			for range b.N/len(all) + 1 {
				newAndFree(h, &all)
			}
		})
	}
}

//go:noinline
func newAndFree(h *Heap, all *[4096]*ship) {
	for i := range all {
		all[i] = Make[ship](h)
	}
	for _, s := range all {
		Free(h, s)
	}
}

func BenchmarkReallocMove(b *testing.B) {
	h, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	const size = 64 << 20
	p, err := h.Alloc(size, 0)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; i < size; i += 4096 {
		bytesOf(p, size)[i] = 1
	}
	moved := 0
	for range b.N {
		at := h.lockAndFind("Realloc", p)
		q, err := h.moveRoom(at, size/h.pages.size, 0)
		h.unlock()
		if err != nil || q == nil {
			b.Fatal(q, err)
		}
		if q != p {
			moved++
		}
		p = q
	}
	if moved != b.N {
		b.Fatal("the allocation did not move")
	}
	b.SetBytes(size)
}
