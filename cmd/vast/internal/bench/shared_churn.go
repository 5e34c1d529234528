package bench

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/vastgo/vast/bulk"
)

// window is the number of elements that each goroutine keeps in the works shared-churn-1 to shared-churn-8.
const window = 1024

// sharedChurns returns the sides of one of the works shared-churn-1 to shared-churn-8. Each side removes n
// elements, on several goroutines, and inserts a new element after each removal. Each goroutine removes
// random elements of its own window.
func sharedChurns(n, goroutines int) (sides []side, done func()) {
	return []side{
		churning("vast", n, goroutines, func() store[bulk.Handle[element]] {
			p := newSharedPool(goroutines * window)
			return store[bulk.Handle[element]]{live: p.Len, close: p.Close, open: inserting(p)}
		}),
		churning("vast-without-inserter", n, goroutines, func() store[bulk.Handle[element]] {
			p := newSharedPool(goroutines * window)
			return store[bulk.Handle[element]]{live: p.Len, close: p.Close,
				open: stateless(func(e *element) bulk.Handle[element] { h, _ := p.Insert(*e); return h },
					p.Remove)}
		}),
		churning("mutex-slice", n, goroutines, func() store[uint32] {
			l := &lockedFreeList{freeList: freeList{first: noHole,
				valid: make([]uint64, goroutines*window/64+1)}}
			return store[uint32]{live: l.live,
				open: stateless(func(e *element) uint32 { return l.insert(*e) }, l.remove)}
		}),
		churning("atomic-free-list", n, goroutines, func() store[uint32] {
			l := newAtomicFreeList(goroutines * window)
			return store[uint32]{live: l.live,
				open: stateless(func(e *element) uint32 { return l.insert(*e) }, l.remove)}
		}),
		churning("sharded-maps", n, goroutines, func() store[uint64] {
			m := newShardedMap()
			return store[uint64]{live: m.live,
				open: stateless(func(e *element) uint64 { return m.insert(*e) }, m.remove)}
		}),
		churning("sync.Map", n, goroutines, func() store[uint64] {
			m := &keyedSyncMap{}
			return store[uint64]{live: m.live,
				open: stateless(func(e *element) uint64 { return m.insert(*e) }, m.remove)}
		}),
	}, nil
}

func newSharedPool(n int) *bulk.SharedPool[element] {
	return made(bulk.NewSharedPool[element](bulk.Options{Name: "bench", Capacity: 2 * n}))
}

type store[H any] struct {
	open  func() changer[H] // opens the store for one goroutine
	live  func() int
	close func() error
}

// changer changes a store. Only one goroutine uses it.
type changer[H any] struct {
	insert func(*element) H
	remove func(H) bool
	done   func()
}

// stateless returns the function open of a store whose goroutines have no state of their own.
func stateless[H any](insert func(*element) H, remove func(H) bool) func() changer[H] {
	return func() changer[H] { return changer[H]{insert, remove, func() {}} }
}

// inserting returns the function open of a SharedPool's store. It must not be inlined: otherwise, the
// compiler does not inline the calls in its body.
//
//go:noinline
func inserting(p *bulk.SharedPool[element]) func() changer[bulk.Handle[element]] {
	return func() changer[bulk.Handle[element]] {
		in := p.Inserter()
		insert := func(e *element) bulk.Handle[element] { h, _ := in.Insert(*e); return h }
		return changer[bulk.Handle[element]]{insert, in.Remove, in.Close}
	}
}

func churning[H any](name string, n, goroutines int, open func() store[H]) side {
	return side{name, func(m *meter) {
		s := open()
		windows := make([][]H, goroutines)
		together(goroutines, func(g int) {
			c := s.open()
			for i := range window {
				e := numbered(i)
				windows[g] = append(windows[g], c.insert(&e))
			}
			c.done()
		})
		orders := make([][]uint16, goroutines)
		for g := range orders {
			orders[g] = randomIndices(g)
		}
		var lost atomic.Int64
		m.run(func() {
			together(goroutines, func(g int) {
				c := s.open()
				lost.Add(int64(churnMany(windows[g], orders[g], share(n, g, goroutines), c)))
				c.done()
			})
		})
		mustBe(name, s.live(), goroutines*window-int(lost.Load()))
		mustBe(name, int(lost.Load()), 0)
		if s.close != nil {
			mustSucceed(s.close())
		}
	}}
}

// randomIndices returns random indices of a window. The works call it before the timed part, because drawing
// a random number takes as long as an atomic operation.
func randomIndices(seed int) []uint16 {
	r := rand.New(rand.NewPCG(seedOrder, uint64(seed)))
	indices := make([]uint16, 16*window)
	for i := range indices {
		indices[i] = uint16(r.IntN(window))
	}
	return indices
}

// churnMany replaces n elements of a window. It returns the number of removals that failed.
//
//go:noinline
func churnMany[H any](handles []H, indices []uint16, n int, c changer[H]) (lost int) {
	e := numbered(n)
	for i := range n {
		at := indices[i%(16*window)]
		if !c.remove(handles[at]) {
			lost++
		}
		handles[at] = c.insert(&e)
	}
	return lost
}
