package inspect

import (
	"math/bits"
	"slices"
	"time"

	"github.com/vastgo/vast"
)

const (
	maxRanks    = 16      // queries whose ranks are kept
	maxLists    = 4       // queries whose matches are kept
	maxMatches  = 1 << 20 // of one query
	matchesTime = 5 * time.Second
)

// ranks say how many entities a query finds in each stepSlots slots, for as long as the structure of the world is the same: so
// that a page of a list is found without counting what comes before it.
type ranks struct {
	key     string
	changes uint64
	counts  []int
}

// total returns how many entities the query finds.
func (k *ranks) total() (n int) {
	for _, c := range k.counts {
		n += c
	}
	return n
}

// ranksOf returns what is known of a search that looks at the world.
func (q *searches) ranksOf(s *search) *ranks {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.ranks, func(k *ranks) bool { return k.key == s.key() })
	if i < 0 || q.ranks[i].changes != s.in.world.Changes() || s.in.world.Slots() > stepSlots*len(q.ranks[i].counts) {
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

// key tells searches apart that find different entities.
func (s *search) key() string { return s.plan.Text() + s.found.Key() }

// matches are the entities that a query with comparisons found some time ago: to compare all values anew for each page of a
// list would cost the world more than it gains the reader.
type matches struct {
	key      string
	ready    chan struct{} // closed when the rest is there
	err      error
	entities chunks[vast.Entity] // the first maxMatches
	total    int
	whole    bool // nothing was left out
	at       time.Time
}

// chunks is a list that grows without being copied, which would take too long for a look.
type chunks[T any] struct {
	full [][]T // each of chunkLen
	last []T
}

const chunkLen = 8 << 10

func (c *chunks[T]) append(v T) {
	if len(c.last) == chunkLen {
		c.full, c.last = append(c.full, c.last), nil
	}
	if c.last == nil {
		c.last = make([]T, 0, chunkLen)
	}
	c.last = append(c.last, v)
}

func (c *chunks[T]) len() int { return len(c.full)*chunkLen + len(c.last) }

// slice returns a copy of the elements from lo to below hi, or to the end.
func (c *chunks[T]) slice(lo, hi int) (list []T) {
	for i := lo; i < min(hi, c.len()); i++ {
		if i/chunkLen < len(c.full) {
			list = append(list, c.full[i/chunkLen][i%chunkLen])
		} else {
			list = append(list, c.last[i%chunkLen])
		}
	}
	return list
}

// claim returns the matches of a search that are not too old, be it that another request is still looking for them, or new
// ones that the caller is to fill.
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

// isOver reports whether matches are too old, or were not found.
func (m *matches) isOver() bool {
	select {
	case <-m.ready:
		return m.err != nil || time.Since(m.at) > matchesTime
	default:
		return false
	}
}

// eachEntity calls f for the entities whose bits are set for the slots from lo on, except the first so many, until it returns
// false.
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
			if e, ok := w.At(lo + 64*i + bits.TrailingZeros64(mask)); ok && !f(e) {
				return
			}
		}
	}
}
