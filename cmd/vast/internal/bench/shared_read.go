package bench

import (
	"sync"
	"sync/atomic"

	"github.com/vastgo/vast/bulk"
)

type sharedReading int

const (
	readGet          sharedReading = iota // shared-get
	readLoad2                             // shared-load-2
	readBesideWriter                      // shared-get-beside-writer
)

// sharedReads returns the sides of a work that reads a number from each of n elements in random order.
//
// In shared-load-2, two goroutines read, and the side vast calls Load. In the other works, one goroutine
// reads, and the side vast calls Get. In shared-get-beside-writer, a writer inserts and removes other
// elements while the reader reads.
func sharedReads(n int, kind sharedReading) (sides []side, done func()) {
	order := randomOrder(n)
	want := float32(0)
	for i := range n {
		want += numbered(i).position.y
	}
	readers := 1
	if kind == readLoad2 {
		readers = 2
	}
	read := func(name string, sum func(lo, hi int) float32, churn func(stop *atomic.Bool)) side {
		return side{name, func(m *meter) {
			var stop atomic.Bool
			var writer sync.WaitGroup
			if kind == readBesideWriter {
				writer.Go(func() { churn(&stop) })
			}
			var sums [2]float32
			m.run(func() {
				together(readers, func(g int) { sums[g] = sum(n*g/readers, n*(g+1)/readers) })
			})
			stop.Store(true)
			writer.Wait()
			mustBe(name, sums[0]+sums[1], want)
		}}
	}
	p := made(bulk.NewSharedPool[element](bulk.Options{Name: "bench", Capacity: n + 10*window}))
	handles := make([]bulk.Handle[element], n)
	in := p.Inserter()
	for i := range handles {
		handles[i], _ = in.Insert(numbered(i))
	}
	in.Close()
	shared := shuffle(handles, order)
	churnShared := func(stop *atomic.Bool) {
		c := inserting(p)()
		churnUntil(stop, c.insert, c.remove)
		c.done()
	}
	if kind == readLoad2 {
		sides = append(sides, read("vast", func(lo, hi int) float32 { return sumLoads(p, shared[lo:hi]) },
			churnShared))
	} else {
		sides = append(sides, read("vast", func(lo, hi int) float32 { return sumGets(p, shared[lo:hi]) },
			churnShared))
	}

	plain := &lockedPool{}
	plain.pool = made(bulk.NewPool[element](bulk.Options{Name: "bench", Capacity: n + window}))
	for i := range handles {
		handles[i], _ = plain.pool.Insert(numbered(i))
	}
	plainHandles := shuffle(handles, order)
	if kind == readGet {
		// The other works have no side pool: a Pool has no Load, and must not be read while a goroutine
		// changes it.
		sides = append(sides, read("pool", func(lo, hi int) float32 {
			return sumPoolGets(plain.pool, plainHandles[lo:hi])
		}, nil))
	}
	sides = append(sides, read("rwmutex-pool", func(lo, hi int) float32 {
		return sumLocked(plain, plainHandles[lo:hi])
	}, func(stop *atomic.Bool) {
		churnUntil(stop, func(e *element) bulk.Handle[element] { return plain.insert(*e) }, plain.remove)
	}))

	maps, keys := newShardedMap(), make([]uint64, n)
	for i := range keys {
		keys[i] = maps.insert(numbered(i))
	}
	mapKeys := shuffle(keys, order)
	sides = append(sides, read("sharded-maps", func(lo, hi int) float32 {
		return sumShards(maps, mapKeys[lo:hi])
	}, func(stop *atomic.Bool) {
		churnUntil(stop, func(e *element) uint64 { return maps.insert(*e) }, maps.remove)
	}))
	std := &keyedSyncMap{}
	for i := range keys {
		keys[i] = std.insert(numbered(i))
	}
	stdKeys := shuffle(keys, order)
	sides = append(sides, read("sync.Map", func(lo, hi int) float32 {
		return sumSyncMap(std, stdKeys[lo:hi])
	}, func(stop *atomic.Bool) {
		churnUntil(stop, func(e *element) uint64 { return std.insert(*e) }, std.remove)
	}))
	return sides, func() {
		mustSucceed(p.Close())
		mustSucceed(plain.pool.Close())
	}
}

func churnUntil[H any](stop *atomic.Bool, insert func(*element) H, remove func(H) bool) {
	handles := make([]H, 0, window)
	for !stop.Load() {
		for len(handles) < window {
			e := numbered(len(handles))
			handles = append(handles, insert(&e))
		}
		for _, h := range handles {
			remove(h)
		}
		handles = handles[:0]
	}
}

type lockedPool struct {
	mu   sync.RWMutex
	pool *bulk.Pool[element]
}

func (l *lockedPool) insert(e element) bulk.Handle[element] {
	l.mu.Lock()
	h, _ := l.pool.Insert(e)
	l.mu.Unlock()
	return h
}

func (l *lockedPool) remove(h bulk.Handle[element]) bool {
	l.mu.Lock()
	ok := l.pool.Remove(h)
	l.mu.Unlock()
	return ok
}

//go:noinline
func sumGets(p *bulk.SharedPool[element], handles []bulk.Handle[element]) (sum float32) {
	for _, h := range handles {
		sum += p.Get(h).position.y
	}
	return sum
}

//go:noinline
func sumLoads(p *bulk.SharedPool[element], handles []bulk.Handle[element]) (sum float32) {
	for _, h := range handles {
		e, _ := p.Load(h)
		sum += e.position.y
	}
	return sum
}

//go:noinline
func sumPoolGets(p *bulk.Pool[element], handles []bulk.Handle[element]) (sum float32) {
	for _, h := range handles {
		sum += p.Get(h).position.y
	}
	return sum
}

//go:noinline
func sumLocked(l *lockedPool, handles []bulk.Handle[element]) (sum float32) {
	for _, h := range handles {
		l.mu.RLock()
		sum += l.pool.Get(h).position.y
		l.mu.RUnlock()
	}
	return sum
}

//go:noinline
func sumShards(m *shardedMap, keys []uint64) (sum float32) {
	for _, k := range keys {
		e, _ := m.load(k)
		sum += e.position.y
	}
	return sum
}

//go:noinline
func sumSyncMap(m *keyedSyncMap, keys []uint64) (sum float32) {
	for _, k := range keys {
		e, _ := m.m.Load(k)
		sum += e.(*element).position.y
	}
	return sum
}
