package inspect

import (
	"math/bits"
	"slices"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

const (
	maxRanks    = 16      // limit of the queries with kept ranks
	maxLists    = 4       // limit of the queries with kept matches
	maxSlots    = 1 << 27 // of a list of matches: 16 MiB of bits
	matchesTime = 5 * time.Second
)

// ranks count the matches of a query in each step of slots. They are valid as long as the structure of the
// world does not change. With ranks, a page is found without counting the matches before it.
type ranks struct {
	key     string
	changes uint64
	step    int // slots
	counts  []int
}

// total returns the number of matches.
func (k *ranks) total() (n int) {
	for _, c := range k.counts {
		n += c
	}
	return n
}

// ranksOf returns valid ranks for a search, or nil. Call it in a look.
func (q *searches) ranksOf(s *search) *ranks {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.ranks, func(k *ranks) bool { return k.key == s.key() })
	if i < 0 || q.ranks[i].changes != s.in.world.Changes() || q.ranks[i].step != s.found.Step() ||
		s.in.world.Slots() > q.ranks[i].step*len(q.ranks[i].counts) {
		return nil
	}
	k := q.ranks[i]
	q.ranks = slices.Insert(slices.Delete(q.ranks, i, i+1), 0, k)
	return k
}

func (q *searches) keepRanks(k *ranks) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ranks = slices.DeleteFunc(q.ranks, func(o *ranks) bool { return o.key == k.key })
	q.ranks = slices.Insert(q.ranks, 0, k)
	q.ranks = q.ranks[:min(len(q.ranks), maxRanks)]
}

// key identifies the kept results of a search: the canonical text of the query, and the bound targets.
func (s *search) key() string { return s.plan.Text() + s.found.Key() }

// matches are the slots that a query with comparisons found a short time ago. They are kept because comparing
// all values again for each page would take too much of the world's time. A slot may hold another entity by
// now.
type matches struct {
	key   string
	ready chan struct{} // closed when the other fields are set
	err   error
	words []uint64 // one bit a slot
	total int
	whole bool // nothing was left out
	at    time.Time
}

// claim returns the recent matches of a search, which another request may still be filling, or new matches
// that the caller must fill.
func (q *searches) claim(key string) (m *matches, fill bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lists = slices.DeleteFunc(q.lists, func(m *matches) bool { return m.isOver() })
	i := slices.IndexFunc(q.lists, func(m *matches) bool { return m.key == key })
	if i >= 0 {
		m = q.lists[i]
		q.lists = slices.Insert(slices.Delete(q.lists, i, i+1), 0, m)
		return m, false
	}
	m = &matches{key: key, ready: make(chan struct{})}
	q.lists = slices.Insert(q.lists, 0, m)
	q.lists = q.lists[:min(len(q.lists), maxLists)]
	return m, true
}

// isOver reports whether matches are too old, or failed.
func (m *matches) isOver() bool {
	select {
	case <-m.ready:
		return m.err != nil || time.Since(m.at) > matchesTime
	default:
		return false
	}
}

// from returns the slots of the matches from a rank on, at most limit of them.
func (m *matches) from(rank, limit int) (slots []int) {
	for i, mask := range m.words {
		if n := bits.OnesCount64(mask); rank >= n {
			rank -= n
			continue
		}
		for ; mask != 0; mask &= mask - 1 {
			if len(slots) == limit {
				return slots
			}
			if rank > 0 {
				rank--
				continue
			}
			slots = append(slots, 64*i+bits.TrailingZeros64(mask))
		}
	}
	return slots
}

// eachEntity calls f for the entities whose bits are set, from slot lo on, until f returns false. It passes
// over the first skip entities.
func eachEntity(w *vast.World, lo int, words []uint64, skip int, f func(vast.Entity) (more bool)) {
	for i, mask := range words {
		if n := bits.OnesCount64(mask); skip >= n {
			skip -= n
			continue
		}
		for ; mask != 0; mask &= mask - 1 {
			if skip > 0 {
				skip--
				continue
			}
			if e, ok := probe.EntityAt(w, lo+64*i+bits.TrailingZeros64(mask)); ok && !f(e) {
				return
			}
		}
	}
}
