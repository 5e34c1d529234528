package bench

import "testing"

func TestSharedContainersOfOtherSides(t *testing.T) {
	a := newAtomicFreeList(2)
	first, second := a.insert(numbered(1)), a.insert(numbered(2))
	if first == second || a.elements[first] != numbered(1) || a.elements[second] != numbered(2) ||
		a.live() != 2 {
		t.Errorf("the atomic free list is wrong after two insertions, at %d and %d", first, second)
	}
	if !a.remove(first) || a.remove(first) || a.insert(numbered(3)) != first ||
		a.elements[first] != numbered(3) {
		t.Error("the atomic free list does not reuse the index of a removed element")
	}
	l := &lockedFreeList{freeList: freeList{first: noHole, valid: make([]uint64, 1)}}
	if i := l.insert(numbered(1)); !l.remove(i) || l.remove(i) || l.insert(numbered(2)) != i ||
		l.elements[i] != numbered(2) {
		t.Error("the locked free list does not reuse the index of a removed element")
	}
	m, s := newShardedMap(), &keyedSyncMap{}
	mapped, stored := m.insert(numbered(4)), s.insert(numbered(5))
	if e, ok := m.load(mapped); !ok || e != numbered(4) || !m.remove(mapped) || m.remove(mapped) ||
		m.live() != 0 {
		t.Errorf("the sharded map loads %v, want element 4; or a removal is wrong", e)
	}
	if e, ok := s.m.Load(stored); !ok || *e.(*element) != numbered(5) || !s.remove(stored) ||
		s.remove(stored) || s.live() != 0 {
		t.Errorf("the sync.Map loads %v, want element 5; or a removal is wrong", e)
	}
	var locked lockedSlice
	fillLockedBatches(&locked, 1000)
	fillLocked(&locked, 10)
	if len(locked.elements) != 1010 || locked.elements[999] != numbered(999) ||
		locked.elements[1009] != numbered(9) {
		t.Errorf("the locked slice has %d elements, want 1,010; or some are wrong", len(locked.elements))
	}
}
