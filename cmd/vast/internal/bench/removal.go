package bench

import (
	"fmt"
	"math/rand/v2"
	"runtime"

	"github.com/vastgo/vast/bulk"
)

// seedOrder makes the random orders the same in every run.
const seedOrder = 1

func poolWorks() []work {
	return []work{
		{"remove", bytesElements, func(n int) ([]side, func()) { return removals(n), nil }},
		{"refill", bytesElements, func(n int) ([]side, func()) { return refills(n), nil }},
		{"iterate-full", bytesElements, func(n int) ([]side, func()) { return iterations(n, false) }},
		{"iterate-half", bytesElements, func(n int) ([]side, func()) { return iterations(n, true) }},
	}
}

// removals returns the sides of the work remove: n elements are removed one by one in random order. The plain swap-and-pop
// removes whichever element is at a position; swap-and-pop-ids removes the given ones, as the others do, and so has to
// know where they were swapped to.
func removals(n int) []side {
	order := rand.New(rand.NewPCG(seedOrder, 0)).Perm(n)
	indices := make([]uint32, n) // each element once
	shrinking := make([]uint32, n)
	for i, index := range order {
		indices[i] = uint32(index)
		shrinking[i] = uint32(index % (n - i)) // an element of those that are left
	}
	return []side{
		{"vast", func(m *meter) {
			p, handles := filledPool(n)
			shuffled := shuffle(handles, indices)
			m.run(func() { removeFromPool(p, shuffled) })
			handles, shuffled = nil, nil
			m.weigh()
			empty("vast", p.Len())
			closed(p.Close())
		}},
		{"free-list", func(m *meter) {
			l := filledFreeList(n)
			m.run(func() { removeFromFreeList(l, indices) })
			m.weigh()
			empty("free-list", l.live())
		}},
		{"swap-and-pop", func(m *meter) {
			es := fillSlice(n, n)
			m.run(func() { es = swapAndPop(es, shrinking) })
			m.weigh()
			empty("swap-and-pop", len(es))
		}},
		{"swap-and-pop-ids", func(m *meter) {
			l := filledPacked(n)
			m.run(func() { removeFromPacked(l, indices) })
			m.weigh()
			empty("swap-and-pop-ids", len(l.elements))
		}},
	}
}

// refills returns the sides of the work refill: after n elements were removed in random order, n are put in.
func refills(n int) []side {
	order := rand.New(rand.NewPCG(seedOrder, 0)).Perm(n)
	indices := make([]uint32, n)
	for i, index := range order {
		indices[i] = uint32(index)
	}
	return []side{
		{"vast", func(m *meter) {
			p, handles := filledPool(n)
			removeFromPool(p, shuffle(handles, indices))
			m.run(func() { refillPool(p, n) })
			handles = nil
			m.weigh()
			closed(p.Close())
		}},
		{"free-list", func(m *meter) {
			l := filledFreeList(n)
			removeFromFreeList(l, indices)
			m.run(func() { refillFreeList(l, n) })
			m.weigh()
			runtime.KeepAlive(l)
		}},
	}
}

// filledPool returns a pool of n elements and their handles in the order of insertion.
func filledPool(n int) (*bulk.Pool[element], []bulk.Handle[element]) {
	p := made(bulk.NewPool[element](bulk.Options{Name: "bench", Capacity: n}))
	handles := make([]bulk.Handle[element], n)
	for i := range handles {
		handles[i], _ = p.Insert(numbered(i))
	}
	return p, handles
}

// shuffle returns the handles in the order of indices.
func shuffle(handles []bulk.Handle[element], indices []uint32) []bulk.Handle[element] {
	shuffled := make([]bulk.Handle[element], len(handles))
	for i, index := range indices {
		shuffled[i] = handles[index]
	}
	return shuffled
}

//go:noinline
func removeFromPool(p *bulk.Pool[element], handles []bulk.Handle[element]) {
	for _, h := range handles {
		p.Remove(h)
	}
}

//go:noinline
func refillPool(p *bulk.Pool[element], n int) {
	for i := range n {
		p.Insert(numbered(i))
	}
}

//go:noinline
func removeFromFreeList(l *freeList, indices []uint32) {
	for _, i := range indices {
		l.remove(i)
	}
}

//go:noinline
func refillFreeList(l *freeList, n int) {
	for i := range n {
		l.insert(numbered(i))
	}
}

//go:noinline
func removeFromPacked(p *packed, ids []uint32) {
	for _, id := range ids {
		p.remove(id)
	}
}

//go:noinline
func swapAndPop(es []element, indices []uint32) []element {
	for _, i := range indices {
		last := len(es) - 1
		es[i] = es[last]
		es = es[:last]
	}
	return es
}

// empty panics when a side has not removed everything: its time would mean nothing.
func empty(name string, left int) {
	if left != 0 {
		panic(fmt.Sprintf("bench: %s has %d elements left after all were removed", name, left))
	}
}
