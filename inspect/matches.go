package inspect

import (
	"math/bits"
	"slices"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

const (
	maxRanks    = 16              // largest number of queries whose ranks are kept
	maxLists    = 4               // largest number of queries whose matches are kept
	maxSlots    = 1 << 27         // largest number of slots in matches: 16 MiB of bits
	matchesTime = 5 * time.Second // time after which matches are too old
)

// ranks holds the number of matches of a query in each step of slots. The numbers are valid until the
// structure of the world changes. With ranks, a request for a page does not search the earlier pages again.
type ranks struct {
	key     string
	changes uint64 // value of World.Changes for which the numbers are valid
	step    int    // number of slots in a step
	counts  []int  // number of matches in each step
}

func (k *ranks) total() (n int) {
	for _, c := range k.counts {
		n += c
	}
	return n
}

// ranksOf returns valid ranks for a search, or nil. Call ranksOf only in a visit of the world
// (see Inspector.look).
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

// matches holds the slots that a query with comparisons found a short time ago. The inspector keeps matches,
// because comparing all values again for each page would delay the world's ticks. A slot may hold another
// entity than at the time of the search.
type matches struct {
	key   string
	ready chan struct{} // closed when the other fields are set
	err   error
	words []uint64 // one bit for each slot
	total int
	whole bool      // whether words holds all matches
	at    time.Time // time of the search
}

// claim returns the matches of a search. If fill is set, the matches are new, and the caller must fill them.
// Otherwise another request fills or has filled the matches: wait for m.ready.
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

// isOver reports whether matches are too old, or the search for them has failed.
func (m *matches) isOver() bool {
	select {
	case <-m.ready:
		return m.err != nil || time.Since(m.at) > matchesTime
	default:
		return false
	}
}

// from returns the slots of at most limit matches. It leaves out the first skip matches.
func (m *matches) from(skip, limit int) (slots []int) {
	for i, mask := range m.words {
		if n := bits.OnesCount64(mask); skip >= n {
			skip -= n
			continue
		}
		for ; mask != 0; mask &= mask - 1 {
			if len(slots) == limit {
				return slots
			}
			if skip > 0 {
				skip--
				continue
			}
			slots = append(slots, 64*i+bits.TrailingZeros64(mask))
		}
	}
	return slots
}

// eachEntity calls f for each entity whose bit is set, until f returns false. Bit i stands for slot lo + i.
// eachEntity leaves out the first skip set bits.
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
