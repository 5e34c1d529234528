package bench

import (
	"sync"
	"sync/atomic"
)

type lockedFreeList struct {
	mu sync.Mutex
	freeList
}

func (l *lockedFreeList) insert(e element) uint32 {
	l.mu.Lock()
	i := l.freeList.insert(e)
	l.mu.Unlock()
	return i
}

func (l *lockedFreeList) remove(i uint32) bool {
	l.mu.Lock()
	live := l.valid[i/64]>>(i%64)&1 != 0
	if live {
		l.freeList.remove(i)
	}
	l.mu.Unlock()
	return live
}

// atomicFreeList is an array of fixed size whose holes form a lock-free stack (R. Kent Treiber, 1986). A
// count of changes solves the ABA problem.
type atomicFreeList struct {
	first    atomic.Uint64 // upper 32 bits: the count of changes; lower 32 bits: the index of the first hole
	_        [56]byte
	elements []element
	next     []atomic.Uint32 // the hole after each hole
	valid    []atomic.Uint32 // 1 for a live element, 0 for a hole
}

func newAtomicFreeList(n int) *atomicFreeList {
	l := &atomicFreeList{elements: make([]element, n+1), next: make([]atomic.Uint32, n+1),
		valid: make([]atomic.Uint32, n+1)}
	for i := range n {
		l.next[i].Store(uint32(i + 1))
	}
	return l
}

func (l *atomicFreeList) insert(e element) uint32 {
	for {
		first := l.first.Load()
		i := uint32(first)
		next := uint64(l.next[i].Load())
		if l.first.CompareAndSwap(first, (first>>32+1)<<32|next) {
			l.elements[i] = e
			l.valid[i].Store(1)
			return i
		}
	}
}

func (l *atomicFreeList) remove(i uint32) bool {
	if !l.valid[i].CompareAndSwap(1, 0) {
		return false
	}
	for {
		first := l.first.Load()
		l.next[i].Store(uint32(first))
		if l.first.CompareAndSwap(first, (first>>32+1)<<32|uint64(i)) {
			return true
		}
	}
}

func (l *atomicFreeList) live() (n int) {
	for i := range l.valid {
		n += int(l.valid[i].Load())
	}
	return n
}

type shardedMap struct {
	key    atomic.Uint64 // the last key
	shards [64]struct {
		sync.RWMutex
		m map[uint64]element
		_ [32]byte // keeps the locks on different cache lines
	}
}

func newShardedMap() *shardedMap {
	m := &shardedMap{}
	for i := range m.shards {
		m.shards[i].m = map[uint64]element{}
	}
	return m
}

func (m *shardedMap) insert(e element) uint64 {
	key := m.key.Add(1)
	s := &m.shards[key%64]
	s.Lock()
	s.m[key] = e
	s.Unlock()
	return key
}

func (m *shardedMap) remove(key uint64) bool {
	s := &m.shards[key%64]
	s.Lock()
	_, live := s.m[key]
	delete(s.m, key)
	s.Unlock()
	return live
}

func (m *shardedMap) load(key uint64) (element, bool) {
	s := &m.shards[key%64]
	s.RLock()
	e, ok := s.m[key]
	s.RUnlock()
	return e, ok
}

func (m *shardedMap) live() (n int) {
	for i := range m.shards {
		n += len(m.shards[i].m)
	}
	return n
}

type keyedSyncMap struct {
	key atomic.Uint64 // the last key
	m   sync.Map      // from uint64 to *element
}

func (m *keyedSyncMap) insert(e element) uint64 {
	key := m.key.Add(1)
	m.m.Store(key, &e)
	return key
}

func (m *keyedSyncMap) remove(key uint64) bool {
	_, live := m.m.LoadAndDelete(key)
	return live
}

func (m *keyedSyncMap) live() (n int) {
	m.m.Range(func(any, any) bool { n++; return true })
	return n
}
