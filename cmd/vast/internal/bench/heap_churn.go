package bench

import (
	"math/rand/v2"

	"github.com/vastgo/vast/heap"
)

type object [8]uint64

// churnHeap makes n ÷ 10 objects, and times n replacements of random objects.
func churnHeap(m *meter, h *heap.Heap, n int) {
	live := make([]*object, max(1, n/churnLive))
	for i := range live {
		live[i] = heap.Make[object](h)
	}
	m.run(func() { replaceInHeap(h, live, n) })
	m.weighWithGarbage()
	mustBeReplaced(live, n)
	mustSucceed(h.Close())
}

//go:noinline
func replaceInHeap(h *heap.Heap, live []*object, n int) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		k := r.IntN(len(live))
		heap.Free(h, live[k])
		p := heap.Make[object](h)
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
	m.weighWithGarbage()
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
	panic("bench: the last object is missing")
}

// churnSize returns a size of 16 to 1,039 bytes.
func churnSize(i int) int { return 16 + i*7919&1023 }

func churnHeapSizes(m *meter, n int) {
	h := newHeap()
	live := make([][]byte, max(1, n/10/churnLive))
	m.run(func() { replaceSlicesInHeap(h, live, n/10) })
	mustHaveSizes(live)
	mustSucceed(h.Close())
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
			panic("bench: a slice has the wrong contents")
		}
	}
}
