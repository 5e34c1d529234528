package bench

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/vastgo/vast/bulk"
)

type epochTable struct{ *bulk.SharedTable[element] }

func newEpochTable(entries int) replaceable {
	t := epochTable{made(bulk.NewSharedTable[element](bulk.Options{Name: "bench", Capacity: entries}))}
	w := t.Writer()
	for i := range entries {
		w.Set(i, numbered(i))
	}
	w.Close()
	return t
}

//go:noinline
func (t epochTable) operate(entries int, order *rand.PCG, n int) (sum float32) {
	w, r := t.Writer(), t.Reader()
	for k := range n {
		i, replace := draw(order, entries)
		if replace {
			w.Set(i, numbered(k))
			continue
		}
		r.Enter()
		sum += r.Get(i).position.y
		r.Leave()
	}
	r.Close()
	w.Close()
	return sum
}

func (t epochTable) close() { mustSucceed(t.Close()) }

// pointerTable replaces an entry by storing a pointer to a new element.
type pointerTable []atomic.Pointer[element]

func newPointerTable(entries int) replaceable {
	t := make(pointerTable, entries)
	for i := range t {
		e := numbered(i)
		t[i].Store(&e)
	}
	return t
}

//go:noinline
func (t pointerTable) operate(entries int, order *rand.PCG, n int) (sum float32) {
	for k := range n {
		i, replace := draw(order, entries)
		if replace {
			e := numbered(k)
			t[i].Store(&e)
			continue
		}
		sum += t[i].Load().position.y
	}
	return sum
}

func (t pointerTable) close() {}

type lockedTable struct {
	mu       sync.RWMutex
	elements []element
}

func newLockedTable(entries int) replaceable {
	return &lockedTable{elements: fillSlice(entries, entries)}
}

//go:noinline
func (t *lockedTable) operate(entries int, order *rand.PCG, n int) (sum float32) {
	for k := range n {
		i, replace := draw(order, entries)
		if replace {
			t.mu.Lock()
			t.elements[i] = numbered(k)
			t.mu.Unlock()
			continue
		}
		t.mu.RLock()
		sum += t.elements[i].position.y
		t.mu.RUnlock()
	}
	return sum
}

func (t *lockedTable) close() {}

type syncMap struct{ elements sync.Map }

func newSyncMap(entries int) replaceable {
	t := &syncMap{}
	for i := range entries {
		t.elements.Store(i, numbered(i))
	}
	return t
}

//go:noinline
func (t *syncMap) operate(entries int, order *rand.PCG, n int) (sum float32) {
	for k := range n {
		i, replace := draw(order, entries)
		if replace {
			t.elements.Store(i, numbered(k))
			continue
		}
		e, _ := t.elements.Load(i)
		sum += e.(element).position.y
	}
	return sum
}

func (t *syncMap) close() {}

type shards [64]struct {
	mu       sync.RWMutex
	elements map[int]element
	_        [64]byte // keeps the locks on different cache lines
}

func newShards(entries int) replaceable {
	t := &shards{}
	for i := range t {
		t[i].elements = make(map[int]element, entries/len(t)+1)
	}
	for i := range entries {
		t[i%len(t)].elements[i] = numbered(i)
	}
	return t
}

//go:noinline
func (t *shards) operate(entries int, order *rand.PCG, n int) (sum float32) {
	for k := range n {
		i, replace := draw(order, entries)
		s := &t[i%len(t)]
		if replace {
			s.mu.Lock()
			s.elements[i] = numbered(k)
			s.mu.Unlock()
			continue
		}
		s.mu.RLock()
		sum += s.elements[i].position.y
		s.mu.RUnlock()
	}
	return sum
}

func (t *shards) close() {}
