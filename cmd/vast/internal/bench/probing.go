package bench

import "math/bits"

// probing is a hash table with linear probing. The table doubles when seven eighths of its slots are in use.
// The key 0 marks an empty slot.
type probing struct {
	pairs []sortedPair
	shift int
	len   int
}

func newProbing() *probing { return &probing{pairs: make([]sortedPair, 8), shift: 64 - 3} }

func (t *probing) slot(k uint64) int {
	high, low := bits.Mul64(k^0x2545f4914f6cdd1d, 0x9e3779b97f4a7c15)
	return int((high ^ low) >> t.shift)
}

func (t *probing) set(k, v uint64) {
	if t.len*8 >= len(t.pairs)*7 {
		old := t.pairs
		t.pairs = make([]sortedPair, 2*len(old))
		t.shift--
		for _, p := range old {
			if p.key != 0 {
				*t.find(p.key) = p
			}
		}
	}
	p := t.find(k)
	if p.key == 0 {
		t.len++
	}
	*p = sortedPair{k, v}
}

// find returns the slot of a key. If the table lacks the key, find returns the empty slot for the key.
func (t *probing) find(k uint64) *sortedPair {
	for i := t.slot(k); ; i++ {
		if i == len(t.pairs) {
			i = 0
		}
		if p := &t.pairs[i]; p.key == k || p.key == 0 {
			return p
		}
	}
}

//go:noinline
func fillProbing(t *probing, keys []uint64) {
	for i, k := range keys {
		t.set(k, uint64(i))
	}
}

//go:noinline
func fillProbingLapping(t *probing, keys []uint64, s *stopwatch) {
	for i, k := range keys {
		t.set(k, uint64(i))
		s.lap()
	}
}

//go:noinline
func sumProbing(t *probing, keys []uint64) (sum uint64) {
	for _, k := range keys {
		sum += t.find(k).value
	}
	return sum
}
