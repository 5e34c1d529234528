package bench

import (
	"runtime"

	"github.com/vastgo/vast/bulk"
)

func poolWorks() []work {
	return []work{
		{"insert", bytesElements, func(n int) ([]side, func()) { return poolInsertions(n, false) }},
		{"insert-again", bytesElements, func(n int) ([]side, func()) { return poolInsertions(n, true) }},
		{"remove", bytesElements, removals},
		{"refill", bytesElements, refills},
		{"iterate-full", bytesElements, func(n int) ([]side, func()) { return iterations(n, false) }},
		{"iterate-half", bytesElements, func(n int) ([]side, func()) { return iterations(n, true) }},
	}
}

// poolInsertions returns the sides of the works insert and insert-again: insert n elements into a container.
// In the work insert, the container is new. In the work insert-again, the container has held n elements and
// was cleared.
//
// The side vast inserts a zero element and sets one of its fields. The side vast-insert inserts a whole
// element. The side slice-made appends to a slice, which has no handles.
func poolInsertions(n int, again bool) (sides []side, done func()) {
	pool := func(name string, fill func(p *bulk.Pool[element], n int)) side {
		return side{name, func(m *meter) {
			p := made(bulk.NewPool[element](bulk.Options{Name: "bench", Capacity: n}))
			if again {
				fill(p, n)
				p.Clear(nil)
			}
			m.run(func() { fill(p, n) })
			m.weigh()
			mustBe(name, p.Len(), n)
			mustSucceed(p.Close())
		}}
	}
	return []side{
		pool("vast", insertZeroes),
		pool("vast-insert", refillPool),
		{"free-list", func(m *meter) {
			l := newFreeList(n)
			if again {
				refillFreeList(l, n)
				l.clear()
			}
			m.run(func() { refillFreeList(l, n) })
			m.weigh()
			mustBe("free-list", l.live(), n)
		}},
		{"slice-made", func(m *meter) {
			var es []element
			if again {
				es = fillSlice(n, n)[:0]
			}
			m.run(func() {
				if !again {
					es = make([]element, 0, n)
				}
				es = appendElements(es, n)
			})
			m.weigh()
			mustBe("slice-made", len(es), n)
		}},
	}, nil
}

//go:noinline
func insertZeroes(p *bulk.Pool[element], n int) {
	for i := range n {
		_, e := p.InsertZero()
		e.position = vector{float32(i), 1, 2}
	}
}

//go:noinline
func appendElements(es []element, n int) []element {
	for i := range n {
		es = append(es, element{position: vector{float32(i), 1, 2}})
	}
	return es
}

// removals returns the sides of the work remove: remove n elements in random order, one at a time.
//
// The side swap-and-pop removes the element at a position. The other sides remove the element of a handle, an
// index or an id, which stays valid when other elements are removed.
func removals(n int) (sides []side, done func()) {
	indices := randomOrder(n)
	shrinking := make([]uint32, n) // positions below the number of remaining elements
	for i, index := range indices {
		shrinking[i] = index % uint32(n-i)
	}
	return []side{
		{"vast", func(m *meter) {
			p, handles := filledPool(n)
			shuffled := shuffle(handles, indices)
			m.run(func() { removeFromPool(p, shuffled) })
			handles, shuffled = nil, nil
			m.weigh()
			mustBe("vast", p.Len(), 0)
			mustSucceed(p.Close())
		}},
		{"free-list", func(m *meter) {
			l := filledFreeList(n)
			m.run(func() { removeFromFreeList(l, indices) })
			m.weigh()
			mustBe("free-list", l.live(), 0)
		}},
		{"swap-and-pop", func(m *meter) {
			es := fillSlice(n, n)
			m.run(func() { es = swapAndPop(es, shrinking) })
			m.weigh()
			mustBe("swap-and-pop", len(es), 0)
		}},
		{"swap-and-pop-ids", func(m *meter) {
			l := filledPacked(n)
			m.run(func() { removeFromPacked(l, indices) })
			m.weigh()
			mustBe("swap-and-pop-ids", len(l.elements), 0)
		}},
	}, nil
}

// refills returns the sides of the work refill: insert n elements after n elements were removed in random
// order. The side vast inserts a whole element. The side vast-insert-zero inserts a zero element and sets one
// of its fields.
func refills(n int) (sides []side, done func()) {
	indices := randomOrder(n)
	pool := func(name string, fill func(p *bulk.Pool[element], n int)) side {
		return side{name, func(m *meter) {
			p, handles := filledPool(n)
			removeFromPool(p, shuffle(handles, indices))
			m.run(func() { fill(p, n) })
			handles = nil
			m.weigh()
			mustBe(name, p.Len(), n)
			mustSucceed(p.Close())
		}}
	}
	return []side{
		pool("vast", refillPool),
		pool("vast-insert-zero", insertZeroes),
		{"free-list", func(m *meter) {
			l := filledFreeList(n)
			removeFromFreeList(l, indices)
			m.run(func() { refillFreeList(l, n) })
			m.weigh()
			runtime.KeepAlive(l)
		}},
	}, nil
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
