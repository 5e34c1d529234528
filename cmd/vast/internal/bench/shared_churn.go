package bench

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/vastgo/vast/bulk"
)

// window is the number of elements that each goroutine of the works shared-churn keeps.
const window = 1024

// sharedChurns returns the sides of the works shared-churn: several goroutines remove n elements in all and
// insert n others. Each goroutine keeps a window of elements and removes them in random order.
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

// store is a container that several goroutines change.
type store[H any] struct {
	open  func() changer[H] // opens the store for one goroutine
	live  func() int
	close func() error
}

// changer changes a store on one goroutine.
type changer[H any] struct {
	insert func(*element) H
	remove func(H) bool
	done   func()
}

// stateless returns the function open of a store that keeps no state for each goroutine.
func stateless[H any](insert func(*element) H, remove func(H) bool) func() changer[H] {
	return func() changer[H] { return changer[H]{insert, remove, func() {}} }
}

// inserting returns the function open of a store that is a SharedPool. The function makes an inserter for
// each goroutine. If inserting were inlined, the compiler would not inline the calls in its body.
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
			orders[g] = randomPlaces(g)
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
			closed(s.close())
		}
	}}
}

// randomPlaces returns random places in a window. The works draw these places before the timed part, because
// drawing one place takes as long as an atomic operation.
func randomPlaces(seed int) []uint16 {
	r := rand.New(rand.NewPCG(seedOrder, uint64(seed)))
	places := make([]uint16, 16*window)
	for i := range places {
		places[i] = uint16(r.IntN(window))
	}
	return places
}

// churnMany replaces an element of a window n times, each time at the next of the random places. It returns
// the number of elements that the store had lost.
//
//go:noinline
func churnMany[H any](handles []H, places []uint16, n int, c changer[H]) (lost int) {
	e := numbered(n)
	for i := range n {
		at := places[i%(16*window)]
		if !c.remove(handles[at]) {
			lost++
		}
		handles[at] = c.insert(&e)
	}
	return lost
}
